"""Frames of AMQP 1.0 in words.

Knows: readers and descriptions of frames. Must not know: what the octets are for.
"""

from __future__ import annotations

from amqpspec.wire.amqp_1_0.describe import describe_frame
from amqpspec.wire.amqp_1_0.frames import TypedReader

_MAX_OCTETS = 1 << 24


class FrameWords:
    """Frames of octets, one after the other."""

    def __init__(self, octets: bytes) -> None:
        self._reader = TypedReader(max_frame_octets=_MAX_OCTETS)
        self._reader.feed(octets)

    def next(self) -> str | None:
        """The next frame; None where there is no whole one any more. Raises WireError."""
        item = self._reader.next()
        return None if item is None else str(describe_frame(item)["text"])

    @property
    def pending_octets(self) -> int:
        """How many octets are left of a frame that is not complete."""
        return self._reader.pending_octets
