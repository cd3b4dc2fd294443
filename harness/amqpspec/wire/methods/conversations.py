"""Conversations of the 0-9 family: the octets of a client and a server as methods, contents and heartbeats.

Knows: frames, methods, which frames a server's octets are made of. Must not know: who is judged, or by what.
"""

from __future__ import annotations

from amqpspec.spec.methods import MethodDialect, load_methods
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Conversation, Cutter, Said, Talk
from amqpspec.wire.direction import reader_name
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.describe import describe_frame
from amqpspec.wire.methods.frames import Frame, FrameReader, encode_frame
from amqpspec.wire.words import said as in_words

_MAX_FRAME_OCTETS = 128 << 20
GREETING, GARBLED = "greeting", "garbled"


class MethodReading:
    """How a dialect of the 0-9 family is read; see ``amqpspec.wire.conversation.Reading``."""

    def __init__(self, dialect_id: str) -> None:
        self._codec = codec_for(dialect_id)
        self._dialect: MethodDialect = load_methods(dialect_id)

    def conversation(self, talk: Talk) -> Conversation:
        """The frames of both directions, in the order of their last octets."""
        ways = {Side.CLIENT: _Way(self._codec, Side.CLIENT), Side.SERVER: _Way(self._codec, Side.SERVER)}
        said = [s for chunk in talk.chunks for s in ways[chunk.sender].take(chunk.octets, chunk.at_ns)]
        return Conversation(talk, said)

    def cutter(self) -> Cutter:
        """Cuts what a server writes."""
        return _FrameCutter(self._codec)


class _Way:
    """One direction: octets in, frames out, until something cannot be decoded."""

    def __init__(self, codec: Codec, sender: Side) -> None:
        self._codec, self._sender = codec, sender
        name = reader_name("out" if sender is Side.CLIENT else "in")
        self._reader = FrameReader(codec.dialect.layout, max_payload_octets=_MAX_FRAME_OCTETS, name=name)
        self._is_broken = False

    def take(self, octets: bytes, at_ns: int) -> list[Said]:
        """The frames that became whole."""
        found: list[Said] = []
        if self._is_broken:
            return found
        self._reader.feed(octets)
        try:
            while (item := self._reader.next()) is not None:
                found.append(self._said(item, at_ns))
        except WireError as error:
            self._is_broken = True
            found.append(self._garbled(self._reader.offset, 0, error, at_ns))
        return found

    def _said(self, item: Frame | ProtocolHeader, at_ns: int) -> Said:
        size = self._reader.offset - item.offset
        text = describe_frame(self._codec, item)["text"]
        if isinstance(item, ProtocolHeader):
            return Said(self._sender, at_ns, item.offset, size, 0, GREETING, item, text)
        kind = self._codec.dialect.layout.type_name(item.type)
        try:
            name, what = _decoded(self._codec, kind, item)
        except WireError as error:
            name, what = GARBLED, error
        return Said(self._sender, at_ns, item.offset, size, item.channel, name, what, text)

    def _garbled(self, offset: int, size: int, error: WireError, at_ns: int) -> Said:
        text = f"not decodable: {in_words(error)}"
        return Said(self._sender, at_ns, offset, size, 0, GARBLED, error, text)


def _decoded(codec: Codec, kind: str, frame: Frame) -> tuple[str, object]:
    if kind == "method":
        call = codec.decode_method(frame.payload)
        return call.name, call
    if kind == "header":
        return kind, codec.decode_header(frame.payload)
    return kind, frame.payload


class _FrameCutter:
    def __init__(self, codec: Codec) -> None:
        self._codec, self._layout = codec, codec.dialect.layout
        self._reader = FrameReader(self._layout, max_payload_octets=_MAX_FRAME_OCTETS)

    def cut(self, octets: bytes) -> list[tuple[str, bytes]]:
        """The frames that became whole; our own broker writes nothing that cannot be cut."""
        self._reader.feed(octets)
        found: list[tuple[str, bytes]] = []
        while (item := self._reader.next()) is not None:
            if isinstance(item, ProtocolHeader):
                found.append((GREETING, self._codec.dialect.protocol_header))
                continue
            kind = self._layout.type_name(item.type)
            name = self._codec.decode_method(item.payload).name if kind == "method" else kind
            found.append((name, encode_frame(self._layout, item)))
        return found
