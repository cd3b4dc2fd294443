"""Heartbeats in both directions: when to send one, and when the other side has been silent for too long.

Knows: the times of the last input and output, how often to check. Must not know: the form of a heartbeat.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

_LOOKS_PER_INTERVAL = 4


class Watched(Protocol):
    """The interface of a connection for its timer."""

    def faulty(self, name: str, /) -> bool:
        """Whether a fault is on."""

    def sign_of_life(self) -> None:
        """Send one."""

    def close_silent_peer(self) -> None:
        """Nothing has arrived for too long."""

    def end_socket(self) -> None:
        """End the socket."""


def _now_s() -> float:
    """The clock of the connection's loop."""
    return asyncio.get_running_loop().time()


class SignsOfLife:
    """The timer of one connection; it is inactive until it is started, and always if the protocol has no heartbeats."""

    def __init__(self, connection: Watched) -> None:
        self._connection, self.faulty = connection, connection.faulty
        self._received_at_s = self._sent_at_s = self._due_at_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def look_every_s(self) -> float:
        """The time between two checks."""
        raise NotImplementedError

    def check_silence(self, unheard_s: float, unsaid_s: float) -> None:
        """Act on the times without input and without output."""
        raise NotImplementedError

    def begin(self) -> None:
        """Start counting now."""
        self._received_at_s = self._sent_at_s = _now_s()
        self._again()

    def stop(self) -> None:
        """Stop checking."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def received(self) -> None:
        """Input has arrived."""
        self._received_at_s = _now_s()

    def sent(self) -> None:
        """Octets were sent."""
        self._sent_at_s = _now_s()

    def _again(self) -> None:
        self._due_at_s = _now_s() + self.look_every_s
        self._timer = asyncio.get_running_loop().call_later(self.look_every_s, self._look)

    def _look(self) -> None:
        now_s = _now_s()
        # While the broker itself was delayed on a busy machine, it has read nothing: that time does not count as
        # silence.
        self._received_at_s = min(now_s, self._received_at_s + now_s - self._due_at_s)
        self._again()
        self.check_silence(now_s - self._received_at_s, now_s - self._sent_at_s)


class AgreedSigns(SignsOfLife):
    """Signs of life at an interval that both sides have agreed on; zero is none."""

    _interval_s: float = 0

    @property
    def look_every_s(self) -> float:
        """Often enough to notice half an interval of silence in time."""
        return self._interval_s / _LOOKS_PER_INTERVAL
