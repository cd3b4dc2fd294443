"""The arrivals on a connection of AMQP/Fast, and the refusal in them.

Knows: commands, messages, which CLOSE closes what. Must not know: how they are read or waited for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.events import Arrival, Ended
from amqpspec.spec.commands import Tier
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame

CLOSES: Mapping[str, Scope] = {
    "connection.close": Scope.CONNECTION,
    "channel.close": Scope.CHANNEL,
    "handle.close": Scope.HANDLE,
}
_REPLIES = {f"{tier}.reply" for tier in Tier}
_FAILED = 300
"""Codes below this mean success."""


@dataclass(frozen=True, slots=True)
class CommandArrived(Arrival):
    """One command, with the fragment after it."""

    frame: CommandFrame

    @property
    def name(self) -> str:
        """The command."""
        return self.frame.name

    @property
    def fragment(self) -> bytes:
        """The octets after it."""
        return self.frame.fragment

    def __getitem__(self, key: str) -> Any:
        return self.frame.args[key]

    def get(self, key: str) -> Any:
        """A field, None if the command has none of this name."""
        return self.frame.args.get(key)

    @property
    def kind(self) -> str:
        """The command, with its reply code if it has one."""
        code = self.get("reply_code")
        return self.name if code is None else f"{self.name} {code}"

    @property
    def refusal(self) -> Refusal | None:
        """The refusal in a CLOSE, or in a REPLY with an error code."""
        code = self.get("reply_code")
        if code is None or code < _FAILED:
            return None
        return Refusal(CLOSES.get(self.name, Scope.DELIVERY), code)

    def describe(self, dialect: Dialect) -> str:
        """One phrase: the command, its channel or handle, its code and text."""
        where = " ".join(
            f"{level} {self[key]}"
            for level, key in (("channel", "channel_id"), ("handle", "handle_id"))
            if self.get(key)
        )
        parts = [self.name, f"for {where}" if where else ""]
        if self.get("reply_code") is not None:
            parts += [dialect.code_name(self["reply_code"]), f"({' '.join(self['reply_text'].split())!r})"]
        return " ".join(filter(None, parts))


@dataclass(frozen=True, slots=True)
class MessageArrived(Arrival):
    """A complete message: its NOTIFYs, its head, its body; without a head if PREPARE had it (``recovery``)."""

    frames: tuple[CommandFrame, ...]
    head: Mapping[str, Any]
    body: bytes

    name = "handle.notify"
    kind = "handle.notify"

    def __getitem__(self, key: str) -> Any:
        return self.frames[-1].args[key]

    def get(self, key: str) -> Any:
        """A field of the last NOTIFY."""
        return self.frames[-1].args.get(key)

    @property
    def handle(self) -> int:
        """The handle of the message."""
        return int(self["handle_id"])

    @property
    def number(self) -> int:
        """The message number."""
        return int(self["message_nbr"])

    @property
    def delivered(self) -> bool:
        """Whether it is delivered, and not only shown."""
        return bool(self["delivered"])

    @property
    def redelivered(self) -> bool:
        """Whether it may have been delivered before."""
        return bool(self["redelivered"])

    @property
    def dest_name(self) -> str:
        """The destination in the last fragment."""
        return str(self["dest_name"])

    def describe(self, dialect: Dialect) -> str:
        """One phrase."""
        flag = "" if self.delivered else ", not delivered"
        return f"message {self.number} of {len(self.body)} octets for handle {self.handle}{flag}"


def is_reply(arrival: Arrival, tag: int) -> bool:
    """Whether it confirms, or refuses, the command with this tag."""
    return isinstance(arrival, CommandArrived) and arrival.name in _REPLIES and arrival["confirm_tag"] == tag


def refusal_of(arrivals: Iterable[Arrival]) -> tuple[Refusal | None, CommandArrived | None]:
    """The refusal in the arrivals, and the command with it: the first one, which precedes an end without a message."""
    arrivals = tuple(arrivals)
    for arrival in arrivals:
        if isinstance(arrival, CommandArrived) and arrival.refusal is not None:
            return arrival.refusal, arrival
    return (Refusal(Scope.SOCKET), None) if any(isinstance(a, Ended) for a in arrivals) else (None, None)
