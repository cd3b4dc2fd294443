"""Signs of life in both directions, each at the pace that its receiver announced.

Knows: when octets last went out and frames last came in. Must not know: what they were.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.connection import Connection

OWN_IDLE_MS = 2000
LEAST_MS = 10
_THRESHOLD = 2
"""What is announced is half of what is meant."""
_LOOKS_PER_PACE = 4
_IMPATIENT_S = 0.4


class Idle:
    """The idle timeouts of one connection; silent until ``start``."""

    def __init__(self, connection: Connection) -> None:
        self._connection, self.faulty = connection, connection.faulty
        self._pace_s = 0.0
        self._heard_s = self._said_s = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def start(self, partner_ms: int) -> None:
        """Begin to watch, and to send where the partner asked for it."""
        own_ms = 2 * _THRESHOLD * OWN_IDLE_MS
        pace_ms = own_ms if self.faulty("own-idle-timeout-kept-for-both") else partner_ms
        self._pace_s = 0.0 if self.faulty("idle-timeout-of-partner-ignored") else pace_ms / 1000 / 2
        if partner_ms == 0 and self.faulty("idle-timeout-zero-taken-literally"):
            self._connection.end()
            return
        self._heard_s = self._said_s = time.monotonic()
        self._again()

    def stop(self) -> None:
        """End both."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def heard(self) -> None:
        """A frame has come."""
        self._heard_s = time.monotonic()

    def said(self) -> None:
        """Octets have gone out."""
        self._said_s = time.monotonic()

    def _again(self) -> None:
        paces = [OWN_IDLE_MS / 1000, *([self._pace_s] if self._pace_s else [])]
        delay_s = max(min(paces) / _LOOKS_PER_PACE, 0.001)
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._look)

    def _look(self) -> None:
        self._again()
        now_s = time.monotonic()
        if self._pace_s and now_s - self._said_s >= self._pace_s * 3 / 4:
            self._connection.sign_of_life()
        if now_s - self._heard_s > _IMPATIENT_S and self.faulty("silent-clients-dropped"):
            self._connection.end()
        times = 1 if self.faulty("idle-threshold-not-doubled") else _THRESHOLD
        if now_s - self._heard_s > times * OWN_IDLE_MS / 1000:
            self._connection.missed()
