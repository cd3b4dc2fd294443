"""Commands out: numbered, kept while they may have to be sent again, and sent again on another channel.

Knows: ids, command-points, which commands the other side has. Must not know: sockets, what any command does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.serial import SerialSet, add

_STATE = ("session.expected", "session.confirmed", "session.completed")
"""What the other side says of its state before anything is sent again (3.6.2)."""


class Carrier(Protocol):
    """The connection to which a session is attached."""

    @property
    def congested(self) -> bool:
        """Whether nothing new is to be begun."""
        ...

    def send(self, channel: int, name: str, /, **args: Any) -> None:
        """Send a control or a command; ``sync``, ``header`` and ``body`` are not arguments but what they say."""


@dataclass(slots=True, eq=False)
class Outgoing:
    """One session's commands to its client; ``control`` sends controls of that session."""

    faulty: Callable[[str], bool]
    control: Callable[..., None]
    next: int = 0
    pointed_at: int | None = None
    """The id that the other side takes the next command on this channel for; None before command-point."""
    kept: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """Commands that have to be sent again where the channel is lost, by id."""
    awaited: set[str] = field(default_factory=set)
    """What the other side has to say of its state before commands go out again."""

    def send(self, carrier: Carrier | None, channel: int, name: str, keep: bool, args: dict[str, Any]) -> int:
        """One more command; returns its id. It waits where others have to be sent again first."""
        number, self.next = self.next, add(self.next, 1)
        if keep:
            self.kept[number] = name, args
        if carrier is not None and not self.awaited:
            self._write(carrier, channel, number, name, args)
        return number

    def attached(self) -> None:
        """A channel is there: ask what the other side has, where it may lack something."""
        self.pointed_at = None
        self.awaited = set(_STATE) if self.kept and not self.faulty("nothing-sent-again") else set()
        if self.awaited:
            self.control("session.flush", expected=True, confirmed=True, completed=True)

    def has(self, ids: SerialSet) -> None:
        """The other side has these permanently."""
        for number in [number for number in self.kept if number in ids]:
            del self.kept[number]

    def reported(self, name: str, carrier: Carrier | None, channel: int) -> None:
        """The other side has said a part of its state; once it has said all, what it lacks is sent again."""
        if name not in self.awaited:
            return
        self.awaited.discard(name)
        if carrier is not None and not self.awaited:
            for number, (kept, args) in tuple(self.kept.items()):
                self._write(carrier, channel, number, kept, args)

    def _write(self, carrier: Carrier, channel: int, number: int, name: str, args: dict[str, Any]) -> None:
        if self.pointed_at != number and not self.faulty("own-commands-without-a-point"):
            self.control("session.command-point", command_id=number, command_offset=0)
        self.pointed_at = add(number, 1)
        carrier.send(channel, name, **args)


def ids_of(ranges: Iterable[tuple[int, int]] | None) -> SerialSet:
    """The ids of ranges as they came; none if they have no order, which only a fault lets pass."""
    try:
        return SerialSet.of(ranges or ())
    except ValueError:
        return SerialSet()


FAULTS = fault_table("""
own-commands-without-a-point: the broker sends commands without a command-point
    [session/command-point/numbering]
nothing-sent-again: the broker sends none of its commands again on another channel
    [session/request-timeout/preserved]
""")
