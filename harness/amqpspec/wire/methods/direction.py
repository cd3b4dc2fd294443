"""One direction of a connection of the 0-9 family as evidence shows it.

Knows: frames, what is secret in them. Must not know: files, times, which case is running.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.direction import MAX_FRAME_OCTETS, MAX_FRAMES_A_CHUNK
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec
from amqpspec.wire.methods.describe import describe_frame, redacted
from amqpspec.wire.methods.frames import Frame, FrameReader


class FrameDirection:
    """A direction, ``out`` or ``in``, of a dialect of the 0-9 family."""

    def __init__(self, codec: Codec, direction: str) -> None:
        self._codec = codec
        name = "client→server" if direction == "out" else "server→client"
        self._reader = FrameReader(codec.dialect.layout, max_payload_octets=MAX_FRAME_OCTETS, name=name)
        self._broken = self._hiding = False
        self._tail = b""

    def take(self, octets: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """See ``Direction``."""
        if self._broken:
            return (b"*" * len(octets) if self._hiding else octets), []
        known = len(self._tail)
        whole = self._tail + octets
        self._reader.feed(octets)
        shown, frames = self._frames(whole)
        return shown[known:], frames

    def _frames(self, whole: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """Octets from the start of a frame: starred, and decoded; what is not a whole frame yet is the new tail."""
        frames: list[dict[str, Any]] = []
        shown = bytearray()
        try:
            while (item := self._reader.next()) is not None:
                size = _size_octets(self._codec, item)
                if len(frames) < MAX_FRAMES_A_CHUNK:
                    described = describe_frame(self._codec, item)
                    frames.append({"offset": item.offset, "octets": size, **described})
                shown += self._starred(whole[len(shown) : len(shown) + size])
        except WireError as error:
            self._broken = True
            plain = WireError(
                error.where, error.offset, error.expected, error.actual
            )  # its window may show a secret
            frames.append({"offset": self._reader.offset, "text": f"not decodable: {plain}"})
        self._tail = whole[len(shown) :]
        starred_tail = self._starred(self._tail)
        self._hiding = starred_tail != self._tail
        return bytes(shown) + starred_tail, frames

    def _starred(self, octets: bytes) -> bytes:
        return redacted(self._codec, self._codec.dialect.layout, octets)


def _size_octets(codec: Codec, item: Frame | ProtocolHeader) -> int:
    if isinstance(item, ProtocolHeader):
        return len(item.octets)
    return len(item.payload) + codec.dialect.layout.overhead_octets
