"""What one cause may cost: a few blames, then it is counted when it occurs again."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from amqpspec.fuzz.campaign.limits import BlameLimit
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion


def seen(top: str = "beam: boom", oracle: Oracle = Oracle.LOG) -> Suspicion:
    return Suspicion(oracle, top, top)


def test_a_cause_is_blamed_so_often_and_another_one_still() -> None:
    limit = BlameLimit(blames=2)
    for _ in range(2):
        assert limit.allows(seen())
        limit.spent(seen(), 1.0)
    assert not limit.allows(seen())
    assert limit.allows(seen("beam: bang"))


def test_a_cause_is_blamed_for_so_long() -> None:
    limit = BlameLimit(blame_s=10.0)
    limit.spent(seen(), 11.0)
    assert not limit.allows(seen())


def test_a_complaint_that_is_the_same_for_all_causes_is_always_blamed() -> None:
    limit, other = BlameLimit(blames=1, blame_s=1.0), seen("memory grows", Oracle.MEMORY)
    limit.spent(other, 100.0)
    assert limit.allows(other)


@pytest.mark.parametrize(
    "other",
    [
        seen("the target is gone", Oracle.CRASH), seen("no answer to a sentinel", Oracle.HANG),
        seen("canary connection lost", Oracle.CANARY),
    ],
)  # fmt: skip
def test_what_costs_restarts_and_has_no_name_is_blamed_less_and_less(other: Suspicion) -> None:
    """Not never: the next one may have another cause."""
    limit, blamed = BlameLimit(blames=3), list[int]()
    for number in range(300):
        if limit.allows(other):
            blamed.append(number)
            limit.spent(other, 100.0)
        else:
            limit.again(other, ("C09", "channel"))
        limit = BlameLimit(json.loads(json.dumps(limit.to_json())), blames=3)
    skipped = [after - before - 1 for before, after in pairwise(blamed)]
    assert skipped == [0, 0, 2, 4, 8, 16, 32, 64, 64, 64]
    assert limit.repeats == {f"{other.oracle}: {other.top}": {"C09/channel": 300 - len(blamed)}}
    assert limit.allows(seen("the target is gone; jvm: OutOfMemoryError", Oracle.CRASH))


def test_a_crash_that_the_log_explains_is_a_cause() -> None:
    limit, crash = BlameLimit(blames=1), seen("the target is gone; jvm: OutOfMemoryError", Oracle.CRASH)
    limit.spent(crash, 1.0)
    assert not limit.allows(crash)


def test_what_comes_again_is_told_by_cause_and_place_and_survives_a_resume() -> None:
    limit = BlameLimit(blames=1)
    limit.spent(seen(), 2.5)
    for place in (("C09", "channel"), ("C09", "channel"), ("C02", "ready")):
        limit.again(seen(), place)
    kept = BlameLimit(json.loads(json.dumps(limit.to_json())), blames=1)
    assert kept.repeats == limit.repeats == {"log: beam: boom": {"C09/channel": 2, "C02/ready": 1}}
    assert not kept.allows(seen())


def test_a_line_that_is_explained_is_not_blamed_again_and_other_complaints_are() -> None:
    limit = BlameLimit()
    for oracle in (Oracle.LOG, Oracle.CONFORMANCE):
        limit.settled(seen(oracle=oracle))
    assert not limit.allows(seen()) and limit.allows(seen(oracle=Oracle.CONFORMANCE))
