"""The arrivals on a connection of the 0-9 family, and the refusal in them.

Knows: methods, contents, heartbeats. Must not know: how to read them or wait for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amqpspec.peer.events import Arrival, wordless_end
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.methods.codec import Call, ContentHeader
from amqpspec.wire.methods.frames import Frame

_CLOSES = {"connection.close": Scope.CONNECTION, "channel.close": Scope.CHANNEL}


@dataclass(frozen=True, slots=True)
class Content:
    """A content within another one; it may hold further ones."""

    header: ContentHeader
    body: bytes = b""
    children: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodArrived(Arrival):
    """A method without content, or with its complete content and the contents within it."""

    channel: int
    call: Call
    header: ContentHeader | None = None
    body: bytes = b""
    body_frames: int = 0
    children: tuple[Content, ...] = ()

    @property
    def name(self) -> str:
        """``class.method``."""
        return self.call.name

    def __getitem__(self, key: str) -> Any:
        return self.call[key]

    @property
    def properties(self) -> Mapping[str, Any]:
        """The content's properties; empty without content."""
        return self.header.properties if self.header else {}

    @property
    def kind(self) -> str:
        """The method; a close with its reply code."""
        return f"{self.name} {self['reply_code']}" if self.name in _CLOSES else self.name

    @property
    def refusal(self) -> Refusal | None:
        """The refusal in a close method."""
        scope = _CLOSES.get(self.name)
        return None if scope is None else Refusal(scope, self["reply_code"])

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports: closes with their code, other methods with their channel."""
        if self.name in _CLOSES:
            code = dialect.code_name(self["reply_code"])
            return f"{self.name} {code} ({' '.join(self['reply_text'].split())!r})"
        return f"{self.name} on channel {self.channel}"


@dataclass(frozen=True, slots=True)
class HeartbeatArrived(Arrival):
    """A heartbeat frame."""

    frame: Frame

    @property
    def kind(self) -> str:
        """A heartbeat."""
        return "heartbeat"

    def describe(self, dialect: Dialect) -> str:
        """A description for evidence."""
        return "heartbeat frame"


def refusal_of(arrivals: tuple[Arrival, ...]) -> tuple[Refusal | None, MethodArrived | None]:
    """The refusal in the arrivals: a close method precedes a header, and a header precedes an end without a message."""
    for arrival in arrivals:
        if isinstance(arrival, MethodArrived) and arrival.refusal is not None:
            return arrival.refusal, arrival
    return wordless_end(arrivals), None
