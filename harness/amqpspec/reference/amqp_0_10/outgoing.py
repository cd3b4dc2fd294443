"""Outgoing commands: numbers them, keeps them while they may be needed again, and resends them on another channel.

Knows: ids, command-points, which commands the other side has. Must not know: sockets, the effects of commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.serial import SerialSet, add

_STATE = ("session.expected", "session.confirmed", "session.completed")
"""The state that the other side reports before anything is sent again (3.6.2)."""


class Carrier(Protocol):
    """The connection to which a session is attached."""

    @property
    def congested(self) -> bool:
        """Whether nothing new may be started."""
        ...

    def send(self, channel: int, name: str, /, **args: Any) -> None:
        """Send a control or a command; ``sync``, ``header`` and ``body`` are not arguments."""


@dataclass(slots=True, eq=False)
class Outgoing:
    """One session's commands to its client; ``control`` sends controls of that session."""

    faulty: Callable[[str], bool]
    control: Callable[..., None]
    next: int = 0
    pointed_at: int | None = None
    """The id that the other side expects next on this channel; None before command-point."""
    kept: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    """Commands to send again if the channel is lost, by id."""
    awaited: set[str] = field(default_factory=set)
    """The state that the other side has to report before commands are sent again."""

    def send(self, carrier: Carrier | None, channel: int, name: str, keep: bool, args: dict[str, Any]) -> int:
        """Add a command; returns its id. It waits if others have to be sent again first."""
        number, self.next = self.next, add(self.next, 1)
        if keep:
            self.kept[number] = name, args
        if carrier is not None and not self.awaited:
            self._write(carrier, channel, number, name, args)
        return number

    def attached(self) -> None:
        """A channel is available: ask which commands the other side has, if it may lack some."""
        self.pointed_at = None
        self.awaited = set(_STATE) if self.kept and not self.faulty("nothing-sent-again") else set()
        if self.awaited:
            self.control("session.flush", expected=True, confirmed=True, completed=True)

    def has(self, ids: SerialSet) -> None:
        """The other side has completed these; they are never sent again."""
        for number in [number for number in self.kept if number in ids]:
            del self.kept[number]

    def reported(self, name: str, carrier: Carrier | None, channel: int) -> None:
        """The other side has reported a part of its state; after all parts, its missing commands are sent again."""
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
    """The ids of ranges; empty for unordered ranges, which only a fault tolerates."""
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
