"""A target that answers the 9.1 header with the frames of 0-8 is recognised, named, and judged in what it speaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.peer.context import Patience
from amqpspec.record.journal import Journal
from amqpspec.record.rows import Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reports.load import load_run
from amqpspec.run.driver import ProbeFailed
from amqpspec.run.engine import Engine, Settings, meet
from amqpspec.run.execute import World
from amqpspec.target.config import Target
from amqpspec.target.live import live
from amqpspec.target.url import parse_url

DIALECT = "amqp-wire-9-1"
CHOSEN = ("amq_wlp_frame_01", "amq_wlp_content_01", "frame.cycle")


@pytest.mark.parametrize("spoken", [DIALECT, "amqp-0-8"])
def test_what_is_spoken_is_told_by_the_first_frame(spoken: str, tmp_path: Path) -> None:
    with ReferenceBroker(spoken) as broker:
        target = Target("it", DIALECT, parse_url(broker.url))
        with live(target) as running, Journal(tmp_path) as journal:
            world, identity = meet(World(running, tmp_path, "t", Patience()), journal)
    assert world.dialect == spoken
    assert bool(identity.note) == (spoken != DIALECT)
    assert ("cycle-header" in identity.lacks) == (spoken != DIALECT)


def test_a_target_that_is_gone_is_not_recognised(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-8") as broker:
        url = parse_url(broker.url)
    with live(Target("gone", DIALECT, url)) as running, Journal(tmp_path) as journal:
        world = World(running, tmp_path, "t", Patience())
        with pytest.raises(ProbeFailed, match="could not reach the target"):
            Engine(world, journal, Settings()).recognise()


def test_a_run_says_what_the_target_speaks_and_judges_what_does_not_depend_on_it(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-8") as broker:
        command = ["run", broker.url, *CHOSEN, "--dialect", DIALECT, "--out", str(tmp_path / "run")]
        result = CliRunner().invoke(cli, command)
    assert result.exit_code == 0, result.output
    assert "answers protocol header AMQP 1 1 9 1 with frames of amqp-0-8" in result.output
    run = load_run(tmp_path / "run")
    assert "amqp-0-8" in run.meta.note
    verdicts = {case.id: case.verdict for case in run.cases}
    assert verdicts["amq_wlp_frame_01"] is Outcome.PASS and verdicts["amq_wlp_content_01"] is Outcome.PASS
    cycles = [case for case in run.cases if case.id == "frame.cycle"]
    assert cycles and {case.verdict for case in cycles} == {Outcome.NOT_APPLICABLE}


def test_a_refused_header_is_told(tmp_path: Path) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        url = parse_url(broker.url)
        with live(Target("older", DIALECT, url)) as running, Journal(tmp_path) as journal:
            found = Engine(World(running, tmp_path, "t", Patience()), journal, Settings()).recognise()
    assert found.dialect == "amqp-0-8"
    assert found.why == "refuses protocol header AMQP 1 1 9 1 with protocol header AMQP 0 0 9 1"
