"""Octets as the broker reads and writes them: frames out of a stream, performatives into frames.

Knows: the frame layout, which broken octets break which rule. Must not know: what a performative means. Frames are
cut here and not by the codec's reader, so that the two sides of a conversation are implemented independently.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_1_0 import LAYOUT
from amqpspec.wire.amqp_1_0.performatives import encode_composite

_HEAD = struct.Struct(">IBBH")
HEAD_OCTETS = LAYOUT.header_octets
MIN_MAX_FRAME_OCTETS = LAYOUT.min_max_frame_size
AMQP, SASL = LAYOUT.types["amqp"], LAYOUT.types["sasl"]
_CLOSE = b"\x00\x53\x18"
_NAME = LAYOUT.headers["amqp"][:4]
_WORD = LAYOUT.doff_word_octets

Refuse = Callable[[str, str], None]
Faulty = Callable[[str], bool]


@dataclass(slots=True)
class Incoming:
    """One frame as received, without its extended header."""

    type: int
    channel: int
    body: bytes


class Splitter:
    """Cuts a stream into frames; says what is wrong with one before it looks inside."""

    def __init__(self, refuse: Refuse, faulty: Faulty) -> None:
        self._refuse, self._faulty = refuse, faulty
        self._buffer = bytearray()
        self.max_frame_octets = MIN_MAX_FRAME_OCTETS
        self.opened = False
        self._lost = False

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        self._buffer += octets

    def take(self, count: int) -> bytes:
        """Take out octets that are no frame."""
        octets = bytes(self._buffer[:count])
        del self._buffer[:count]
        return octets

    def clear(self) -> None:
        """Discard what waits."""
        self._buffer.clear()

    def peek(self, count: int) -> bytes:
        """The first octets that wait."""
        return bytes(self._buffer[:count])

    def next(self) -> Incoming | None:
        """The next frame, None if more octets are needed."""
        if self._lost:
            return self._search()
        while len(self._buffer) >= HEAD_OCTETS:
            size, doff, kind, channel = _HEAD.unpack_from(self._buffer)
            self._lost = True
            sound = self._sound(size, doff)
            self._lost = False
            if not sound:
                self.take(HEAD_OCTETS)
                continue
            if len(self._buffer) < size:
                return None
            octets = self.take(size)
            if self._faulty("channel-octets-swapped"):
                channel = (channel & 0xFF) << 8 | channel >> 8
            return Incoming(kind, channel, octets[self._body_at(doff) :])
        return None

    def _search(self) -> Incoming | None:
        """Where frames have been lost, nothing but a close is looked for."""
        at = self._buffer.find(_CLOSE)
        while at >= 0:
            start = max(0, at - HEAD_OCTETS)
            size, doff, kind, channel = _HEAD.unpack_from(self._buffer, start)
            if (
                start + HEAD_OCTETS == at
                and doff == LAYOUT.min_doff
                and len(self._buffer) >= start + size > at
            ):
                self.take(start)
                return Incoming(kind, channel, self.take(size)[HEAD_OCTETS:])
            at = self._buffer.find(_CLOSE, at + 1)
        self.take(max(0, len(self._buffer) - MIN_MAX_FRAME_OCTETS))
        return None

    def _body_at(self, doff: int) -> int:
        if self._faulty("extended-header-taken-for-body") or doff < LAYOUT.min_doff:
            return HEAD_OCTETS
        return doff * _WORD

    def _sound(self, size: int, doff: int) -> bool:
        """Whether a frame can be read; what cannot and is tolerated is skipped by its header's length."""
        if self._buffer.startswith(_NAME):
            self._refuse("connections/states/legal-frames", "a second protocol header")
            return False
        if size < HEAD_OCTETS:
            self._refuse("framing/size/below-header", f"size {size}")
            return False
        if size > self.max_frame_octets or (size > 256 and self._faulty("small-frames-refused")):
            self._refuse_size(size)
        if doff < LAYOUT.min_doff:
            self._refuse("framing/doff/below-header", f"data offset {doff}")
        if doff * _WORD > size:
            self._refuse("framing/doff/beyond-size", f"data offset {doff} in a frame of {size} octets")
        if self._faulty("extended-header-refused") and doff > LAYOUT.min_doff:
            self._refuse("framing/doff/beyond-size", f"data offset {doff}")
        return True

    def _refuse_size(self, size: int) -> None:
        if self.opened:
            self._refuse("performatives/open/max-frame-size/exceeded", f"frame of {size} octets")
        else:
            self._refuse("connections/opening/limits-before", f"frame of {size} octets before open")


def frame(body: bytes = b"", channel: int = 0, kind: int = AMQP) -> bytes:
    """One frame; without a body, it is a sign of life."""
    return _HEAD.pack(HEAD_OCTETS + len(body), LAYOUT.min_doff, kind, channel) + body


def performative(name: str, fields: dict[str, Any]) -> bytes:
    """A performative's octets; fields that are None are left null."""
    return bytes(encode_composite(name, **{key: v for key, v in fields.items() if v is not None}))


# --- serial numbers of RFC 1982

_SPAN, _HALF = 1 << 32, 1 << 31


def plus(number: int, more: int) -> int:
    """A serial number further on (or back)."""
    return (number + more) % _SPAN


def minus(one: int, other: int) -> int:
    """How far one serial number is ahead of another; negative if it is behind."""
    ahead = (one - other) % _SPAN
    return ahead - _SPAN if ahead >= _HALF else ahead


FAULTS = fault_table("""
channel-octets-swapped: the octets of a channel number are read the wrong way round [framing/channel]
extended-header-refused: a frame with an extended header is malformed [framing/doff framing/extended-header
    sasl/frame/extended-header-ignored]
extended-header-taken-for-body: the body is always read after eight octets
    [framing/extended-header framing/doff framing/size sasl/frame/extended-header-ignored]
small-frames-refused: frames above 256 octets are too large
    [performatives/open/max-frame-size/minimum definitions/min-max-frame-size/agreed]
""")
