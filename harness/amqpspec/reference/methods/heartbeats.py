"""Heartbeats in both directions, at the interval that was agreed (0-9-1 §4.2.7).

Knows: how often to check and to send. Must not know: clocks, the form of a heartbeat.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.signs import AgreedSigns


class Heartbeats(AgreedSigns):
    """The heartbeats of one connection; none until ``start``."""

    @property
    def agreed(self) -> bool:
        """Whether the peers agreed on heartbeats."""
        return self._interval_s > 0

    def start(self, interval_s: int) -> None:
        """Start sending and watching; an interval of zero disables both."""
        self._interval_s = interval_s
        if interval_s:
            self.begin()

    def check_silence(self, unheard_s: float, unsaid_s: float) -> None:
        """Send after half an interval without output; after two intervals without input the peer counts as lost."""
        if unsaid_s >= self._interval_s / 2 and not self.faulty("heartbeats-not-sent"):
            self._connection.sign_of_life()
        intervals = 1 if self.faulty("dead-after-one-interval") else 2
        if unheard_s > intervals * self._interval_s and not self.faulty("dead-client-kept"):
            self._connection.close_silent_peer()


FAULTS = fault_table("""
dead-after-one-interval: one silent interval ends the connection [wire/heartbeat/missed]
heartbeats-not-sent: heartbeats were agreed on and are not sent
    [wire/heartbeat/interval connection/tune/heartbeat connection/tune-ok/heartbeat]
dead-client-kept: the connection of a silent client is not closed [wire/heartbeat/missed]
""")
