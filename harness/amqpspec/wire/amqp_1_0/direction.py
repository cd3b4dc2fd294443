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
from amqpspec.wire.direction import MAX_FRAME_OCTETS, FrameDecoder, reader_name
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import MASK, said


class TypedDirection(FrameDecoder[TypedFrame]):
    """A direction, ``out`` or ``in``."""

    def __init__(self, direction: str) -> None:
        super().__init__(TypedReader(max_frame_octets=MAX_FRAME_OCTETS, name=reader_name(direction)))
        self._from_client, self._sasl = direction == "out", False

    def _describe(self, item: TypedFrame | ProtocolHeader) -> dict[str, Any]:
        return describe_frame(item)

    def _follow(self, item: TypedFrame | ProtocolHeader) -> None:
        # The SASL layer ends with the next protocol header (§5.3.2).
        if isinstance(item, ProtocolHeader):
            self._sasl = item.octets == HEADERS["sasl"]
        elif item.error is not None and self._sasl and self._from_client:
            self._hiding = True

    def _lost(self, error: WireError) -> str:
        self._hiding = self._hiding or (self._sasl and self._from_client)
        return said(error, "framing lost" if self._hiding else None)

    def _starred(self, octets: bytes) -> bytes:
        starred = redacted(octets)
        if self._hiding or (self._broken and self._sasl and self._from_client):
            return starred[:HEADER_OCTETS] + MASK * (len(starred) - HEADER_OCTETS)
        return starred
