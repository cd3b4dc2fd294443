"""The state of one session: ids in both directions, and which commands each side has completed.

Knows: serial numbers, sets of them. Must not know: octets, sockets, what a command does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.wire.amqp_0_10.serial import Ranges, SerialSet, add, latest


@dataclass(slots=True, eq=False)
class Session:
    """One end of a session.

    ``next_id`` is the id of the next command out, ``next_in`` that of the next one in; None until a command-point has
    said it. ``done`` are commands out that the target reported as completed. ``received`` are commands in,
    ``finished`` those of them that were completed here, and ``known`` those that the target knows to be.
    """

    name: bytes
    channel: int
    attached: bool = True
    next_id: int | None = None
    next_in: int | None = None
    done: SerialSet = field(default_factory=SerialSet)
    received: SerialSet = field(default_factory=SerialSet)
    finished: SerialSet = field(default_factory=SerialSet)
    known: SerialSet = field(default_factory=SerialSet)

    @property
    def reported(self) -> Ranges:
        """What completed has to say: all that is finished, except for what is known to be."""
        return (self.finished - self.known).ranges

    def number(self) -> int | None:
        """The id of one more command out."""
        number = self.next_id
        if number is not None:
            self.next_id = add(number, 1)
        return number

    def arrived(self) -> int | None:
        """The id of one more command in."""
        number = self.next_in
        if number is not None:
            self.next_in = add(number, 1)
            self.received = latest(self.received, ((number, number),))
        return number
