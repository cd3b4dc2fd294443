"""The arrivals on a connection that all dialects share.

Knows: protocol headers, ends, silence. Must not know: frames of dialects, how to wait for arrivals.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.transport import StreamEnd


class Arrival:
    """An arrival, or its absence: with a description, and as comparable data.

    No ``Protocol`` and no ``ABC``: a peer asks every arrival for its class, and their ``isinstance`` is slow.
    """

    __slots__ = ()

    @property
    def kind(self) -> str:
        """Its kind, with its code if it has one (``channel.close 404``), without the target's own data."""
        raise NotImplementedError

    @property
    def refusal(self) -> Refusal | None:
        """The refusal in this arrival alone; most have none."""
        return None

    def describe(self, dialect: Dialect) -> str:
        """One phrase for reports."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class HeaderArrived(Arrival):
    """A protocol header of the target."""

    header: ProtocolHeader

    @property
    def kind(self) -> str:
        """The header with its numbers."""
        return str(self.header)

    def describe(self, dialect: Dialect) -> str:
        """A description of the header."""
        return str(self.header)


@dataclass(frozen=True, slots=True)
class Garbled(Arrival):
    """The target sent octets that violate the dialect's grammar."""

    error: WireError

    @property
    def kind(self) -> str:
        """The same for anything unreadable."""
        return "undecodable octets"

    def describe(self, dialect: Dialect) -> str:
        """A description of the error."""
        return f"undecodable octets: {self.error}"


@dataclass(frozen=True, slots=True)
class Ended(Arrival):
    """The stream ended; ``why`` is the reason from the transport, such as a TLS alert."""

    how: StreamEnd
    why: str = ""

    @property
    def kind(self) -> str:
        """The same for FIN and RST, because no specification requires either."""
        return "end"

    @property
    def refusal(self) -> Refusal | None:
        """An end without an error."""
        return Refusal(Scope.SOCKET)

    def describe(self, dialect: Dialect) -> str:
        """A description for evidence."""
        reason = f": {self.why}" if self.why else ""
        return f"connection ended ({self.how.upper()}){reason}"


@dataclass(frozen=True, slots=True)
class Quiet(Arrival):
    """Nothing arrived within the given time."""

    waited_s: float

    @property
    def kind(self) -> str:
        """Nothing."""
        return "nothing"

    def describe(self, dialect: Dialect) -> str:
        """A description for evidence."""
        return f"nothing within {self.waited_s:.1f} s"


@dataclass(frozen=True, slots=True)
class Passed(Arrival):
    """No refusal before the answer to a later barrier."""

    how: str

    @property
    def kind(self) -> str:
        """The answer to a barrier, of any kind."""
        return "barrier answered"

    def describe(self, dialect: Dialect) -> str:
        """A description for evidence."""
        return f"no refusal: {self.how} after it was answered"


@dataclass(frozen=True, slots=True)
class Reaction:
    """A target's reaction: all relevant arrivals in order; the last one decides.

    ``refusal`` is the refusal in it, or None if the target did not refuse (it answered, or was silent); ``closing``
    is the arrival with the refusal, if there was one.
    """

    arrivals: tuple[Arrival, ...]
    refusal: Refusal | None = None
    closing: Any = field(default=None)

    def describe(self, dialect: Dialect) -> str:
        """The arrivals, in order."""
        return ", then ".join(a.describe(dialect) for a in self.arrivals) or "nothing"

    @property
    def code(self) -> int | str | None:
        """The reply code or error condition of the closing message, if there was one."""
        return None if self.refusal is None else self.refusal.code


def wordless_end(arrivals: Iterable[Arrival]) -> Refusal | None:
    """The refusal in an end without a message, which a protocol header may precede; None if nothing has ended."""
    arrivals = tuple(arrivals)
    if not any(isinstance(a, Ended) for a in arrivals):
        return None
    header = any(isinstance(a, HeaderArrived) for a in arrivals)
    return Refusal(Scope.HEADER if header else Scope.SOCKET)
