"""Serial numbers and sets of them, against sets of numbers that are counted out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.wire.amqp_0_10.serial import (
    HALF,
    MODULUS,
    SerialSet,
    add,
    disorder,
    distance,
    in_words,
    precedes,
)

LAST = MODULUS - 1


@pytest.mark.parametrize(
    ("number", "by", "total"),
    [(0, 0, 0), (0, 1, 1), (LAST, 1, 0), (LAST, HALF - 1, HALF - 2), (5, HALF - 1, HALF + 4)],
)
def test_adding(number: int, by: int, total: int) -> None:
    assert add(number, by) == total
    assert distance(number, total) == by
    assert precedes(number, total) == (by > 0)
    assert not precedes(total, number)


@pytest.mark.parametrize("by", [-1, HALF])
def test_what_cannot_be_added(by: int) -> None:
    with pytest.raises(ValueError, match="expected 0 to 2147483647"):
        add(0, by)


def test_of_two_that_are_half_the_numbers_apart_neither_comes_first() -> None:
    assert not precedes(0, HALF)
    assert not precedes(HALF, 0)
    assert distance(0, HALF) == distance(HALF, 0) == -HALF


@pytest.mark.parametrize(
    ("ranges", "wrong"),
    [
        ([], None),
        ([(0, 2), (5, 6), (15, 15)], None),
        ([(LAST - 1, 1), (3, 3)], None),
        ([(2, 0)], "2-0 ends before it begins"),
        ([(0, HALF)], f"0-{HALF} ends before it begins"),
        ([(5, 6), (0, 2)], "0-2 behind 5-6"),
        ([(0, 2), (3, 4)], "3-4 behind 0-2"),
        ([(0, 2), (2, 4)], "2-4 behind 0-2"),
        ([(0, 5), (1, 2)], "1-2 behind 0-5"),
        ([(0, 0), (0, 0)], "0-0 behind 0-0"),
    ],
)
def test_order(ranges: list[tuple[int, int]], wrong: str | None) -> None:
    assert disorder(ranges) == wrong


def test_words() -> None:
    assert in_words([(0, 2), (5, 6), (15, 15)]) == "0-2, 5-6, 15"
    assert str(SerialSet.of([(15, 15), (5, 6), (0, 2)])) == "0-2, 5-6, 15"
    assert in_words(()) == ""


def test_ranges_are_never_expanded() -> None:
    whole = SerialSet.of([(LAST, HALF - 3)])
    assert len(whole) == HALF - 1
    left = whole - SerialSet.single(0)
    assert left.ranges == ((LAST, LAST), (1, HALF - 3))
    assert (left | SerialSet.single(0)) == whole


@pytest.mark.parametrize("ranges", [[(0, 0), (HALF, HALF)], [(2, 1)], [(0, HALF - 1), (HALF, HALF)]])
def test_numbers_without_an_order(ranges: list[tuple[int, int]]) -> None:
    with pytest.raises(ValueError, match="expected"):
        SerialSet.of(ranges)


ORIGINS = st.sampled_from([0, 7, LAST - 20, LAST, HALF - 20, HALF])
RANGES = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 8)), max_size=8)


def made(origin: int, ranges: list[tuple[int, int]]) -> tuple[SerialSet, set[int]]:
    """A set, and its numbers counted out as seen from the origin."""
    given_ranges = [((origin + at) % MODULUS, (origin + at + more) % MODULUS) for at, more in ranges]
    return SerialSet.of(given_ranges), {at + n for at, more in ranges for n in range(more + 1)}


@given(ORIGINS, RANGES, RANGES)
def test_sets_like_those_that_are_counted_out(
    origin: int, first: list[tuple[int, int]], second: list[tuple[int, int]]
) -> None:
    (one, ones), (two, twos) = made(origin, first), made(origin, second)
    for found, expected in (
        (one, ones),
        (one | two, ones | twos),
        (one - two, ones - twos),
        (one & two, ones & twos),
    ):
        assert disorder(found.ranges) is None
        assert [distance(origin, number) for number in found] == sorted(expected)
        assert len(found) == len(expected)
        assert all(((origin + number) % MODULUS in found) == (number in expected) for number in range(-2, 62))
