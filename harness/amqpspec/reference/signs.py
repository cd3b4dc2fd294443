"""Signs of life in both directions: when they are due, and when the other side has given too few.

Knows: when octets last came in and went out, how often to look. Must not know: what a sign of life looks like.
"""

from __future__ import annotations

import asyncio
from typing import Protocol


class Watched(Protocol):
    """A connection, as its clock sees it."""

    def faulty(self, name: str, /) -> bool:
        """Whether a fault is on."""

    def sign_of_life(self) -> None:
        """Send one."""

    def close_silent_peer(self) -> None:
        """Nothing has arrived for too long."""

    def end_socket(self) -> None:
        """End the socket."""


def _now_s() -> float:
    """The clock of the loop that the connection is on."""
    return asyncio.get_running_loop().time()


class SignsOfLife:
    """The clock of one connection; it stands still until it is begun, and forever where a protocol has none."""

    def __init__(self) -> None:
        self._received_at_s = self._sent_at_s = self._due_at_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def look_every_s(self) -> float:
        """How long to wait between two looks at the clock."""
        raise NotImplementedError

    def check_silence(self, unheard_s: float, unsaid_s: float) -> None:
        """Act on how long nothing was received, and how long nothing was sent."""
        raise NotImplementedError

    def begin(self) -> None:
        """Let time count from now."""
        self._received_at_s = self._sent_at_s = _now_s()
        self._again()

    def stop(self) -> None:
        """Look no more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def received(self) -> None:
        """A sign of life has arrived."""
        self._received_at_s = _now_s()

    def sent(self) -> None:
        """Octets have gone out."""
        self._sent_at_s = _now_s()

    def _again(self) -> None:
        self._due_at_s = _now_s() + self.look_every_s
        self._timer = asyncio.get_running_loop().call_later(self.look_every_s, self._look)

    def _look(self) -> None:
        now_s = _now_s()
        # While the broker itself was held up, on a busy machine, it has read nothing: that time is no one's silence.
        self._received_at_s = min(now_s, self._received_at_s + now_s - self._due_at_s)
        self._again()
        self.check_silence(now_s - self._received_at_s, now_s - self._sent_at_s)
