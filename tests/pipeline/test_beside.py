"""Two pieces of work at a time: in their order, and none after one that failed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from amqpspec.reports.pipeline import beside
from amqpspec.reports.pipeline.beside import AT_ONCE, side_by_side
from tests.waiting import PATIENCE_S

GUARD_S = PATIENCE_S


def test_two_are_at_work_together_and_come_in_their_order() -> None:
    together = threading.Barrier(AT_ONCE, timeout=GUARD_S)

    def work(number: int) -> int:
        together.wait()
        return -number

    assert list(side_by_side(work, range(6))) == [0, -1, -2, -3, -4, -5]


def test_what_has_not_begun_never_does_where_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    cancelled = threading.Event()

    class Pool(ThreadPoolExecutor):
        def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
            super().shutdown(wait=False, cancel_futures=cancel_futures)
            cancelled.set()
            super().shutdown(wait=wait)

    def work(number: int) -> int:
        begun.append(number)
        if number == 0:
            raise ValueError(f"piece {number}")
        assert cancelled.wait(GUARD_S)
        return number

    monkeypatch.setattr(beside, "ThreadPoolExecutor", Pool)
    with pytest.raises(ValueError, match="piece 0"):
        next(side_by_side(work, range(100)))
    assert len(begun) <= 1 + AT_ONCE
