"""One connection of a case to the target, whatever is spoken on it: send octets, wait for arrivals, how it ended.

Knows: transports, arrivals, what a case claims. Must not know: frames, methods, performatives, verdicts.
A family of dialects gives it a listener (octets in, arrivals out) and says which arrivals end a wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet, Reaction
from amqpspec.spec.model import Dialect, Refusal, Scope
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnd, StreamEnded, Transport

FLOOD_OCTETS = 64 << 20
_STASH = 20_000
_WORDLESS = (Scope.SOCKET, Scope.HEADER)
_TIMES_SLOWEST = 5
_FINAL = (Ended, Garbled, Quiet, HeaderArrived)


class Listener(Protocol):
    """Makes sense of what a target sends."""

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        ...

    def next(self) -> Arrival | None:
        """The next arrival, or None until more octets come."""
        ...


Other = TypeVar("Other", bound="Line")


class Line:
    """Octets to, and arrivals from, the target over one transport, dialled when first needed.

    ``lines`` are all lines of the case; ``claimed`` is what the case said it would prove; ``refused`` is the first
    refusal that the target put into words. ``slowest_s`` is the longest that anything took that came; ``quiet_s`` is
    how long nothing arrived, where the case has only time to tell absence by.
    """

    def __init__(
        self, context: Context, dialect: Dialect, listener: Listener, lines: list[Line] | None = None
    ) -> None:
        self.context, self.dialect = context, dialect
        self.login = context.login
        self.claimed = ""
        self.slowest_s = self.quiet_s = 0.0
        self.ended: StreamEnd | None = None
        self.ended_why = ""
        self.refused: Refusal | None = None
        self.lines: list[Line] = lines if lines is not None else []
        self.lines.append(self)
        self._listener = listener
        self._transport: Transport | None = None
        self._stash: deque[Arrival] = deque(maxlen=_STASH)
        self._received_octets = 0

    # --- what the case says of itself

    @property
    def patience_s(self) -> float:
        """How long an expected answer may take, in seconds."""
        return self.context.patience.reply_s

    def claim(self, expected: str) -> None:
        """From here on, what does not happen is a failure of ``expected``."""
        for line in self.lines:
            line.claimed = expected
        self.transport.note(f"claim: {expected}")

    def introduced(self, other: Other, role: str | None, vhost: str | None) -> Other:
        """Another line of this case, not yet dialled, as the default or another principal, to a vhost by name."""
        other.claimed = self.claimed
        login = self.context.principal(role) if role else self.context.login
        other.login = login if vhost is None else self.context.in_vhost(vhost)
        return other

    def name(self, hint: str = "x") -> str:
        """A unique name."""
        return self.context.name(hint)

    def will_clean(self, kind: str, name: str) -> str:
        """Remember an entity to be deleted after the case (``queue``, ``exchange`` …); returns the name back."""
        self.context.cleanup.add(self.login.vhost, kind, name)
        return name

    # --- the stream

    @property
    def transport(self) -> Transport:
        """The transport, dialled on first use; a refused connection is an end like any other."""
        if self._transport is None:
            self._transport = self.context.dial()
        return self._transport

    def connect(self) -> None:
        """Dial now; raises StreamEnded(REFUSED) where the target does not accept a connection."""
        assert self.transport

    @property
    def dialled(self) -> bool:
        """Whether there has been a connection."""
        return self._transport is not None

    def is_over(self) -> bool:
        """Whether the target has ended the connection, or said that it does."""
        return self.ended is not None

    def now(self) -> float:
        """The transport's clock in seconds."""
        return self.transport.now()

    def hang_up(self) -> None:
        """Close the socket silently."""
        if self._transport is not None:
            self._transport.close()

    def redial(self) -> bool:
        """Give up a connection on which nothing ever came, for a new one; False if there was one already.

        That a server does not get round to a connection reveals nothing about what the case is about; the verdict says
        that it was tried twice.
        """
        if self._received_octets or self.ended is not None or self.context.redials:
            return False
        self.transport.note("nothing was received on this connection: a second connection is tried")
        self.context.redials.append("a connection received no answer and was tried again")
        self.hang_up()
        self._transport = None
        return True

    def leave(self, within_s: float) -> None:
        """Close cleanly what is still open, once the verdict is there; for the family to say how."""

    def send_octets(self, octets: bytes) -> bool:
        """Send octets as they are; False when the target no longer takes them."""
        return self.transport.send(octets)

    def send_header(self, octets: bytes | None = None) -> None:
        """Send the dialect's protocol header, or other octets in its place."""
        self.send_octets(self.dialect.protocol_header if octets is None else octets)

    # --- waiting

    def noted(self, arrival: Arrival) -> Arrival:
        """Take notice of an arrival before anybody waits for it."""
        return arrival

    def closes(self, arrival: Arrival) -> bool:
        """Whether an arrival ends every wait: the target closes the connection."""
        return False

    def reaction_of(self, arrivals: Sequence[Arrival]) -> Reaction:
        """What arrivals amount to; a family says which of them refuse."""
        return Reaction(tuple(arrivals))

    def reacted(self, seen: Sequence[Arrival]) -> Reaction:
        """What was seen as a reaction; after a close only the end of the socket is left, and it is judged, too."""
        if self.closes(seen[-1]):
            seen = [*seen, self.expect_end(self.context.patience.quiet_s)]
        return self.reaction_of(seen)

    def read(self, until_s: float) -> Arrival:
        """The next arrival in the order of the wire; Quiet when the clock passes ``until_s``."""
        started_s = self.now()
        while True:
            arrival = self._listener.next()
            if arrival is not None:
                arrival = self.noted(arrival)
                self._see(arrival.refusal)
                return arrival
            if self.ended is not None:
                return Ended(self.ended, self.ended_why)
            # A target that never stops must not hold up the run, nor fill our memory.
            if self._received_octets > FLOOD_OCTETS:
                return _flooded(self._received_octets)
            try:
                octets = self.transport.receive(until_s)
            except StreamEnded as ended:
                self.ended, self.ended_why = ended.how, str(ended.__cause__ or "")
                continue
            except WireError as error:
                return Garbled(error)
            if not octets:
                return Quiet(until_s - started_s)
            self._received_octets += len(octets)
            self._listener.feed(octets)

    def _see(self, refusal: Refusal | None) -> None:
        if self.refused is None and refusal is not None and refusal.scope not in _WORDLESS:
            self.refused = refusal

    def wait(self, wanted: Callable[[Arrival], bool], within_s: float) -> Arrival:
        """The first arrival that is wanted or ends the matter; others are kept for later waits."""
        for position, arrival in enumerate(self._stash):
            if wanted(arrival):
                del self._stash[position]
                return arrival
        started_s = self.now()
        until_s = started_s + within_s
        while True:
            arrival = self.read(until_s)
            if isinstance(arrival, Quiet):
                return Quiet(within_s)
            if wanted(arrival):
                self.took(self.now() - started_s)
                return arrival
            if isinstance(arrival, _FINAL) or self.closes(arrival):
                return arrival
            self._stash.append(arrival)
            # What is not wanted may come without end: the clock decides, not silence.
            if self.now() >= until_s:
                return Quiet(within_s)

    def took(self, span_s: float) -> None:
        """Something that was waited for has arrived after that long."""
        self.slowest_s = max(self.slowest_s, span_s)

    def rest_on_time(self, at_least_s: float = 0.0) -> float:
        """How long to wait for what must not come, in seconds, where no count and no marker tells that it does not.

        Several times what the slowest answer of this target took in this case; the verdict says so.
        """
        slowest_s = max(self.context.patience.quiet_s, *(line.slowest_s for line in self.lines))
        self.quiet_s = max(self.quiet_s, at_least_s, _TIMES_SLOWEST * slowest_s)
        return self.quiet_s

    def stashed(self, wanted: Callable[[Arrival], bool]) -> list[Arrival]:
        """Take out what has arrived already and is wanted."""
        found = [a for a in self._stash if wanted(a)]
        for arrival in found:
            self._stash.remove(arrival)
        return found

    def keep(self, arrival: Arrival) -> None:
        """Keep an arrival for a later wait."""
        self._stash.append(arrival)

    def expect_end(self, within_s: float | None = None) -> Arrival:
        """Read to the end of the stream; returns Ended, or Quiet or Garbled where it does not arrive."""
        until_s = self.now() + (self.context.patience.ending_s if within_s is None else within_s)
        while True:
            arrival = self.read(until_s)
            if isinstance(arrival, Ended | Garbled | Quiet):
                return arrival


def _flooded(octets: int) -> Garbled:
    expected = f"at most {FLOOD_OCTETS} octets for one case"
    return Garbled(WireError("connection", octets, expected, "endless data"))
