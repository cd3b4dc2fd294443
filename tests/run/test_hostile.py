"""Whatever a target does, every case gets a verdict within its budget, memory stays bounded, the journal is whole."""

from __future__ import annotations

import resource
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.peer.context import Patience
from amqpspec.record.journal import Journal, read_cases
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.case import Case, load_suite
from amqpspec.run.engine import Engine, Settings
from amqpspec.run.execute import World
from amqpspec.run.plan import make_plan
from amqpspec.target.config import target_of_url
from amqpspec.target.live import live
from tests.run.hostile import BEHAVIOURS, Behaviour, cutting, hostile

IMPATIENT = Patience(reply_s=0.15, quiet_s=0.05, ending_s=0.2)


class Trusting(Engine):
    """Never looks whether the target lives, so that every case has to cope with it."""

    def _probe_quietly(self) -> str:
        return ""


def cases() -> list[Case]:
    every = [case for case in load_suite("amqp-0-9-1").values() if not case.restarts]
    return [replace(case, budget_s=5.0) for case in every]


def verdicts(behave: Behaviour, folder: Path, chosen: list[Case]) -> list[CaseRow]:
    with (
        hostile(behave) as port,
        live(target_of_url(f"amqp://127.0.0.1:{port}")) as target,
        Journal(folder) as journal,
    ):
        world = World(target, folder, "hostile", IMPATIENT)
        engine = Trusting(world, journal, Settings(connections=48))
        assert engine.run(make_plan(chosen, target, {}))
    return list(read_cases(folder))


def peak_kib() -> int:
    """Peak memory of this process; macOS counts it in octets."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak // 1024 if sys.platform == "darwin" else peak


@pytest.mark.parametrize("name", sorted(BEHAVIOURS))
def test_every_case_gets_a_verdict(name: str, tmp_path: Path) -> None:
    chosen = cases()[:: 30 if name == "endless" else 1]
    before_kib = peak_kib()
    rows = verdicts(BEHAVIOURS[name], tmp_path, chosen)
    grown_kib = peak_kib() - before_kib
    assert sorted(row.id for row in rows) == sorted(case.id for case in chosen)
    assert not [row for row in rows if row.verdict is Outcome.ERROR]
    assert grown_kib < 600 * 1024


@pytest.mark.parametrize("after_octets", [1, 7, 8, 300, 520, 540, 560, 600, 640])
def test_a_target_that_closes_at_any_point(after_octets: int, tmp_path: Path) -> None:
    chosen = cases()[::12]
    with ReferenceBroker("amqp-0-9-1") as broker:
        rows = verdicts(cutting(broker.port, after_octets), tmp_path, chosen)
    assert sorted(row.id for row in rows) == sorted(case.id for case in chosen)
    assert not [row for row in rows if row.verdict is Outcome.ERROR]
