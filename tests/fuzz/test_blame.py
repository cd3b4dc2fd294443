"""Drawn defects: what is drawn is hit by few and is the same each time; what counts as right; one blame for real."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.blame import CONFORMANCE, Blamed, BlameResult, Draw, blame_many, draw
from amqpspec.fuzz.states.model import Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.fuzz.triage.triage import Blame, Status

DIALECTS = fuzzed_dialects()


def drawn(dialect: str = "amqp-0-9-1", kind: str = "crash", seed: int = 1) -> Draw:
    return draw(dialect, kind, Random(seed))


def blamed(status: Status = Status.STABLE, *, right: bool = True, one: Draw | None = None) -> Blamed:
    one = one or drawn()
    item = next((i for i in one.items if one.is_right(i) is right), None)
    return Blamed(one, Blame(status, Suspicion(one.oracle, "x", "x"), item), 1, 1.0)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("seed", range(5))
def test_a_drawn_spot_is_hit_by_few_inputs_and_by_no_way(dialect: str, seed: int) -> None:
    one = drawn(dialect, "throw", seed)
    assert 1 <= sum(map(one.is_right, one.items)) == one.hits <= 4
    assert one.defect is not None
    for state in states(dialect).values():
        for step in state.steps:
            assert not one.defect.is_in(octets_of_step(dialect, step, Values()))


def test_the_same_seed_draws_the_same() -> None:
    assert drawn(seed=3) == drawn(seed=3)
    assert drawn(seed=3).words != drawn(seed=4).words


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_fault_of_the_reference_broker_is_right_for_inputs_of_its_row(dialect: str) -> None:
    one = drawn(dialect, CONFORMANCE)
    assert one.oracle is Oracle.CONFORMANCE
    row = one.fault.partition(":")[2]
    assert {item.expectation.requirement for item in one.items if one.is_right(item)} == {row}


def test_what_counts() -> None:
    right, wrong = blamed(), blamed(right=False)
    assert right.is_right and not wrong.is_right
    assert BlameResult([right] * 99 + [wrong]).holds
    assert not BlameResult([right] * 98 + [wrong] * 2).holds and not BlameResult().holds
    said = BlameResult([right, wrong]).to_json()
    assert (said["blames"], said["right"], said["share"]) == (2, 1, 0.5)
    assert BlameResult([right, wrong]).table[1].endswith("1 of 2")


def test_what_a_campaign_would_not_report_is_no_blame() -> None:
    late = drawn(kind="late")
    assert not blamed(Status.LOST, one=late).is_finding and blamed(one=late).is_finding
    assert blamed(Status.LOST).is_finding


@pytest.mark.parametrize("kind", ["throw", CONFORMANCE])
def test_the_right_input_is_blamed(kind: str, tmp_path: Path) -> None:
    result = blame_many(tmp_path, 1, dialects=("amqp-1-0",), kinds=(kind,))
    assert result.holds and len(result.blamed) == 1, [b.line for b in result.blamed]
