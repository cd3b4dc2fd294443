"""Signs of life in both directions, at the interval that was agreed.

Knows: when octets last went out and came in. Must not know: what they were.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amqpspec.reference.methods.link import Link

_LOOKS_PER_INTERVAL = 4


class Heartbeats:
    """The heartbeats of one connection; silent until ``start``."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._interval_s = 0
        self._heard_s = self._said_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def agreed(self) -> bool:
        """Whether the peers agreed on heartbeats."""
        return self._interval_s > 0

    def start(self, interval_s: int) -> None:
        """Begin to send and to watch; an interval of zero does neither."""
        self._interval_s = interval_s
        self._heard_s = self._said_s = time.monotonic()
        if interval_s:
            self._again()

    def stop(self) -> None:
        """End both."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def heard(self) -> None:
        """Octets have come."""
        if self._interval_s:
            self._heard_s = time.monotonic()

    def said(self) -> None:
        """Octets have gone out."""
        if self._interval_s:
            self._said_s = time.monotonic()

    def _again(self) -> None:
        delay_s = self._interval_s / _LOOKS_PER_INTERVAL
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._look)

    def _look(self) -> None:
        self._again()
        now_s = time.monotonic()
        if now_s - self._said_s >= self._interval_s / 2 and not self._link.faulty("heartbeats-not-sent"):
            self._link.heartbeat()
        intervals = 1 if self._link.faulty("dead-after-one-interval") else 2
        if now_s - self._heard_s > intervals * self._interval_s and not self._link.faulty("dead-client-kept"):
            self._link.missed()
