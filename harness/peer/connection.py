"""One connection to the target, below the vocabulary of cases: send, wait, close, and how it ended.

Knows: what was sent and what arrived on it. Must not know: sockets, verdicts, which case is running.
Where it is ``polite`` (the usual), closes of the target are answered with close-ok as the specification demands.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from harness.peer.context import Context
from harness.peer.events import Arrival, Ended, Garbled, HeaderArrived, MethodArrived, Quiet
from harness.peer.session import Session
from harness.spec.model import Method
from harness.wire.errors import WireError
from harness.wire.frames import Frame, FrameWriter, encode_frame
from harness.wire.methods import ContentHeader
from harness.wire.transport import StreamEnd, StreamEnded, Transport

FLOOD_OCTETS = 64 << 20
_STASH = 20_000
_FINAL = (Ended, Garbled, Quiet, HeaderArrived)


class Connection:
    """Octets and methods to and from the target over one transport, dialled when first needed."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.codec = context.codec
        self.dialect = context.codec.dialect
        self.session = Session(context.codec)
        self.polite = True
        self.last_sent: Method | None = None
        self.frame_max_octets = self.dialect.layout.min_size_octets
        self.channel_max = 0
        self.end: StreamEnd | None = None
        self.closed_by: MethodArrived | None = None
        self.open_channels: set[int] = set()
        self._writer = FrameWriter(self.dialect.layout)
        self._transport: Transport | None = None
        self._stash: deque[Arrival] = deque(maxlen=_STASH)
        self._received_octets = 0

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
        return self.end is not None or self.closed_by is not None

    def now(self) -> float:
        """The transport's clock in seconds."""
        return self.transport.now()

    def hang_up(self) -> None:
        """Close the socket without a word."""
        if self._transport is not None:
            self._transport.close()

    # --- sending

    def send_octets(self, octets: bytes) -> bool:
        """Send octets as they are; False when the target no longer takes them."""
        return self.transport.send(octets)

    def send_header(self, octets: bytes | None = None) -> None:
        """Send the dialect's protocol header, or other octets in its place."""
        self.send_octets(self.dialect.protocol_header if octets is None else octets)

    def frame(
        self,
        type: str | int,
        payload: bytes,
        channel: int = 1,
        *,
        size: int | None = None,
        end: int | None = None,
    ) -> bytes:
        """A frame as octets: ``type`` by name or number; ``size`` and ``end`` may lie."""
        code = type if isinstance(type, int) else self.dialect.layout.types[type]
        return encode_frame(self.dialect.layout, Frame(code, channel, payload), size=size, end=end)

    def send_frame(
        self,
        type: str | int,
        payload: bytes,
        channel: int = 1,
        *,
        size: int | None = None,
        end: int | None = None,
    ) -> None:
        """Send one frame, legal or not; see ``frame``."""
        self.send_octets(self.frame(type, payload, channel, size=size, end=end))

    def method_frame(self, name: str, channel: int = 1, **args: Any) -> bytes:
        """A method frame as octets."""
        self.last_sent = self.dialect.methods[name]
        payload = self.codec.encode_method(name, args)
        return self._writer.frame(self.dialect.layout.types["method"], channel, payload)

    def send(self, name: str, channel: int = 1, **args: Any) -> None:
        """Send a method and do not wait."""
        self.send_octets(self.method_frame(name, channel, **args))

    def content_frames(
        self,
        body: bytes = b"",
        channel: int = 1,
        *,
        properties: dict[str, Any] | None = None,
        class_name: str = "basic",
        body_size: int | None = None,
        chunk: int | None = None,
    ) -> bytes:
        """Header and body frames as octets; ``body_size`` may lie, ``chunk`` is the body octets in each frame."""
        types = self.dialect.layout.types
        header = ContentHeader(
            self.dialect.classes_by_name[class_name].index,
            len(body) if body_size is None else body_size,
            properties or {},
        )
        largest = max(1, (self.frame_max_octets or 131_072) - self.dialect.layout.overhead_octets)
        step = chunk or largest
        out = [self._writer.frame(types["header"], channel, self.codec.encode_header(header))]
        out += [
            self._writer.frame(types["body"], channel, body[at : at + step])
            for at in range(0, len(body), step)
        ]
        return b"".join(out)

    # --- waiting

    def read(self, until_s: float) -> Arrival:
        """The next arrival in the order of the wire; Quiet when the clock passes ``until_s``."""
        started_s = self.now()
        while True:
            arrival = self.session.next()
            if arrival is not None:
                return self._noted(arrival)
            if self.end is not None:
                return Ended(self.end)
            if self._received_octets > FLOOD_OCTETS:
                error = WireError(
                    "connection",
                    self._received_octets,
                    f"at most {FLOOD_OCTETS} octets for one case",
                    "endless data",
                )
                return Garbled(error)
            try:
                octets = self.transport.receive(until_s)
            except StreamEnded as ended:
                self.end = ended.how
                continue
            if not octets:
                return Quiet(until_s - started_s)
            self._received_octets += len(octets)
            self.session.feed(octets)

    def wait(self, wanted: Callable[[Arrival], bool], within_s: float) -> Arrival:
        """The first arrival that is wanted or ends the matter; others are kept for later waits."""
        for position, arrival in enumerate(self._stash):
            if wanted(arrival):
                del self._stash[position]
                return arrival
        until_s = self.now() + within_s
        while True:
            arrival = self.read(until_s)
            if isinstance(arrival, Quiet):
                return Quiet(within_s)
            if wanted(arrival) or isinstance(arrival, _FINAL) or _closes(arrival):
                return arrival
            self._stash.append(arrival)
            if self.now() >= until_s:
                return Quiet(within_s)

    def stashed(self, wanted: Callable[[Arrival], bool]) -> list[Arrival]:
        """Take out what has arrived already and is wanted."""
        found = [a for a in self._stash if wanted(a)]
        for arrival in found:
            self._stash.remove(arrival)
        return found

    def keep(self, arrival: Arrival) -> None:
        """Keep an arrival for a later wait."""
        self._stash.append(arrival)

    def _noted(self, arrival: Arrival) -> Arrival:
        if isinstance(arrival, MethodArrived):
            if arrival.name == "connection.close":
                self.closed_by = arrival
            elif arrival.name == "connection.close-ok":
                self.open_channels.clear()
            elif arrival.name == "channel.open-ok":
                self.open_channels.add(arrival.channel)
            elif arrival.name in ("channel.close", "channel.close-ok"):
                self.open_channels.discard(arrival.channel)
            if self.polite and arrival.name in ("connection.close", "channel.close"):
                last = self.last_sent
                self.send(f"{arrival.name}-ok", channel=arrival.channel)
                self.last_sent = last
        return arrival


def _closes(arrival: Arrival) -> bool:
    return isinstance(arrival, MethodArrived) and arrival.name == "connection.close"
