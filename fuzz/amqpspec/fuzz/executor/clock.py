"""The clock of conversations, and sleep.

Knows: the monotonic clock. Must not know: what is waited for.
"""

from __future__ import annotations

import time


def now_s() -> float:
    """The monotonic clock."""
    return time.monotonic()


def pause(seconds_s: float) -> None:
    """Sleep."""
    time.sleep(seconds_s)
