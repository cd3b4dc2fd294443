"""Conversations of the 0-9 family: the octets of a client and a server as methods, contents and heartbeats.

Knows: frames, methods, which frames a server's octets are made of. Must not know: who is judged, or by what.
"""

from __future__ import annotations

from amqpspec.wire.conversation import Conversation, Cutter, Talk
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.describe import describe_frame
from amqpspec.wire.methods.frames import Frame, FrameReader, encode_frame
from amqpspec.wire.ways import GARBLED, MAX_FRAME_OCTETS, Content, FrameCutter, read_conversation

GREETING = "greeting"


class MethodReading:
    """How a dialect of the 0-9 family is read; see ``amqpspec.wire.conversation.Reading``."""

    def __init__(self, dialect_id: str) -> None:
        self._codec = codec_for(dialect_id)

    def conversation(self, talk: Talk) -> Conversation:
        """The frames of both directions, in the order of their last octets."""
        return read_conversation(talk, self._reader, self._content)

    def cutter(self) -> Cutter:
        """Cuts what a server writes."""
        return FrameCutter(self._reader("server→client"), self._unit)

    def place(self, talk: Talk) -> str | None:
        """The virtual host of the client's connection.open."""
        opened = next(self.conversation(talk).by_client("connection.open"), None)
        return None if opened is None else str(opened.what["virtual_host"])

    @property
    def greetings(self) -> tuple[bytes, ...]:
        """The protocol header."""
        return (self._codec.dialect.protocol_header,)

    before_place = frozenset({"connection.start", "connection.secure", "connection.tune"})

    def _reader(self, name: str) -> FrameReader:
        return FrameReader(self._codec.dialect.layout, max_payload_octets=MAX_FRAME_OCTETS, name=name)

    def _unit(self, item: Frame | ProtocolHeader) -> tuple[str, bytes]:
        dialect = self._codec.dialect
        if isinstance(item, ProtocolHeader):
            return GREETING, dialect.protocol_header
        kind = dialect.layout.type_name(item.type)
        name = self._codec.decode_method(item.payload).name if kind == "method" else kind
        return name, encode_frame(dialect.layout, item)

    def _content(self, item: Frame | ProtocolHeader) -> Content:
        def describe() -> str:
            return str(describe_frame(self._codec, item)["text"])

        if isinstance(item, ProtocolHeader):
            return Content(0, GREETING, item, describe)
        kind = self._codec.dialect.layout.type_name(item.type)
        try:
            name, what = _decoded(self._codec, kind, item)
        except WireError as error:
            name, what = GARBLED, error
        return Content(item.channel, name, what, describe)


def _decoded(codec: Codec, kind: str, frame: Frame) -> tuple[str, object]:
    if kind == "method":
        call = codec.decode_method(frame.payload)
        return call.name, call
    if kind == "header":
        return kind, codec.decode_header(frame.payload)
    return kind, frame.payload
