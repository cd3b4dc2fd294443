"""The time in which no socket has anything to do, used for other work, a bit at a time.

Knows: selectors, the clock. Must not know: what the work is, the data on sockets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from selectors import BaseSelector, SelectorKey

_BIT_S = 0.005
"""No bit of work begins with less time than this: most take a millisecond."""


class SpareTime:
    """``work`` does a bit of work and returns False if there is none; by default, there is none."""

    def __init__(self) -> None:
        self.work: Callable[[], bool] = lambda: False

    def select(self, selector: BaseSelector, longest_s: float) -> list[tuple[SelectorKey, int]]:
        """Wait for events, at most about this long; a bit of work that has begun is finished first."""
        until_s = time.monotonic() + longest_s
        while not (ready := selector.select(0)) and self._is_used(until_s):
            pass
        return ready or selector.select(max(0.0, until_s - time.monotonic()))

    def sleep(self, seconds_s: float) -> None:
        """Let this much time pass."""
        until_s = time.monotonic() + seconds_s
        while self._is_used(until_s):
            pass
        time.sleep(max(0.0, until_s - time.monotonic()))

    def _is_used(self, until_s: float) -> bool:
        return until_s - time.monotonic() > _BIT_S and self.work()
