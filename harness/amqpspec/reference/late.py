"""Spontaneous output of a broker: immediately, or a while after its cause, as with a multi-threaded broker.

Knows: one order for all deferred actions. Must not know: the actions, or any protocol.

A delay is no fault: specifications order the answers to requests, not what a server sends spontaneously.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

_EARLY_S = 0.001
"""How far before its time a loop may call a timer."""
Action = Callable[[], object]
Later = Callable[[Action], None]
"""Carries out actions, immediately or later."""


def at_once(action: Action) -> None:
    """Carries out actions immediately."""
    action()


class Lateness:
    """Carries out actions ``delay_s`` after their cause, in the same order; ``then`` follows each."""

    def __init__(self, delay_s: float, then: Action) -> None:
        self._delay_s, self._then = delay_s, then
        self._waiting: deque[tuple[float, Action]] = deque()

    def __call__(self, action: Action) -> None:
        """Carry out an action, later or immediately."""
        if not self._delay_s:
            action()
            return
        loop = asyncio.get_running_loop()
        due_s = loop.time() + self._delay_s
        self._waiting.append((due_s, action))
        loop.call_at(due_s, self._due)

    def catch_up(self) -> None:
        """Carry out all waiting actions now."""
        while self._waiting:
            self._waiting.popleft()[1]()

    def _due(self) -> None:
        now_s = asyncio.get_running_loop().time() + _EARLY_S
        while self._waiting and self._waiting[0][0] <= now_s:
            self._waiting.popleft()[1]()
        self._then()
