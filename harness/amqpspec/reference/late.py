"""What a broker says on its own time: at once, or a while after its cause, as a broker does that has more threads.

Knows: one order for everything that is put off. Must not know: what is put off, or any protocol.

To be late is no fault: specifications order the answers to what a client asks, not what a server sends by itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

_EARLY_S = 0.001
"""How far before its time a loop may ring."""
Action = Callable[[], object]
Later = Callable[[Action], None]
"""Does something in the broker's own time."""


def at_once(action: Action) -> None:
    """The own time of a prompt broker."""
    action()


class Lateness:
    """The own time of a broker: ``delay_s`` after the cause, in the order of causes; ``then`` follows each."""

    def __init__(self, delay_s: float, then: Action) -> None:
        self._delay_s, self._then = delay_s, then
        self._waiting: deque[tuple[float, Action]] = deque()

    def __call__(self, action: Action) -> None:
        """Do it later; at once if nothing is ever late."""
        if not self._delay_s:
            action()
            return
        loop = asyncio.get_running_loop()
        due_s = loop.time() + self._delay_s
        self._waiting.append((due_s, action))
        loop.call_at(due_s, self._due)

    def catch_up(self) -> None:
        """Do everything that waits now."""
        while self._waiting:
            self._waiting.popleft()[1]()

    def _due(self) -> None:
        now_s = asyncio.get_running_loop().time() + _EARLY_S
        while self._waiting and self._waiting[0][0] <= now_s:
            self._waiting.popleft()[1]()
        self._then()
