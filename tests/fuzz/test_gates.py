"""When a state is shut, and when it opens again."""

from __future__ import annotations

import pytest

from amqpspec.fuzz.executor import gates as module
from amqpspec.fuzz.executor.gates import MANY_LOST, Gates


class Clock:
    def __init__(self) -> None:
        self.now_s = 100.0

    def monotonic(self) -> float:
        return self.now_s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def test_a_state_is_shut_for_longer_each_time_until_something_comes_into_it(clock: Clock) -> None:
    gates, waited = Gates(), []
    assert [gates.lost("a") for _ in range(MANY_LOST)] == [False] * (MANY_LOST - 1) + [True]
    for _ in range(8):
        gates.shut("a")
        gates.shut("a")
        begun_s = clock.now_s
        assert gates.is_shut("a") and not gates.is_shut("b")
        while not gates.admits("a"):
            clock.now_s += 1.0
        waited.append(clock.now_s - begun_s)
        assert gates.lost("a"), "the input that tried it did not reach it"
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60]
    gates.reached("a")
    assert not gates.lost("a")
    gates.shut("a")
    clock.now_s += 1.0
    assert not gates.is_shut("a")


def closed() -> Gates:
    """Gates with one closed state."""
    gates = Gates()
    for _ in range(MANY_LOST):
        gates.lost("a")
    gates.shut("a")
    return gates


def test_only_one_input_tries_a_closed_state_and_the_others_follow_it(clock: Clock) -> None:
    gates = closed()
    clock.now_s += 1.0
    assert gates.doubts("a") and not gates.doubts("b")
    assert [gates.admits("a") for _ in range(3)] == [True, False, False]
    clock.now_s += 1e6
    assert not gates.admits("a"), "its result is not known yet"
    gates.reached("a")
    assert not gates.doubts("a") and [gates.admits("a") for _ in range(3)] == [True, True, True]


def test_after_a_pause_one_input_tries_each_closed_state_at_once(clock: Clock) -> None:
    gates = closed()
    gates.retry()
    assert gates.doubts("a") and [gates.admits("a"), gates.admits("a")] == [True, False]
    assert gates.lost("a")
    gates.shut("a")
    clock.now_s += 1.0
    assert not gates.admits("a"), "it is closed for longer than the first time"
