"""One direction of a connection of AMQP 1.0 as evidence shows it.

Knows: frames, what is secret in them. Must not know: files, times, which case is running.

Between the SASL header and the header that follows it, whatever a client sends that cannot be read is masked to the
end of the direction: a secret may stand anywhere in it.
"""

from __future__ import annotations

from typing import Any

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.describe import describe_frame, redacted
from amqpspec.wire.amqp_1_0.frames import HEADER_OCTETS, TypedFrame, TypedReader
from amqpspec.wire.direction import MAX_FRAME_OCTETS
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader

_MAX_FRAMES_A_CHUNK = 200
_MASK = b"*"


class TypedDirection:
    """A direction, ``out`` or ``in``; see ``amqpspec.wire.direction.Direction``."""

    def __init__(self, direction: str) -> None:
        name = "client→server" if direction == "out" else "server→client"
        self._reader = TypedReader(max_frame_octets=MAX_FRAME_OCTETS, name=name)
        self._from_client = direction == "out"
        self._broken = self._hiding = self._sasl = False
        self._tail = b""

    def take(self, octets: bytes) -> tuple[bytes, list[dict[str, Any]]]:
        """The octets with secrets starred out, and the frames that became complete with them."""
        if self._broken:
            return (_MASK * len(octets) if self._hiding else octets), []
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
                size = len(item.octets)
                if len(frames) < _MAX_FRAMES_A_CHUNK:
                    frames.append({"offset": item.offset, "octets": size, **describe_frame(item)})
                shown += self._starred(whole[len(shown) : len(shown) + size])
                self._follow(item)
        except WireError as error:
            self._broken = True
            self._hiding = self._hiding or (self._sasl and self._from_client)
            actual = "framing lost" if self._hiding else error.actual
            plain = WireError(
                error.where, error.offset, error.expected, actual
            )  # no window: it may show a secret
            frames.append({"offset": self._reader.offset, "text": f"not decodable: {plain}"})
        self._tail = whole[len(shown) :]
        return bytes(shown) + self._starred(self._tail), frames

    def _follow(self, item: TypedFrame | ProtocolHeader) -> None:
        if isinstance(item, ProtocolHeader):
            self._sasl = item.octets == HEADERS["sasl"]
        elif item.error is not None and self._sasl and self._from_client:
            self._hiding = True

    def _starred(self, octets: bytes) -> bytes:
        starred = redacted(octets)
        if self._hiding or (self._broken and self._sasl and self._from_client):
            return starred[:HEADER_OCTETS] + _MASK * (len(starred) - HEADER_OCTETS)
        return starred
