"""Two pieces of Spark's work at a time: while one is planned, which takes one processor, another one runs.

Knows: threads. Must not know: what the work is. Tasks share the session's processors and memory however many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

AT_ONCE = 2

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
    """What becomes of each, in their order; where one fails, those that have not begun never do."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        waiting = [pool.submit(work, item) for item in items]
        try:
            for each in waiting:
                yield each.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
