"""Runs two pieces of Spark work at a time: planning uses one processor, so another piece can run meanwhile.

Knows: threads. Must not know: what the work is.

The tasks share the session's processors and memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 2

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """The results in order; if one piece fails, those that have not begun are not started."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            for each in waiting:
                yield each.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
