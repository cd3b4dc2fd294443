"""One connection of the 0-9 family, below the vocabulary of cases: frames, methods and contents, sent and received.

Knows: what was sent and what arrived on it. Must not know: sockets, verdicts, which case is running.

If it is ``polite`` (the default), it answers the target's close and flow as the specification demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from amqpspec.peer.context import Context
from amqpspec.peer.events import Arrival, Reaction
from amqpspec.peer.line import Line
from amqpspec.peer.methods.arrivals import MethodArrived, refusal_of
from amqpspec.peer.methods.assembler import Assembler
from amqpspec.spec.methods import Method, MethodDialect
from amqpspec.wire.methods.codec import ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, FrameWriter, encode_frame

_CLOSES = ("connection.close", "channel.close")


class Connection(Line):
    """Frames and methods to and from the target."""

    dialect: MethodDialect

    def __init__(self, context: Context, lines: list[Line] | None = None) -> None:
        self.codec = codec_for(context.dialect)
        self.assembler = Assembler(self.codec)
        super().__init__(context, self.codec.dialect, self.assembler, lines)
        self.last_sent: Method | None = None
        self.frame_max_octets = self.dialect.layout.min_size_octets
        self.channel_max = 0
        self.closed_by: MethodArrived | None = None
        self.open_channels: set[int] = set()
        self._closing: set[int] = set()
        self._writer = FrameWriter(self.dialect.layout)

    def is_over(self) -> bool:
        """Whether the target has ended the connection, or announced its end."""
        return self.ended is not None or self.closed_by is not None

    # --- sending

    def frame(
        self,
        type: str | int,
        payload: bytes,
        channel: int = 1,
        *,
        size: int | None = None,
        end: int | None = None,
        cycle: int = 0,
    ) -> bytes:
        """A frame as octets: ``type`` by name or number;

        ``size`` and ``end`` may be wrong. ``cycle`` is sent if the dialect's frame header has such an octet.
        """
        code = type if isinstance(type, int) else self.dialect.layout.types[type]
        frame = Frame(code, channel, payload, cycle=cycle)
        return encode_frame(self.dialect.layout, frame, size=size, end=end)

    def send_frame(
        self,
        type: str | int,
        payload: bytes,
        channel: int = 1,
        *,
        size: int | None = None,
        end: int | None = None,
        cycle: int = 0,
    ) -> None:
        """Send one frame, legal or not; see ``frame``."""
        self.send_octets(self.frame(type, payload, channel, size=size, end=end, cycle=cycle))

    def method_frame(self, name: str, channel: int = 1, **args: Any) -> bytes:
        """A method frame as octets."""
        self.last_sent = self.dialect.methods[name]
        if name in _CLOSES:
            self._closing.add(channel)
        elif name == "channel.open":
            self._closing.discard(channel)
        payload = self.codec.encode_method(name, args)
        return self._writer.frame(self.dialect.layout.types["method"], channel, payload)

    def send(self, name: str, channel: int = 1, **args: Any) -> None:
        """Send a method without waiting."""
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
        children: Sequence[bytes] = (),
        weight: int | None = None,
    ) -> bytes:
        """Header and body frames as octets;

        ``body_size`` may be wrong, ``chunk`` is the number of body octets in each frame. ``children`` are nested
        contents, as octets from this method; ``weight``, their number, may be wrong.
        """
        types = self.dialect.layout.types
        header = ContentHeader(
            self.dialect.classes_by_name[class_name].index,
            len(body) if body_size is None else body_size,
            properties or {},
            len(children) if weight is None else weight,
        )
        # Without a limit, a server may still reject a frame that is larger than all must accept (0-9-1 tune.frame-max).
        frame_octets = self.frame_max_octets or self.dialect.layout.min_size_octets
        largest = max(1, frame_octets - self.dialect.layout.overhead_octets)
        step = chunk or largest
        out = [self._writer.frame(types["header"], channel, self.codec.encode_header(header)), *children]
        out += [
            self._writer.frame(types["body"], channel, body[at : at + step])
            for at in range(0, len(body), step)
        ]
        return b"".join(out)

    # --- receiving

    def noted(self, arrival: Arrival) -> Arrival:
        """Record channels and closes; answer closes and flow if polite."""
        if isinstance(arrival, MethodArrived):
            if arrival.name == "connection.close":
                self.closed_by = arrival
            elif arrival.name == "connection.close-ok":
                self.open_channels.clear()
            elif arrival.name == "channel.open-ok":
                self.open_channels.add(arrival.channel)
            elif arrival.name in ("channel.close", "channel.close-ok"):
                self.open_channels.discard(arrival.channel)
            if self.polite:
                self._answer(arrival)
        return arrival

    def _answer(self, arrival: MethodArrived) -> None:
        """Answer what a server may ask for at any time; what the case sent last stays what it sent last."""
        last = self.last_sent
        # A peer that receives a close answers it first (0-9-1 connection.close, channel.close).
        if arrival.name in _CLOSES:
            self.send(f"{arrival.name}-ok", channel=arrival.channel)
        # flow is synchronous: a server may disconnect a peer that does not answer it (0-9-1 channel.flow). After its
        # own close, a peer discards everything but close and close-ok.
        elif arrival.name == "channel.flow" and not self._closing & {0, arrival.channel}:
            self.send("channel.flow-ok", channel=arrival.channel, active=arrival["active"])
        self.last_sent = last

    def closes(self, arrival: Arrival) -> bool:
        """Whether it is the target's connection.close."""
        return isinstance(arrival, MethodArrived) and arrival.name == "connection.close"

    def reaction_of(self, arrivals: Sequence[Arrival]) -> Reaction:
        """The refusal in the arrivals."""
        return Reaction(tuple(arrivals), *refusal_of(tuple(arrivals)))
