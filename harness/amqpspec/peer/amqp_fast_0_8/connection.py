"""One connection of AMQP/Fast, below the vocabulary of cases: commands sent and received, automatic answers.

Knows: what was sent and what arrived on it. Must not know: sockets, verdicts, which case is running.

If it is ``polite`` (the default), it answers a CLOSE of the target with CLOSE on the same level, once.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from amqpspec.peer.amqp_fast_0_8.arrivals import CLOSES, CommandArrived
from amqpspec.peer.amqp_fast_0_8.listening import Listener
from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival
from amqpspec.peer.line import Line
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandDialect
from amqpspec.wire.amqp_fast_0_8.frames import command_frame, encode_frame

_SUCCESS = 200
_USUAL = {"channel_id": 1, "handle_id": 1, "reply_code": _SUCCESS}
_FIELDS = {command.name: {field.key for field in command.fields} for command in DIALECT.commands}
_BESIDE = frozenset({"fragment", "extra", "code", "size", "end", "escaped"})
Place = tuple[str, int]
"""A CLOSE and its id; 0 for the connection."""


def place_of(name: str, fields: Any) -> Place:
    """The id that a CLOSE closes."""
    tier = name.partition(".")[0]
    return name, int(fields.get(f"{tier}_id", 0))


class Connection(Line):
    """Commands to and from the target."""

    dialect: CommandDialect

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        self.listener = self.make_listener()
        super().__init__(context, DIALECT, self.listener, lines)
        self.closed_by: CommandArrived | None = None
        self.closing: set[Place] = set()
        self.client_name = context.name("client")
        self._tags = count(0x0101)

    def make_listener(self) -> Listener:
        """Makes arrivals from the target's octets."""
        return Listener()

    def is_over(self) -> bool:
        """Whether the target has ended the connection, or announced its end."""
        return self.ended is not None or self.closed_by is not None

    # --- sending

    def octets(self, command: str, **fields: Any) -> bytes:
        """A command as octets: see ``command_frame``; channel 1, handle 1 and code 200 by default."""
        known = _FIELDS[command]
        usual = {key: value for key, value in _USUAL.items() if key in known}
        return command_frame(command, **{**usual, **fields})

    def send(self, command: str, **fields: Any) -> None:
        """Send a command without waiting."""
        if command in CLOSES:
            self.closing.add(place_of(command, {**_USUAL, **fields}))
        self.send_octets(self.octets(command, **fields))

    def send_frame(self, code: int, fields: bytes = b"", **lies: Any) -> None:
        """Send a frame with any code and octets: see ``encode_frame``."""
        self.send_octets(encode_frame(code, fields, **lies))

    def fresh_tag(self) -> int:
        """A confirm-tag that this connection has not used; both its octets differ from zero, and from each other."""
        tag = next(self._tags)
        while not tag & 0xFF or tag >> 8 == tag & 0xFF:
            tag = next(self._tags)
        return tag

    # --- receiving

    def noted(self, arrival: Arrival) -> Arrival:
        """Record closes; if polite, answer those of the target, and PINGs that request it."""
        if isinstance(arrival, CommandArrived) and arrival.name in CLOSES:
            place = place_of(arrival.name, arrival.frame.args)
            if arrival.name == "connection.close":
                self.closed_by = arrival
            if place in self.closing:
                self.closing.discard(place)
            elif self.polite:
                self._answer(arrival)
        elif self.polite and _asks(arrival):
            self.send_octets(self.octets("connection.ping", respond=False))
        return arrival

    def _answer(self, close: CommandArrived) -> None:
        own = {key: value for key, value in close.frame.args.items() if key.endswith("_id")}
        self.send_octets(self.octets(close.name, **own, reply_code=_SUCCESS))

    def closes(self, arrival: Arrival) -> bool:
        """Whether it is the target's CONNECTION CLOSE."""
        return isinstance(arrival, CommandArrived) and arrival.name == "connection.close"


def _asks(arrival: Arrival) -> bool:
    """Whether it is a PING that requests an answer."""
    return (
        isinstance(arrival, CommandArrived) and arrival.name == "connection.ping" and bool(arrival["respond"])
    )
