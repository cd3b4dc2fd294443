"""One direction of a connection as evidence shows it: octets in; the same without secrets, and frames in words, out.

Knows: frames, what is secret in them. Must not know: files, times, which case is running.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from harness.wire.describe import describe_frame, redacted
from harness.wire.errors import WireError
from harness.wire.frames import Frame, FrameReader, ProtocolHeader
from harness.wire.methods import Codec

MAX_FRAME_OCTETS = 512 << 10
_MAX_FRAMES_A_CHUNK = 200


class Direction(Protocol):
    """Decodes one direction of one connection beside its octets, as far as it can be decoded."""

    def take(self, octets: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """The octets with secrets starred out, and the frames that became complete with them.

        A frame is ``{"offset", "octets", "text", …}``; the first word of its text says what kind it is.
        """
        ...


Directions = Callable[[str], Direction]


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
                if len(frames) < _MAX_FRAMES_A_CHUNK:
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
