"""Decodes one direction of a connection: octets in, arrivals out; contents are assembled for each channel.

Knows: framing, method and content grammar. Must not know: sockets, time, cases.

Bounded: a body is kept up to ``max_body_octets``; beyond that it is counted but not stored.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.peer.listening import FrameListener
from amqpspec.peer.methods.arrivals import Content, HeartbeatArrived, MethodArrived
from amqpspec.spec.methods import MethodDialect
from amqpspec.wire.errors import Kind, WireError
from amqpspec.wire.methods.codec import Call, Codec, ContentHeader
from amqpspec.wire.methods.frames import Frame, FrameReader

MAX_BODY_OCTETS = 8 << 20


@dataclass(slots=True)
class _Open:
    """A content that is not complete yet."""

    header: ContentHeader
    body: bytearray = field(default_factory=bytearray)
    size_octets: int = 0
    frames: int = 0
    children: list[Content] = field(default_factory=list)

    @property
    def lacks_children(self) -> bool:
        return len(self.children) < self.header.weight

    @property
    def complete(self) -> bool:
        return not self.lacks_children and self.size_octets == self.header.body_size_octets


@dataclass(slots=True)
class _Partial:
    """A method and its incomplete contents, the outermost first."""

    call: Call
    contents: list[_Open] = field(default_factory=list)


class Assembler(FrameListener[Frame]):
    """Reads the target's frames and assembles contents: see ``FrameListener``."""

    def __init__(self, codec: Codec, max_body_octets: int = MAX_BODY_OCTETS) -> None:
        super().__init__(FrameReader(codec.dialect.layout))
        self._codec = codec
        self._types = codec.dialect.layout.types
        self._partial: dict[int, _Partial] = {}
        self._max_body_octets = max_body_octets

    @property
    def dialect(self) -> MethodDialect:
        """The dialect that is read."""
        return self._codec.dialect

    def agree(self, frame_max_octets: int) -> None:
        """The negotiated frame size; 0 is no limit, with which frames up to 16 MiB are read.

        Setting it restarts the search for the largest frame. The reader accepts slightly larger frames, so that a
        target's violation is observed.
        """
        self.largest_frame_octets = 0
        self.reader.max_size = 2 * frame_max_octets if frame_max_octets else 16 << 20

    def _frame(self, frame: Frame) -> None:
        try:
            self._assemble(frame)
        except WireError as error:
            raise error.moved(f"{error.where}, frame of {self.reader.name}", frame.offset) from None

    def _assemble(self, frame: Frame) -> None:
        kind = self._codec.dialect.layout.type_name(frame.type)
        if kind == "method":
            self._method(frame)
        elif kind in ("header", "body") and frame.channel == 0:
            raise WireError(f"content {kind}", 0, "a channel from 1 upwards", "channel 0", kind=Kind.CHANNEL)
        elif kind == "header":
            self._header(frame)
        elif kind == "body":
            self._body(frame)
        elif kind == "heartbeat":
            self._ready.append(HeartbeatArrived(frame))
        elif kind == "trace":
            # The harness has no handler for traces; on a channel, a trace is invalid (9.1 draft, trace).
            if frame.channel:
                raise WireError("trace", 0, "channel 0", f"channel {frame.channel}")
        else:
            expected = f"one of {dict(self._types)}"
            raise WireError("frame type", 0, expected, f"type {frame.type}", kind=Kind.FRAMING)

    def _method(self, frame: Frame) -> None:
        # On its channel, nothing arrives between the frames of a content; on others, anything may (0-9-1 §4.2.6).
        if frame.channel in self._partial:
            broken = self._partial.pop(frame.channel)
            raise WireError("content", 0, f"the rest of {broken.call.name}", "a method frame")
        call = self._codec.decode_method(frame.payload)
        if call.method.content:
            self._partial[frame.channel] = _Partial(call)
        else:
            self._ready.append(MethodArrived(frame.channel, call))

    def _header(self, frame: Frame) -> None:
        partial = self._partial.get(frame.channel)
        if partial is None or (partial.contents and not partial.contents[-1].lacks_children):
            raise WireError("content header", 0, "a method with content before it, or a weight", "none")
        header = self._codec.decode_header(frame.payload)
        # The class of the header is that of the method it belongs to (0-9-1 §4.2.6.1).
        if header.class_id != partial.call.method.class_id:
            raise WireError(
                "content header", 0, f"class {partial.call.method.class_id}", f"class {header.class_id}"
            )
        partial.contents.append(_Open(header))
        self._finish(frame.channel, partial)

    def _body(self, frame: Frame) -> None:
        partial = self._partial.get(frame.channel)
        if partial is None or not partial.contents:
            raise WireError("content body", 0, "a content header before it", "none")
        content = partial.contents[-1]
        if content.lacks_children:
            raise WireError(
                "content body", 0, f"{content.header.weight} contents within", f"{len(content.children)}"
            )
        content.size_octets += len(frame.payload)
        content.frames += 1
        # A body that is too long to be stored is still counted, because the sizes are judged.
        content.body += frame.payload[: max(0, self._max_body_octets - len(content.body))]
        # The header announced how long the body is; a frame that goes beyond belongs to nothing (0-9-1 §4.2.6.2).
        if content.size_octets > content.header.body_size_octets:
            raise WireError(
                "content body",
                0,
                f"{content.header.body_size_octets} octets in all",
                f"{content.size_octets}",
            )
        self._finish(frame.channel, partial)

    def _finish(self, channel: int, partial: _Partial) -> None:
        contents = partial.contents
        # A content within another one is complete before its parent continues (9.1 draft, structured contents).
        while contents[-1].complete:
            done = contents.pop()
            children, body = tuple(done.children), bytes(done.body)
            if contents:
                contents[-1].children.append(Content(done.header, body, children))
                continue
            del self._partial[channel]
            self._ready.append(MethodArrived(channel, partial.call, done.header, body, done.frames, children))
            return
