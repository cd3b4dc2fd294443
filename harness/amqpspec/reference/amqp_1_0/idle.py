"""Idle timeouts in both directions, each at the pace that its receiver announced (1.0 §2.4.5).

Knows: how often to check and to send. Must not know: clocks, the form of an empty frame.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.signs import SignsOfLife

OWN_IDLE_MS = 2000
LEAST_MS = 10
_THRESHOLD = 2
"""Half of the threshold is announced, so that an empty frame in transit is not too late."""
_LOOKS_PER_PACE = 4
_IMPATIENT_S = 0.4


class Idle(SignsOfLife):
    """The idle timeouts of one connection; none until ``start``."""

    _pace_s = 0.0

    @property
    def look_every_s(self) -> float:
        """Often enough for the faster side."""
        paces = [OWN_IDLE_MS / 1000, *([self._pace_s] if self._pace_s else [])]
        return max(min(paces) / _LOOKS_PER_PACE, 0.001)

    def start(self, partner_ms: int) -> None:
        """Start watching, and sending if the partner requests it."""
        own_ms = 2 * _THRESHOLD * OWN_IDLE_MS
        pace_ms = own_ms if self.faulty("own-idle-timeout-kept-for-both") else partner_ms
        self._pace_s = 0.0 if self.faulty("idle-timeout-of-partner-ignored") else pace_ms / 1000 / 2
        if partner_ms == 0 and self.faulty("idle-timeout-zero-taken-literally"):
            self._connection.end_socket()
            return
        self.begin()

    def check_silence(self, unheard_s: float, unsaid_s: float) -> None:
        """Send before the partner's timeout; close if the partner was silent for the whole threshold."""
        if self._pace_s and unsaid_s >= self._pace_s * 3 / 4:
            self._connection.sign_of_life()
        if unheard_s > _IMPATIENT_S and self.faulty("silent-clients-dropped"):
            self._connection.end_socket()
        times = 1 if self.faulty("idle-threshold-not-doubled") else _THRESHOLD
        if unheard_s > times * OWN_IDLE_MS / 1000:
            self._connection.close_silent_peer()


FAULTS = fault_table("""
idle-threshold-not-doubled: what the broker announces is its whole threshold [connections/idle-timeout/half]
idle-timeout-of-partner-ignored: the broker does not respect the partner's idle timeout
    [performatives/open/idle-time-out/required connections/idle-timeout/independent
    connections/idle-timeout/empty-frame framing/empty-frame connections/empty-frame/channel-zero
    connections/idle-timeout/unsupported]
own-idle-timeout-kept-for-both: the broker uses its own idle timeout for its sending too
    [performatives/open/idle-time-out/required connections/idle-timeout/independent]
idle-timeout-zero-taken-literally: an idle timeout of zero ends the connection at once
    [performatives/open/idle-time-out/zero]
silent-clients-dropped: a silent client is disconnected after half a second [performatives/open/idle-time-out/internal]
""")
