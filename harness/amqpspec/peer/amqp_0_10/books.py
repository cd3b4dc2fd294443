"""The state of one session: ids in both directions, and which commands each side has completed.

Knows: serial numbers, sets of them. Must not know: octets, sockets, the effects of commands.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.wire.amqp_0_10.serial import Ranges, SerialSet, add, latest


@dataclass(slots=True, eq=False)
class Session:
    """One end of a session.

    A session is ``lasting`` if a timeout above zero was requested: its state outlives its channel. ``next_id`` is the
    id of the next sent command, ``next_in`` that of the next received one; None until a command-point sets it. ``done``
    are sent commands that the target reported as completed. ``received`` are received commands, ``finished`` those
    that were completed here, and ``known`` those whose completion the target knows.
    """

    name: bytes
    channel: int
    attached: bool = True
    lasting: bool = False
    next_id: int | None = None
    next_in: int | None = None
    done: SerialSet = field(default_factory=SerialSet)
    received: SerialSet = field(default_factory=SerialSet)
    finished: SerialSet = field(default_factory=SerialSet)
    known: SerialSet = field(default_factory=SerialSet)

    @property
    def reported(self) -> Ranges:
        """The ids for completed: all finished commands, except those that the target knows to be completed."""
        return (self.finished - self.known).ranges

    def number(self) -> int | None:
        """The id of the next sent command; counts it."""
        number = self.next_id
        if number is not None:
            self.next_id = add(number, 1)
        return number

    def arrived(self) -> int | None:
        """The id of the next received command; counts it."""
        number = self.next_in
        if number is not None:
            self.next_in = add(number, 1)
            self.received = latest(self.received, ((number, number),))
        return number
