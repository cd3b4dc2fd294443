"""One direction of a connection of the 0-9 family as evidence shows it.

Knows: frames, what is secret in them. Must not know: files, times, which case is running.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.direction import MAX_FRAME_OCTETS, FrameDecoder, reader_name
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec
from amqpspec.wire.methods.describe import describe_frame, redacted
from amqpspec.wire.methods.frames import Frame, FrameReader


class FrameDirection(FrameDecoder[Frame]):
    """A direction, ``out`` or ``in``, of a dialect of the 0-9 family."""

    def __init__(self, codec: Codec, direction: str) -> None:
        self._codec, self._layout = codec, codec.dialect.layout
        name = reader_name(direction)
        super().__init__(FrameReader(self._layout, max_payload_octets=MAX_FRAME_OCTETS, name=name))

    def _describe(self, item: Frame | ProtocolHeader) -> dict[str, Any]:
        return describe_frame(self._codec, item)

    def _starred(self, octets: bytes) -> bytes:
        return redacted(self._codec, self._layout, octets)
