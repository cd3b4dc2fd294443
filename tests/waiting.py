"""To wait for what no event announces, and not forever.

Knows: a bound. Must not know: what is waited for.
"""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 300.0
_STEP_S = 0.005


def until(holds: Callable[[], object], what: str, patience_s: float = PATIENCE_S) -> None:
    """Return as soon as something holds; an AssertionError says what did not."""
    end_s = time.monotonic() + patience_s
    while not holds():
        assert time.monotonic() < end_s, f"expected within {patience_s} s: {what}"
        time.sleep(_STEP_S)
