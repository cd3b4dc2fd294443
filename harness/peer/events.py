"""What arrives on a connection, once octets have become sense.

Knows: methods, contents, protocol headers, heartbeats. Must not know: how they are read or waited for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from harness.spec.model import Dialect, Refusal, Scope
from harness.wire.errors import WireError
from harness.wire.frames import Frame, ProtocolHeader
from harness.wire.methods import Call, ContentHeader
from harness.wire.transport import StreamEnd


class Arrival(Protocol):
    """Anything that arrives, or does not: it can be told in words."""

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports."""
        ...


@dataclass(frozen=True, slots=True)
class Content:
    """A content within another one; it may hold further ones."""

    header: ContentHeader
    body: bytes = b""
    children: tuple[Content, ...] = ()


@dataclass(frozen=True, slots=True)
class MethodArrived:
    """A method without content, or one whose content is complete, with the contents within it."""

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

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports: closes with their code, anything else with its channel."""
        if self.name in ("connection.close", "channel.close"):
            code = dialect.code_name(self["reply_code"])
            return f"{self.name} {code} ({' '.join(self['reply_text'].split())!r})"
        return f"{self.name} on channel {self.channel}"


@dataclass(frozen=True, slots=True)
class HeaderArrived:
    """A protocol header of the target."""

    header: ProtocolHeader

    def describe(self, dialect: Dialect) -> str:
        """The header in words."""
        return str(self.header)


@dataclass(frozen=True, slots=True)
class HeartbeatArrived:
    """A heartbeat frame."""

    frame: Frame

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        return "heartbeat frame"


@dataclass(frozen=True, slots=True)
class Garbled:
    """The target sent octets that break the dialect's grammar."""

    error: WireError

    def describe(self, dialect: Dialect) -> str:
        """The error in words."""
        return f"undecodable octets: {self.error}"


@dataclass(frozen=True, slots=True)
class Ended:
    """The stream ended."""

    how: StreamEnd

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        return f"connection ended ({self.how.upper()})"


@dataclass(frozen=True, slots=True)
class Quiet:
    """Nothing arrived in the time that was given."""

    waited_s: float

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        return f"nothing within {self.waited_s:.1f} s"


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a target did about something: everything that mattered, in order; the last arrival decides.

    ``refusal`` is the refusal it amounts to, or None where the target did not refuse (it answered, or kept silent);
    ``closing`` is the arrival that said it, where one did.
    """

    arrivals: tuple[Arrival, ...]
    refusal: Refusal | None = None
    closing: Any = field(default=None)

    def describe(self, dialect: Dialect) -> str:
        """What was seen, in order."""
        return ", then ".join(a.describe(dialect) for a in self.arrivals) or "nothing"

    @property
    def code(self) -> int | str | None:
        """The reply code or error condition, where a close method was sent."""
        return None if self.refusal is None else self.refusal.code


def refusal_of(arrivals: tuple[Arrival, ...]) -> tuple[Refusal | None, MethodArrived | None]:
    """The refusal that arrivals amount to: a close method counts before the header, the header before a bare end."""
    for arrival in arrivals:
        if isinstance(arrival, MethodArrived) and arrival.name.endswith(".close"):
            scope = Scope.CHANNEL if arrival.name == "channel.close" else Scope.CONNECTION
            return Refusal(scope, arrival["reply_code"]), arrival
    if any(isinstance(a, Ended) for a in arrivals):
        header = any(isinstance(a, HeaderArrived) for a in arrivals)
        return Refusal(Scope.HEADER if header else Scope.SOCKET), None
    return None, None
