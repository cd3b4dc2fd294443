"""What one client and the server said to each other on one connection: octets as they passed, and frames in order.

Knows: senders, times, places, how a connection ended. Must not know: sockets, any dialect, verdicts.
The order is the server's: what it had written before it read something precedes it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.spec.model import Side

MAX_KEPT_OCTETS = 64 << 20

Address = tuple[str, int]
RESET_BY_SERVER = "reset by the server"
"""How a connection ended that a hostile server reset; nothing more of the client is known."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Octets of one side that passed at once."""

    sender: Side
    at_ns: int
    octets: bytes


@dataclass(slots=True)
class Room:
    """How many octets of all conversations together are kept in memory."""

    left_octets: int = 512 << 20

    def take(self, octets: int) -> bool:
        """Whether there is room for this many more; then they are taken."""
        if octets > self.left_octets:
            return False
        self.left_octets -= octets
        return True

    def give_back(self, talk: Talk) -> None:
        """A conversation is no longer read."""
        self.left_octets += sum(len(chunk.octets) for chunk in talk.chunks)
        talk.chunks.clear()


@dataclass(slots=True)
class Talk:
    """One connection as octets; ``local`` is the server's end of it, ``remote`` the client's.

    ``ended`` says how the client's side ended (``FIN``, ``RST``, ``RESET_BY_SERVER``; empty while it is open),
    ``ended_ns`` when.
    ``hostile_ns`` is when the server began to misbehave, None if it did not; ``is_silenced``: it said nothing more.
    ``is_left``: the server ended its side before the client did. ``is_cut``: what came later is not kept, or is lost.
    ``amiss`` says why our own server could not misbehave as it should have.
    """

    number: int
    local: Address = ("", 0)
    remote: Address = ("", 0)
    chunks: list[Chunk] = field(default_factory=list)
    ended: str = ""
    ended_ns: int | None = None
    hostile_ns: int | None = None
    is_silenced: bool = False
    is_left: bool = False
    is_cut: bool = False
    amiss: str = ""
    kept_octets: int = 0
    forgiven: list[str] = field(default_factory=list)
    """Deviations that a lenient server tolerated, by name, each once."""
    refused: str = ""
    """Why the server refused the client without telling it."""
    room: Room = field(default_factory=Room)

    @property
    def is_whole(self) -> bool:
        """Whether it is known to its end: only then does what is missing count."""
        return bool(self.ended) and not self.is_cut

    def add(self, sender: Side, at_ns: int, octets: bytes) -> None:
        """Keep octets, as long as there is room."""
        self.kept_octets += len(octets)
        if self.is_cut or self.kept_octets > MAX_KEPT_OCTETS or not self.room.take(len(octets)):
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
    describe: Callable[[], str] = field(default=str, compare=False, repr=False)

    @property
    def text(self) -> str:
        """What it says, in one line; made only if someone reads it."""
        return self.describe()

    @property
    def place(self) -> str:
        """Its position, as evidence names it."""
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
        """Everything that was sent before."""
        for said in self.said:
            if said is later:
                return
            yield said

    def _by(self, sender: Side, names: tuple[str, ...]) -> Iterator[Said]:
        return (s for s in self.said if s.sender is sender and (not names or s.name in names))


class Reading(Protocol):
    """How a dialect reads the octets of a connection; part ``reading`` of an entry."""

    def conversation(self, talk: Talk) -> Conversation:
        """The frames of both directions; never raises for what either side has sent."""
        ...

    def cutter(self) -> Cutter:
        """Cuts what a server writes into frames."""
        ...

    def place(self, talk: Talk) -> str | None:
        """The virtual host, or whatever the dialect has in its place, that the client opened; None until it has."""
        ...

    @property
    def greetings(self) -> Collection[bytes]:
        """The octets with which clients that speak the dialect begin."""
        ...

    @property
    def before_place(self) -> Collection[str]:
        """The names of the server's frames that come before a client opens a place."""
        ...


class Cutter(Protocol):
    """Cuts a server's octets into whole frames."""

    def cut(self, octets: bytes) -> list[tuple[str, bytes]]:
        """The frames that became whole, each with its name and octets."""
        ...


class Recorder(Protocol):
    """Who wants to know what passes."""

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        """Octets have passed."""

    def began(self, talk: Talk) -> None:
        """A client has connected."""

    def ended(self, talk: Talk) -> None:
        """A client's side has ended."""

    def lost(self, talk: Talk) -> None:
        """The connection is gone; nothing more passes."""
