"""``fuzz --sequences``: a clean broker violates nothing, seeded faults are found, and a finding can be run again."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.fuzz_sequences import with_programs
from amqpspec.cli.main import cli
from amqpspec.fuzz.driver import fuzz_driver
from amqpspec.fuzz.sequences.campaign import SequenceCampaign, SequenceOrder
from amqpspec.fuzz.sequences.machine import Search, prune, run_program
from amqpspec.fuzz.sequences.part import Begin, sequences_part
from amqpspec.fuzz.sequences.step import Found, Program, Step, Violation, script
from amqpspec.peer.context import BudgetSpent
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.memory import Conditions, MemoryTarget
from amqpspec.spec.dialects import runnable_dialects
from tests.fuzz.kit import target

METHODS, TYPED, ASSEMBLIES, COMMANDS = "amqp-0-9-1", "amqp-1-0", "amqp-0-10", "amqp-fast-0-8"
PROGRAMS, STEPS = 40, 30
ENOUGH, SHORT = 600, 20
"""Programs within which a fault is found, and steps in which it is shown."""
ONE_KIND = "redelivered-forgotten-on-requeue"
"""A fault that is seen at once, and in one way only."""


class InMemory:
    """A world on a broker of its own, which ends with it."""

    def __init__(self, dialect: str, faults: tuple[str, ...]) -> None:
        self._target = MemoryTarget(dialect, Conditions(faults=faults))
        self._world = fuzz_driver(dialect).world(self._target.context(tag="seq"))
        self.options, self.take, self.finish = self._world.options, self._world.take, self._world.finish

    def give_up(self) -> None:
        self._world.give_up()
        self._target.close()


def begin_of(dialect: str, *faults: str) -> Begin:
    """Worlds on brokers in memory."""
    return lambda: InMemory(dialect, faults)


def search_of(dialect: str, *faults: str, shrinks: bool = True) -> Search:
    return Search(begin_of(dialect, *faults), fuzz_driver(dialect).verbs, shrinks=shrinks)


@pytest.mark.parametrize("dialect", with_programs())
@pytest.mark.parametrize("seed", range(4))
def test_a_clean_broker_violates_nothing(dialect: str, seed: int) -> None:
    search = search_of(dialect)
    found = search.run(seed, PROGRAMS, STEPS)
    assert found is None, script(found.program, found.violation)
    assert search.tried >= PROGRAMS and search.steps > PROGRAMS


_NOT_THERE = "wrong message count|not delivered|lost"


@pytest.mark.parametrize(
    ("dialect", "fault", "kind"),
    [
        (METHODS, "confirm-before-enqueue", ""),
        (METHODS, "publish-visible-before-commit", ""),
        (METHODS, "exclusive-queue-outlives-connection", "exclusive queue outlives its connection"),
        (METHODS, "redelivered-forgotten-on-requeue", "redelivered is false"),
        (METHODS, "last-in-first-out", ""),
        (METHODS, "unacked-lost-with-channel", ""),
        (METHODS, "purge-drops-unacked", ""),
        (METHODS, "rollback-commits", ""),
        (TYPED, "link-alive-twice", "stolen link not detached$"),
        (TYPED, "unsettled-lost-with-session", "(lost|not delivered)$"),
        (TYPED, "credit-one-too-many", "delivered without credit$"),
        (TYPED, "credit-ignored", "delivered without credit$"),
        (ASSEMBLIES, "replays-executed", ""),
        (ASSEMBLIES, "rollback-commits", "wrong message count"),
        (ASSEMBLIES, "credit-ignored", "delivered without credit"),
        (ASSEMBLIES, "cancel-forgets-transfers", "wrong message count|lost"),
        (ASSEMBLIES, "state-lost-on-detaching", ""),
        (ASSEMBLIES, "exclusive-queue-outlives-session", "exclusive queue outlives its session"),
        (COMMANDS, "close-settles-deliveries", _NOT_THERE),
        (COMMANDS, "temporary-queues-outlive-the-connection", "temporary queue outlives its connection"),
        (COMMANDS, "queue-serves-every-reader", ""),
        (COMMANDS, "prefetch-one-more", "delivered beyond prefetch"),
        (COMMANDS, "redelivered-not-marked", "redelivered is 0"),
        (COMMANDS, "unget-drops-the-message", _NOT_THERE),
        (COMMANDS, "flow-ignored", "delivered while paused"),
        (COMMANDS, "browsing-consumes", "wrong message count"),
    ],
)
def test_a_seeded_fault_is_found_within_a_few_programs(dialect: str, fault: str, kind: str) -> None:
    found = search_of(dialect, fault, shrinks=False).run(1, ENOUGH, STEPS)
    assert found is not None and re.match(kind, found.violation.kind)
    smallest = prune(begin_of(dialect, fault), found, lambda: False)
    assert len(smallest.program) <= SHORT
    # The smallest program is one that the model allows, and a clean broker takes it.
    assert run_program(begin_of(dialect), smallest.program) is None


def test_a_committed_message_may_reach_a_queue_that_has_taken_the_name() -> None:
    program = (
        Step("connect", (1,)), Step("tx", (1, 1)), Step("declare", (1, 1, "q0", 0)), Step("publish", (1, 1, "q0", 1)),
        Step("delete", (1, 1, "q0")), Step("declare", (1, 1, "q0", 0)), Step("commit-then-reset", (1, 1)),
    )  # fmt: skip
    assert run_program(begin_of(METHODS), program) is None


def test_the_seed_decides_what_is_found_and_hypothesis_shrinks_it() -> None:
    first, second = (search_of(METHODS, ONE_KIND).run(3, ENOUGH, STEPS) for _ in range(2))
    raw = search_of(METHODS, ONE_KIND, shrinks=False).run(3, ENOUGH, STEPS)
    assert first is not None and second is not None and raw is not None
    assert first.program == second.program and len(first.program) < len(raw.program)


def test_a_known_kind_is_counted_and_not_reported() -> None:
    search = search_of(METHODS, ONE_KIND, shrinks=False)
    search.known = {"redelivered is false"}
    assert search.run(1, ENOUGH, STEPS) is None
    assert set(search.again) == search.known


def test_steps_that_the_model_does_not_offer_are_left_out() -> None:
    program = (Step("get", (1, 1, "q0", 0)), Step("connect", (1,)), Step("nonsense"))
    assert run_program(begin_of(METHODS), program) is None


@pytest.mark.parametrize("dialect", runnable_dialects())
def test_a_dialect_without_verbs_has_no_programs(dialect: str) -> None:
    assert (dialect in with_programs()) == bool(fuzz_driver(dialect).verbs)


# --- over sockets


@pytest.fixture
def wrong() -> Iterator[ReferenceBroker]:
    with ReferenceBroker(METHODS, faults=[ONE_KIND]) as broker:
        yield broker


def fuzz(*args: str) -> Result:
    return CliRunner().invoke(cli, ["fuzz", *args])


def test_a_finding_is_a_folder_whose_replay_line_works(wrong: ReferenceBroker, tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = fuzz("--sequences", wrong.url, "--programs", "100", "--out", str(out), "--json", "-d", METHODS)
    assert result.exit_code == 1
    found = next(f for f in json.loads(result.output)["findings"] if f["top"] == "redelivered is false")
    assert found["status"] == "stable"
    (place,) = [p.parent for p in out.glob("findings/*/finding.json") if found["top"] in p.read_text()]
    assert "publish" in (place / "program.txt").read_text() and (place / "transcript.pcapng").exists()
    assert "basic.publish" in (place / "transcript.jsonl").read_text()
    words = shlex.split((place / "REPLAY").read_text())
    again = CliRunner().invoke(cli, words[1:])
    assert again.exit_code == 1 and again.output.startswith("redelivered is false")
    with ReferenceBroker(METHODS) as clean:
        assert fuzz("replay", str(place), clean.url).exit_code == 0
    # What was found is not written over.
    assert fuzz("--sequences", wrong.url, "--out", str(out), "-d", METHODS).exit_code == 2


@pytest.mark.parametrize("dialect", with_programs())
def test_a_clean_broker_over_sockets_has_no_finding(dialect: str, tmp_path: Path) -> None:
    with ReferenceBroker(dialect) as broker:
        asked = ["--sequences", broker.url, "--programs", "20", "--out", str(tmp_path / "out"), "-d", dialect]
        result = fuzz(*asked)
    assert result.exit_code == 0, result.output
    assert "0 findings; all done" in result.output


def test_a_target_that_is_not_there_ends_in_one_line(tmp_path: Path) -> None:
    with ReferenceBroker(METHODS) as broker:
        gone = broker.url
    result = fuzz("--sequences", gone, "--out", str(tmp_path / "out"), "-d", METHODS)
    assert result.exit_code == 3 and result.output.count("\n") == 1


def test_a_dialect_without_programs_is_refused(tmp_path: Path) -> None:
    result = fuzz("--sequences", "reference:amqp-wire-9-1", "--out", str(tmp_path / "out"))
    assert result.exit_code == 2 and "expected a dialect with programs" in result.output


@pytest.mark.parametrize(
    "text", ["{}", '{"dialect": "x", "top": "x", "target": "x", "program": [[{}]]}', "[", "[]"]
)
def test_a_folder_that_is_no_finding_is_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "program.txt").write_text("")
    (tmp_path / "finding.json").write_text(text)
    result = fuzz("replay", str(tmp_path), "reference")
    assert result.exit_code == 2 and result.output.count("\n") == 1


def test_a_script_tells_steps_and_violation() -> None:
    program: Program = (Step("connect", (1,)), Step("publish", (1, 1, "q0", 2)))
    found = Found(program, Violation("lost", "m1 in q0", "an empty queue"))
    assert script(found.program, found.violation).splitlines() == [
        "  1  connect(1)", "  2  publish(1, 1, q0, 2)", "     expected m1 in q0", "     actual   an empty queue",
    ]  # fmt: skip
    assert [Step.from_json(step.to_json()) for step in program] == list(program)


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every program takes too long."""

    def too_long(self: Search, seed: int, programs: int, steps: int) -> None:
        self.tried = 1
        raise BudgetSpent

    monkeypatch.setattr(Search, "run", too_long)


