"""What one client and the server said to each other on one connection: octets as they passed, and frames in order.

Knows: senders, times, places, how a connection ended. Must not know: sockets, any dialect, verdicts.
The order is the server's: what it had written before it read something stands before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.spec.model import Side

MAX_KEPT_OCTETS = 64 << 20


@dataclass(frozen=True, slots=True)
class Chunk:
    """Octets of one side that passed at once."""

    sender: Side
    at_ns: int
    octets: bytes


@dataclass(slots=True)
class Talk:
    """One connection as octets.

    ``ended`` says how the client's side ended (``FIN``, ``RST``; empty while it is open), ``ended_ns`` when.
    ``hostile_ns`` is when the server began to misbehave, None where it did not; ``is_silenced``: it said nothing more.
    ``is_cut``: what came after ``MAX_KEPT_OCTETS`` is not kept.
    """

    number: int
    chunks: list[Chunk] = field(default_factory=list)
    ended: str = ""
    ended_ns: int | None = None
    hostile_ns: int | None = None
    is_silenced: bool = False
    is_cut: bool = False
    kept_octets: int = 0

    def add(self, sender: Side, at_ns: int, octets: bytes) -> None:
        """Keep octets, as long as there is room."""
        self.kept_octets += len(octets)
        if self.kept_octets > MAX_KEPT_OCTETS:
            self.is_cut = True
        else:
            self.chunks.append(Chunk(sender, at_ns, octets))


@dataclass(frozen=True, slots=True)
class Said:
    """One frame: who said it, when, at which octet of its direction; ``what`` is its decoded content.

    ``name`` is the method or performative, or the kind of frame (``header``, ``body``, ``heartbeat``, ``greeting``);
    ``garbled`` is where a direction could not be decoded any further, ``what`` being the error.
    """

    sender: Side
    at_ns: int
    offset: int
    octets: int
    channel: int
    name: str
    what: Any = None
    text: str = ""

    @property
    def place(self) -> str:
        """Where it stands, as evidence says it."""
        way = "client→server" if self.sender is Side.CLIENT else "server→client"
        return f"octet {self.offset} of {way}"


@dataclass(frozen=True, slots=True)
class Conversation:
    """One connection as frames, in the order in which the server saw them."""

    talk: Talk
    said: Sequence[Said]

    def by_client(self, *names: str) -> Iterator[Said]:
        """What the client said, of these names (none: everything)."""
        return self._by(Side.CLIENT, names)

    def by_server(self, *names: str) -> Iterator[Said]:
        """What the server said, of these names (none: everything)."""
        return self._by(Side.SERVER, names)

    def first_of_server(self, name: str) -> Said | None:
        """The server's first frame of that name."""
        return next(self.by_server(name), None)

    def before(self, later: Said) -> Iterator[Said]:
        """Everything that was said before."""
        for said in self.said:
            if said is later:
                return
            yield said

    def _by(self, sender: Side, names: tuple[str, ...]) -> Iterator[Said]:
        return (s for s in self.said if s.sender is sender and (not names or s.name in names))


class Reading(Protocol):
    """How a dialect reads the octets of a connection; part ``conversations`` of an entry."""

    def conversation(self, talk: Talk) -> Conversation:
        """The frames of both directions; never raises for what either side has sent."""
        ...

    def cutter(self) -> Cutter:
        """Cuts what a server writes into frames."""
        ...


class Cutter(Protocol):
    """Cuts a server's octets into whole frames."""

    def cut(self, octets: bytes) -> list[tuple[str, bytes]]:
        """The frames that became whole, each with its name and octets."""
        ...
