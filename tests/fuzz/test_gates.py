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
        while gates.is_shut("a"):
            clock.now_s += 1.0
        waited.append(clock.now_s - begun_s)
    assert waited == [1, 2, 4, 8, 16, 32, 60, 60]
    gates.reached("a")
    assert not gates.lost("a")
    gates.shut("a")
    clock.now_s += 1.0
    assert not gates.is_shut("a")


def test_all_is_open_once_it_is_forgotten(clock: Clock) -> None:
    gates = Gates()
    for _ in range(MANY_LOST):
        gates.lost("a")
    gates.shut("a")
    gates.forget()
    assert not gates.is_shut("a") and not gates.lost("a")
