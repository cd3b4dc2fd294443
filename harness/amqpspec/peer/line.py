"""One connection of a case to the target, for any dialect: sends octets, waits for arrivals, records the end.

Knows: transports, arrivals, claims of cases. Must not know: frames, methods, performatives, verdicts.

Each family of dialects adds a listener (octets in, arrivals out) and defines which arrivals end a wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol, TypeVar

from amqpspec.peer.context import Context, Withheld
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
    """Converts the octets of a target to arrivals."""

    def feed(self, octets: bytes) -> None:
        """Add octets."""
        ...

    def next(self) -> Arrival | None:
        """The next arrival, or None until more octets arrive."""
        ...


Other = TypeVar("Other", bound="Line")


class Line:
    """Sends octets to the target and receives its arrivals over one transport, which is dialled when first needed.

    ``lines`` are all lines of the case; ``claimed`` is the claim of the case; ``refused`` is the first refusal in a
    message of the target. ``slowest_s`` is the longest wait for an arrival; ``quiet_s`` is how long nothing arrived,
    if only time can prove absence.
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
        self._early: deque[tuple[Arrival, bool]] = deque()
        self.polite = True
        self.is_hung_up = False
        self._received_octets = 0

    # --- the case

    @property
    def patience_s(self) -> float:
        """How long an expected answer may take, in seconds."""
        return self.context.patience.reply_s

    def claim(self, expected: str) -> None:
        """From here on, a missing step is a failure of ``expected``."""
        for line in self.lines:
            line.claimed = expected
        self.transport.note(f"claim: {expected}")

    def withheld(self, expected: str, observed: str) -> Withheld:
        """The exception for what the target may hold back: the case proves nothing, whatever it has claimed."""
        for line in self.lines:
            line.claimed = ""
        self.transport.note(f"the claim is withdrawn: expected {expected}, observed {observed}")
        return Withheld(expected, observed)

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
        """Record an entity to be deleted after the case (``queue``, ``exchange`` …); returns its name."""
        self.context.cleanup.add(self.login.vhost, kind, name)
        return name

    # --- the stream

    @property
    def transport(self) -> Transport:
        """The transport, dialled on first use; a refused connection is treated as an end."""
        if self._transport is None:
            self._transport = self.context.dial()
        return self._transport

    def connect(self) -> None:
        """Dial now; raises StreamEnded(REFUSED) if the target does not accept a connection."""
        assert self.transport

    @property
    def dialled(self) -> bool:
        """Whether a connection was opened."""
        return self._transport is not None

    def is_over(self) -> bool:
        """Whether the target has ended the connection, or announced its end."""
        return self.ended is not None

    def now(self) -> float:
        """The transport's clock in seconds."""
        return self.transport.now()

    def hang_up(self) -> None:
        """Close the socket silently."""
        self.is_hung_up = True
        if self._transport is not None:
            self._transport.close()

    def redial(self) -> bool:
        """Replace a connection on which nothing arrived;

        False if it was replaced once already. A server that does not serve a connection in time proves nothing about
        the requirement; the verdict mentions the second attempt.
        """
        if self._received_octets or self.ended is not None or self.context.redials:
            return False
        self.transport.note("nothing was received on this connection: a second connection is tried")
        self.context.redials.append("a connection received no answer and was tried again")
        self.hang_up()
        self._transport, self.is_hung_up = None, False
        return True

    def leave(self, within_s: float) -> None:
        """Close cleanly what is still open, after the verdict; families implement it."""

    def send_octets(self, octets: bytes) -> bool:
        """Send octets unchanged; False if the target no longer accepts them."""
        return self.transport.send(octets)

    def send_header(self, octets: bytes | None = None) -> None:
        """Send the dialect's protocol header, or other octets in its place."""
        self.send_octets(self.dialect.protocol_header if octets is None else octets)

    # --- waiting

    def noted(self, arrival: Arrival) -> Arrival:
        """Process an arrival before any wait returns it."""
        return arrival

    def is_urgent(self, arrival: Arrival) -> bool:
        """Whether an arrival is processed before its turn; see ``glance``."""
        return False

    def closes(self, arrival: Arrival) -> bool:
        """Whether an arrival ends every wait: the target closes the connection."""
        return False

    def reaction_of(self, arrivals: Sequence[Arrival]) -> Reaction:
        """The refusal in the arrivals; families define which of them refuse."""
        return Reaction(tuple(arrivals))

    def reacted(self, seen: Sequence[Arrival]) -> Reaction:
        """The arrivals as a reaction; after a close, the end of the socket is awaited and added."""
        if self.closes(seen[-1]):
            seen = [*seen, self.expect_end(self.context.patience.quiet_s)]
        return self.reaction_of(seen)

    def read(self, until_s: float) -> Arrival:
        """The next arrival in the order of the wire; Quiet when the clock passes ``until_s``."""
        arrival, is_noted = self._early.popleft() if self._early else (self._arrived(until_s), False)
        return arrival if is_noted or isinstance(arrival, Quiet | Ended) else self._seen(arrival)

    def glance(self) -> None:
        """Receive what has arrived by now; see ``receive_early``."""
        while not isinstance(self.receive_early(self.now()), Quiet | Ended | Garbled):
            pass

    @property
    def early(self) -> list[Arrival]:
        """What was received early, and no wait has returned yet."""
        return [arrival for arrival, _ in self._early]

    def receive_early(self, until_s: float) -> Arrival:
        """Receive one arrival, for a later wait to return in its turn; only urgent ones are processed now.

        Returns it, or Quiet or Ended.
        """
        arrival = self._arrived(until_s)
        if isinstance(arrival, Quiet | Ended):
            return arrival
        urgent = self.is_urgent(arrival)
        self._early.append((self._seen(arrival) if urgent else arrival, urgent))
        return arrival

    def await_leave(self, why: Callable[[], str], wanted: str, ends: Callable[[Arrival], bool]) -> None:
        """Wait while the target holds back what is to be sent, as ``why`` tells; raises Withheld after the patience.

        What ``ends`` the wait stays for the case, which sees it in its turn.
        """
        if not self.polite or self.is_hung_up:
            return
        self.glance()
        if why() and any(map(ends, self.early)):
            return
        until_s = self.now() + self.patience_s
        while reason := why():
            arrival = self.receive_early(until_s)
            if isinstance(arrival, Quiet) or self.now() >= until_s:
                raise self.withheld(wanted, reason)
            if ends(arrival):
                return

    def _seen(self, arrival: Arrival) -> Arrival:
        arrival = self.noted(arrival)
        self._see(arrival.refusal)
        return arrival

    def _arrived(self, until_s: float) -> Arrival:
        """The next arrival that was not received early, not processed yet."""
        started_s = self.now()
        while True:
            arrival = self._listener.next()
            if arrival is not None:
                return arrival
            if self.ended is not None:
                return Ended(self.ended, self.ended_why)
            # A target that never stops sending must not delay the run or exhaust our memory.
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
        """The first arrival that is wanted or ends the wait; others are kept for later waits."""
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
            # Unwanted arrivals may never stop: the clock decides, not silence.
            if self.now() >= until_s:
                return Quiet(within_s)

    def took(self, span_s: float) -> None:
        """Record how long a wait took."""
        self.slowest_s = max(self.slowest_s, span_s)

    def rest_on_time(self, at_least_s: float = 0.0) -> float:
        """How long to wait for something that must not arrive, in seconds, if neither a count nor a marker can prove
        its absence.

        A multiple of the slowest answer of this target in this case; the verdict mentions it.
        """
        slowest_s = max(self.context.patience.quiet_s, *(line.slowest_s for line in self.lines))
        self.quiet_s = max(self.quiet_s, at_least_s, _TIMES_SLOWEST * slowest_s)
        return self.quiet_s

    def stashed(self, wanted: Callable[[Arrival], bool]) -> list[Arrival]:
        """Remove and return the wanted arrivals so far."""
        found = [a for a in self._stash if wanted(a)]
        for arrival in found:
            self._stash.remove(arrival)
        return found

    def keep(self, arrival: Arrival) -> None:
        """Keep an arrival for a later wait."""
        self._stash.append(arrival)

    def expect_end(self, within_s: float | None = None) -> Arrival:
        """Read to the end of the stream; returns Ended, or Quiet or Garbled if it does not arrive."""
        until_s = self.now() + (self.context.patience.ending_s if within_s is None else within_s)
        while True:
            arrival = self.read(until_s)
            if isinstance(arrival, Ended | Garbled | Quiet):
                return arrival


def _flooded(octets: int) -> Garbled:
    expected = f"at most {FLOOD_OCTETS} octets for one case"
    return Garbled(WireError("connection", octets, expected, "endless data"))
