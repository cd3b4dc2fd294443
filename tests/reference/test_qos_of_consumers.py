"""Windows of each consumer: a broker that announces them is judged by them, one that keeps the base by that."""

from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.execute import World, execute
from amqpspec.target.config import Target
from amqpspec.target.live import live
from tests.run.worlds import QUICK

ANNOUNCED = "per-consumer-qos-announced"
OF_CONSUMERS = "prefetch-counted-by-consumer"
CASES = (
    "basic.qos.channel",
    "basic.qos.connection",
    "basic.qos-ok.existing-consumer",
    "basic.qos-ok.replaced",
)


def verdict(folder: Path, case: str, *faults: str) -> tuple[Outcome, str]:
    with live(Target("reference", broker="reference"), faults=faults) as target:
        row = execute(load_suite("amqp-0-9-1")[case], World(target, folder, "t", QUICK))
    return row.verdict, row.observed


@pytest.mark.parametrize("case", CASES)
def test_the_base_is_judged_by_the_base(case: str, tmp_path: Path) -> None:
    assert verdict(tmp_path, case)[0] is Outcome.PASS


def test_windows_of_consumers_are_wrong_where_nobody_announces_them(tmp_path: Path) -> None:
    assert verdict(tmp_path, "basic.qos.channel", OF_CONSUMERS)[0] is Outcome.FAIL


def test_windows_of_consumers_are_right_where_they_are_announced(tmp_path: Path) -> None:
    outcome, observed = verdict(tmp_path, "basic.qos.channel", ANNOUNCED, OF_CONSUMERS)
    assert outcome is Outcome.PASS
    assert observed.endswith("the text of the base is not kept")


def test_a_shared_window_is_wrong_where_others_are_announced(tmp_path: Path) -> None:
    outcome, observed = verdict(tmp_path, "basic.qos.channel", ANNOUNCED)
    assert outcome is Outcome.FAIL
    assert observed.endswith("the text of the base is kept")
