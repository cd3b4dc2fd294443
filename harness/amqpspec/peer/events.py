"""What arrives on a connection, once octets have become sense.

Knows: protocol headers, ends, silence. Must not know: what a family of dialects sends, how arrivals are waited for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.transport import StreamEnd


class Arrival(Protocol):
    """Anything that arrives, or does not: it can be described in words, and is data that targets have in common."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """What it is, with its code where it has one (``channel.close 404``), without what only this target says."""
        ...

    @property
    def refusal(self) -> Refusal | None:
        """The refusal that it says by itself; most say none."""
        return None

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports."""
        ...


@dataclass(frozen=True, slots=True)
class HeaderArrived(Arrival):
    """A protocol header of the target."""

    header: ProtocolHeader

    @property
    def kind(self) -> str:
        """The header with its numbers."""
        return str(self.header)

    def describe(self, dialect: Dialect) -> str:
        """The header in words."""
        return str(self.header)


@dataclass(frozen=True, slots=True)
class Garbled(Arrival):
    """The target sent octets that break the dialect's grammar."""

    error: WireError

    @property
    def kind(self) -> str:
        """The same for whatever cannot be read."""
        return "undecodable octets"

    def describe(self, dialect: Dialect) -> str:
        """The error in words."""
        return f"undecodable octets: {self.error}"


@dataclass(frozen=True, slots=True)
class Ended(Arrival):
    """The stream ended; ``why`` is the reason that the transport knows, such as a TLS alert."""

    how: StreamEnd
    why: str = ""

    @property
    def kind(self) -> str:
        """FIN and RST alike: no specification asks for one or the other."""
        return "end"

    @property
    def refusal(self) -> Refusal | None:
        """An end without an error."""
        return Refusal(Scope.SOCKET)

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        reason = f": {self.why}" if self.why else ""
        return f"connection ended ({self.how.upper()}){reason}"


@dataclass(frozen=True, slots=True)
class Quiet(Arrival):
    """Nothing arrived in the time that was given."""

    waited_s: float

    @property
    def kind(self) -> str:
        """Nothing."""
        return "nothing"

    def describe(self, dialect: Dialect) -> str:
        """In words."""
        return f"nothing within {self.waited_s:.1f} s"


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a target did about something: everything relevant, in order; the last arrival decides.

    ``refusal`` is the refusal it amounts to, or None if the target did not refuse (it answered, or kept silent);
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
