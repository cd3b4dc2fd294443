"""Mutants: how code can be wrong, that a change takes effect, and that a run notices it or not."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from amqpspec.record.rows import BlockedBy, CaseRow, Outcome
from amqpspec.reference.amqp_1_0 import dispositions
from amqpspec.reference.methods.classes import queue
from amqpspec.reference.model import routing
from amqpspec.run.case import load_suite
from amqpspec.run.exits import Exit
from amqpspec.run.mutants.operators import changes
from amqpspec.run.mutants.places import mutants_of
from amqpspec.run.mutants.surgery import can_be_put_in
from amqpspec.run.mutants.survey import EQUIVALENTS, Survey, equivalents
from amqpspec.run.mutants.trial import Fate, Trial, exit_code_of
from amqpspec.spec.dialects import dialect_ids
from tests.waiting import PATIENCE_S

WIRE = "amqp-wire-9-1"
CASES = ("channels.support", "content.bodies", "amq_wlp_frame_02")


def wrong(source: str) -> list[str]:
    """Every way in which one statement could be wrong, as source."""
    tree = ast.parse(source)
    return [ast.unparse(node) for part in ast.walk(tree) for _, node in changes(part)]


@pytest.mark.parametrize(
    "source, expected",
    [
        ("a < b", ["a <= b", "a >= b"]),
        ("a and b", ["a or b", "b", "a"]),
        ("a == b", ["a != b", "__mutant_folded__(a) == __mutant_folded__(b)"]),
        ("not a", ["a"]),
        ("x = a + 1", ["a - 1", "a", "2", "0"]),
        ("return_(b'AMQP')", ["pass", "b''"]),
        ("log('a sentence of prose')", ["pass"]),
        ("self.x = y", ["pass"]),
        ("x = y", []),
        ("swap(a, b)", ["pass", "swap(b, a)"]),
        ("x = wire.plus(a, b)", []),
        ("kept.append(x)", ["pass", "if not kept:\n    kept.append(x)"]),
        ("[x for x in y if x.z]", ["[x for x in y]"]),
        ("for x in y:\n    pass", ["for x in __mutant_first__(y):\n    pass"]),
    ],
)
def test_one_statement_can_be_wrong_in_these_ways(source: str, expected: list[str]) -> None:
    assert wrong(source) == expected


def test_ids_are_unique_and_say_where() -> None:
    found = mutants_of(routing)
    assert len(found) > 20
    assert len({mutant.id for mutant in found}) == len(found)
    assert all(mutant.id.startswith("reference/model/routing:") for mutant in found)
    assert {mutant.file for mutant in found} == {"amqpspec/reference/model/routing.py"}


def test_what_asks_for_a_named_fault_is_left_alone() -> None:
    assert "if channel.faulty(" in Path(str(queue.__file__)).read_text(encoding="utf-8")
    found = mutants_of(queue)
    assert [mutant for mutant in found if mutant.what.startswith("if ")]
    assert not [mutant for mutant in found if mutant.what.startswith("if ") and "faulty(" in mutant.what]


def test_a_variable_that_holds_whether_a_fault_is_on_is_left_alone() -> None:
    assert "    again = session.faulty(" in Path(str(dispositions.__file__)).read_text(encoding="utf-8")
    assert not [mutant for mutant in mutants_of(dispositions) if "again" in mutant.what]


def test_every_mutant_of_a_module_compiles_and_most_can_be_put_in() -> None:
    found = mutants_of(routing)
    assert sum(map(can_be_put_in, found)) > 0.9 * len(found)


# In a separate process: what is split off has to have no threads, and pytest's process may have some.
TRIALS = f"""
from amqpspec.run.mutants.reach import lines_by_case
from amqpspec.run.mutants.survey import _near, _sample, _trials

