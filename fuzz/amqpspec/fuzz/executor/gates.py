"""States into which no input came of late: for a while, none is begun, so that others need not wait for it.

Knows: names of states, the clock. Must not know: connections, inputs.

A target that is busy may lose a few connections of one state; then a single input tries the state again soon, and less
and less often as long as none comes into it. All others follow once one does.
"""

from __future__ import annotations

import time
from collections import Counter
from math import inf

MANY_LOST = 8
_FIRST_S, _LONGEST_S = 1.0, 60.0


class Gates:
    """Which states are closed, and until when."""

    def __init__(self) -> None:
        self._lost: Counter[str] = Counter()
        self._until_s: dict[str, float] = {}
        self._next_s: dict[str, float] = {}

    def retry(self) -> None:
        """Let an input try each closed state at once."""
        self._until_s.clear()

    def doubts(self, state: str) -> bool:
        """Whether a state was closed, and no input has come into it since."""
        return state in self._next_s

    def admits(self, state: str) -> bool:
        """Whether an input may enter a state now; into one that was closed, only this one until its result is known."""
        if self.is_shut(state):
            return False
        if self.doubts(state):
            self._until_s[state] = inf
        return True

    def is_shut(self, state: str) -> bool:
        """Whether no input may enter a state now."""
        return self._until_s.get(state, 0.0) > time.monotonic()

    def reached(self, state: str) -> None:
        """An input reached a state."""
        self._lost[state] = 0
        self._next_s.pop(state, None)
        self._until_s.pop(state, None)

    def lost(self, state: str) -> bool:
        """Note that an input did not reach a state; returns whether too many in a row did not."""
        self._lost[state] += 1
        return self._lost[state] >= MANY_LOST

    def shut(self, state: str) -> None:
        """Close a state, for twice as long as last time if no input has reached it since."""
        for_s, until_s = self._next_s.get(state, _FIRST_S), self._until_s.get(state, 0.0)
        if until_s == inf or not self.is_shut(state):
            self._until_s[state] = time.monotonic() + for_s
            self._next_s[state] = min(_LONGEST_S, 2 * for_s)