@pytest.mark.usefixtures("cut_off")
def test_a_program_that_takes_too_long_ends_a_round_and_is_counted(tmp_path: Path) -> None:
    with target() as subject:
        done = SequenceCampaign(SequenceOrder(subject, tmp_path, 60.0, programs=3)).run()
    assert done.unjudged == {"program": 3} and done.programs == 3 and not done.findings


@pytest.mark.usefixtures("cut_off")
def test_where_no_program_ran_to_its_end_nothing_passes(tmp_path: Path) -> None:
    with ReferenceBroker(METHODS) as broker:
        result = fuzz(
            "--sequences", broker.url, "-d", METHODS, "--programs", "2", "--out", str(tmp_path / "o")
        )
    assert result.exit_code == 4 and "not judged, cut off: program (2)" in result.output
    assert "no program ran to its end" in result.output


def test_a_load_that_takes_too_long_is_not_counted_as_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(name: str, run: object, pid: object) -> None:
        raise BudgetSpent

    monkeypatch.setattr("amqpspec.fuzz.sequences.stage.repeated", too_long)
    with target(pid=os.getpid) as subject:
        done = SequenceCampaign(SequenceOrder(subject, tmp_path, 60.0, programs=1)).run()
    assert done.loads == 0 and set(done.unjudged) == set(sequences_part("amqp-0-9-1").loads)


def test_a_load_whose_violation_does_not_occur_again_is_no_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []

    def grows_once(name: str, run: object, pid: object) -> None:
        calls.append(name)
        if len(calls) == 1:
            raise Violation(f"{name}: memory grows", "no growth", "growth")

    monkeypatch.setattr("amqpspec.fuzz.sequences.stage.repeated", grows_once)
    with target(pid=os.getpid) as subject:
        done = SequenceCampaign(SequenceOrder(subject, tmp_path, 60.0, programs=1)).run()
    assert not done.findings and done.unconfirmed == {f"{calls[0]}: memory grows": 1}
    assert calls.count(calls[0]) == 3 and not [*tmp_path.glob("findings/*")]