reach = {{"{WIRE}": lines_by_case("{WIRE}", 2, {CASES})}}
assert set(reach["{WIRE}"]) == set({CASES}) and all(reach["{WIRE}"].values())
samples = [[m.id for m in _sample(reach, 4, seed, "methods.wire")] for seed in (1, 1, 2)]
assert samples[0] == samples[1] != samples[2]
every = _sample(reach, 10_000, 1, "classes.connection")
assert all(_near(mutant, reach)["{WIRE}"] for mutant in every)
removed = next(m for m in every if m.what.startswith("without: connection.send"))
of_names = _sample(reach, 10_000, 1, "model.vhost")
stored = next(m for m in of_names if m.what == "name in self.queues → name not in self.queues")
for mutant in (removed, stored):
    (trial,) = _trials([mutant], reach, 1)
    print(trial.fate, trial.dialect, trial.case, trial.verdict, sep=",")
"""


def test_a_trial_tells_a_broken_broker_from_a_whole_one() -> None:
    command = [sys.executable, "-c", TRIALS]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    judged, stillborn = done.stdout.splitlines()
    fate, dialect, case, verdict = judged.split(",")
    assert (fate, dialect) == ("killed", WIRE)
    assert case in load_suite(WIRE) and verdict in ("fail", "blocked")
    fate, dialect, _, verdict = stillborn.split(",")
    assert (fate, dialect, verdict) == ("killed", WIRE, "does not start")


def test_a_survey_adds_up() -> None:
    one, two, three, four = mutants_of(routing)[:4]
    trials = [
        Trial(one, Fate.KILLED),
        Trial(two, Fate.SURVIVED),
        Trial(three, Fate.EQUIVALENT),
        Trial(four, Fate.NONSTRICT),
    ]
    found = Survey((WIRE,), trials, {two.id: ["a/row"]})
    assert found.share == 0.5
    document = found.to_json()
    counts = {key: document[key] for key in ("mutants", *map(str, Fate))}
    assert counts == {
        "mutants": 4, "killed": 1, "nonstrict": 1, "survived": 1, "equivalent": 1, "timed_out": 0,
    }  # fmt: skip
    assert document["survivors"] == [
        {"id": two.id, "file": two.file, "line": two.line, "what": two.what, "requirements": ["a/row"]}
    ]


def test_equivalent_mutants_have_a_reason() -> None:
    assert EQUIVALENTS.exists()
    assert all(len(reason.split()) > 3 for reason in equivalents().values())
    dialects = {id.partition(" ")[0] for id in equivalents() if " " in id}
    assert dialects <= set(dialect_ids())


def test_a_module_that_does_not_exist_is_one_line() -> None:
    command = [
        sys.executable,
        "-m",
        "amqpspec",
        "selftest",
        "--mutants",
        "1",
        "--dialect",
        WIRE,
        "--module",
        "nowhere",
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "--module" in done.stderr and "nowhere" in done.stderr


@pytest.mark.parametrize(
    "verdict, blocked_by, code",
    [
        (Outcome.PASS, None, Exit.CONFORMING),
        (Outcome.NONSTRICT, None, Exit.CONFORMING),
        (Outcome.NOT_APPLICABLE, BlockedBy.PROFILE, Exit.CONFORMING),
        (Outcome.BLOCKED, BlockedBy.HOOK, Exit.CONFORMING),
        (Outcome.BLOCKED, BlockedBy.PREREQUISITE, Exit.DEVIATIONS),
        (Outcome.FAIL, None, Exit.DEVIATIONS),
        (Outcome.INCONCLUSIVE, BlockedBy.BUDGET, Exit.DEVIATIONS),
        (Outcome.ERROR, None, Exit.HARNESS),
    ],
)
def test_a_mutant_is_noticed_by_the_exit_code(
    verdict: Outcome, blocked_by: BlockedBy | None, code: Exit
) -> None:
    row = CaseRow(
        "a.case", WIRE, "suite", "title", ("a/row",), "MUST", verdict, "e", "o", blocked_by=blocked_by
    )
    assert exit_code_of(row) is code
