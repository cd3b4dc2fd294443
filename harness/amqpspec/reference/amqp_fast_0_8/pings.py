"""The heartbeat of a connection: PINGs at the interval that the client asked for.

Knows: intervals. Must not know: the form of a PING.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.signs import SignsOfLife

_IMPATIENT_S = 0.5


class Pings(SignsOfLife):
    """The clock of one connection; ``interval_s`` is what the client's TUNE asked for, 0 for no heartbeat."""

    interval_s = _sent = 0

    @property
    def look_every_s(self) -> float:
        """The interval; if there is none, a fault may want to look."""
        if not self.interval_s:
            return _IMPATIENT_S
        slow = self.faulty("heartbeats-at-half-speed")
        return self.interval_s * (2.5 if slow else 1.0)

    def start(self) -> None:
        """Begin, if there is a heartbeat to be sent."""
        wanted = self.interval_s and not self.faulty("no-heartbeats")
        if wanted or self.faulty("pings-nobody-asked-for") or self._is_impatient():
            self.begin()

    def check_silence(self, unheard_s: float, unsaid_s: float) -> None:
        """Send a PING."""
        if self._is_impatient() and unheard_s > _IMPATIENT_S:
            self._connection.end_socket()
        elif self.interval_s or self.faulty("pings-nobody-asked-for"):
            self._sent += 1
            if self._sent == 1 or not self.faulty("one-heartbeat-only"):
                self._connection.sign_of_life()

    def _is_impatient(self) -> bool:
        return self.faulty("silent-clients-closed-early")


FAULTS = fault_table("""
heartbeats-at-half-speed: PINGs are sent less often than the client requested
    [connection/ping/interval tuning/heartbeat/continued]
no-heartbeats: no PING is sent, whatever the client requested [tuning/heartbeat/hint]
pings-nobody-asked-for: PINGs are sent to a client that requested none [tuning/heartbeat/client-none]
one-heartbeat-only: after the first PING, no other one is sent [tuning/heartbeat/continued connection/ping/interval]
silent-clients-closed-early: a client that sends nothing for half a second is disconnected
    [heartbeat/until-first-ping tuning/heartbeat/server-none]
""")
