"""Frames of the 0-9 family in words.

Knows: readers and descriptions of frames. Must not know: what the octets are for.
"""

from __future__ import annotations

from amqpspec.wire.methods.codec import Codec
from amqpspec.wire.methods.describe import describe_frame
from amqpspec.wire.methods.frames import FrameReader

_MAX_OCTETS = 1 << 24


class FrameWords:
    """Frames of octets, one after the other."""

    def __init__(self, codec: Codec, octets: bytes) -> None:
        self._codec = codec
        self._reader = FrameReader(codec.dialect.layout, max_payload_octets=_MAX_OCTETS)
        self._reader.feed(octets)

    def next(self) -> str | None:
        """The next frame; None where there is no whole one any more. Raises WireError."""
        item = self._reader.next()
        return None if item is None else str(describe_frame(self._codec, item)["text"])

    @property
    def pending_octets(self) -> int:
        """How many octets are left of a frame that is not complete."""
        return self._reader.pending_octets
