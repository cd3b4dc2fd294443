"""Heartbeats of one connection, at the interval that the client chose.

Knows: how an interval becomes a pace. Must not know: clocks, what a heartbeat looks like.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.signs import AgreedSigns


class Heartbeats(AgreedSigns):
    """Inactive until ``start``; a peer that is silent for more than two intervals counts as lost."""

    _limit_s = 0

    def start(self, interval_s: int) -> None:
        """Start sending and watching; an interval of zero disables both."""
        self._limit_s = interval_s * (1 if self.faulty("dead-after-one-interval-of-silence") else 2)
        self._interval_s = interval_s or (1 if self.faulty("heartbeats-unasked") else 0)
        if self._interval_s:
            self.begin()

    def check_silence(self, unheard_s: float, unsaid_s: float) -> None:
        """Send after half an interval without output; end a connection without input."""
        if unsaid_s >= self._interval_s / 2:
            self._connection.sign_of_life()
        if self._limit_s and unheard_s > self._limit_s:
            self._connection.end_socket()


FAULTS = fault_table("""
heartbeats-unasked: the server sends heartbeats, although tune says that it supports none
    [connection/tune/heartbeat-min]
dead-after-one-interval-of-silence: a client is dropped after one interval of silence
    [connection/heartbeat/missed]
""")
