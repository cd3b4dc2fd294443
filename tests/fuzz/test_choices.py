"""Choices: the same key decides the same, far ahead at no cost; records replay and shrink."""

from __future__ import annotations

from hashlib import blake2b

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.fuzz.trees.choices import ChoiceKey, Choices, shrunk

KEY = ChoiceKey("0123abcd", "random", "a/b", 7, 10**9)


def decisions(choices: Choices) -> list[object]:
    return [
        choices.below(10),
        choices.pick("abc"),
        choices.octets(100),
        choices.weighted([0, 3, 1]),
        choices.below(1),
    ]


def test_the_same_key_decides_the_same_on_every_machine() -> None:
    assert decisions(Choices(KEY)) == decisions(Choices(KEY))
    assert Choices(KEY).octets(8).hex() == "03dbdec2c3dc4de4"
    key = blake2b(b"0123abcd\x00random\x00a/b\x007\x001000000000", digest_size=32).digest()
    block = blake2b(bytes(8), key=key, digest_size=64).digest()
    assert block[9:17].hex() == "03dbdec2c3dc4de4"


def test_each_part_of_a_key_matters() -> None:
    others = [KEY._replace(grammar="0123abce"), KEY._replace(family="C01"), KEY._replace(path="a/c")]
    others += [KEY._replace(seed=8), KEY._replace(counter=10**9 + 1)]
    drawn = {Choices(key).octets(16) for key in (KEY, *others)}
    assert len(drawn) == 6


def test_a_record_replays() -> None:
    first = Choices(KEY)
    decided = decisions(first)
    again = Choices(replay=first.recorded)
    assert decisions(again) == decided and again.recorded == first.recorded


def test_a_record_that_ends_goes_on_with_zeros_and_one_too_large_is_cut() -> None:
    choices = Choices(replay=[99])
    assert (choices.below(5), choices.below(5), choices.pick("xyz")) == (4, 0, "x")


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.integers(0, 2**64))
def test_numbers_stay_below_their_limit(limits: list[int], counter: int) -> None:
    choices = Choices(KEY._replace(counter=counter))
    assert all(0 <= choices.below(limit) < limit for limit in limits)


def test_a_weight_of_zero_is_never_drawn() -> None:
    drawn = {Choices(KEY._replace(counter=n)).weighted([0, 1, 0, 2]) for n in range(200)}
    assert drawn == {1, 3}


def test_shrinking_keeps_what_was_found_and_leaves_nothing_that_could_go() -> None:
    def keeps(record: tuple[int, ...]) -> bool:
        return sum(number >= 10 for number in record) >= 2

    assert shrunk([3, 500, 7, 0, 12, 99, 1], keeps) == (10, 10)


def test_a_key_or_a_record_is_needed_and_limits_are_checked() -> None:
    with pytest.raises(TypeError):
        Choices()
    with pytest.raises(TypeError):
        Choices(KEY, replay=[])
    with pytest.raises(ValueError, match="expected 1 or more, actual 0"):
        Choices(KEY).below(0)
