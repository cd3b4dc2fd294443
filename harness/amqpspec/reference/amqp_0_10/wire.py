"""Octets as the broker reads them: frames of a stream, and errors in their headers.

Knows: the frame header. Must not know: what frames carry. Frames are cut here and not by the codec's reader, so that
the two sides of a conversation are implemented independently.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_0_10 import DIALECT

HEADER_OCTETS = 12
MIN_MAX_FRAME_OCTETS = DIALECT.layout.min_max_frame_size
MAX_FRAME_OCTETS = 0xFFFF
_HEADER = struct.Struct(">BBHBBHI")
_VERSION, _RESERVED = 0xC0, 0x30
_TRACKS = 2

Refuse = Callable[[str, str], None]
Faulty = Callable[[str], bool]


@dataclass(slots=True)
class Incoming:
    """One frame as received."""

    flags: int
    type: int
    track: int
    channel: int
    payload: bytes


class Splitter:
    """Cuts a stream into frames; refuses through ``refuse``."""

    def __init__(self, refuse: Refuse, faulty: Faulty) -> None:
        self._refuse, self.faulty = refuse, faulty
        self._octets = bytearray()
        self._lost = False
        self.max_frame_octets = 1024 if faulty("first-frames-must-be-small") else MIN_MAX_FRAME_OCTETS

    def feed(self, data: bytes) -> None:
        """Add octets."""
        if not self._lost:
            self._octets += data

    def next(self) -> Incoming | None:
        """The next complete frame that may be handled."""
        while len(self._octets) >= HEADER_OCTETS:
            flags, kind, size, reserved_1, track, channel, reserved_2 = _HEADER.unpack_from(self._octets)
            self._check_size(size)
            size = max(size, HEADER_OCTETS)
            if len(self._octets) < size and not self.faulty("parts-taken-for-frames"):
                return None
            payload = bytes(self._octets[HEADER_OCTETS:size])
            del self._octets[:size]
            if self._may_come(flags, reserved_1, track, reserved_2):
                return Incoming(flags & 0x0F, kind, track & 0x0F, channel, payload)
        return None

    def _check_size(self, size: int) -> None:
        """After an impossible size, no further frame can be found."""
        self._lost = True
        held, self._octets = self._octets, bytearray()
        if size < HEADER_OCTETS:
            self._refuse("transport/frame/size-below-header", f"size {size}")
        if size > self.max_frame_octets:
            self._refuse("connection/tune-ok/max-frame-size/max-frame-size/refused", f"size {size}")
        self._lost, self._octets = False, held

    def _may_come(self, flags: int, reserved_1: int, track: int, reserved_2: int) -> bool:
        if flags & _VERSION:
            self._refuse("transport/frame/version", f"flags 0x{flags:02x}")
        if flags & _RESERVED or reserved_1 or track & 0xF0 or reserved_2:
            self._refuse("transport/frame/reserved-bits", "reserved bits are set")
        if track & 0x0F >= _TRACKS and not self.faulty("reserved-tracks-executed"):
            self._refuse("transport/tracks/reserved", f"track {track & 0x0F}")
            return False
        return True


FAULTS = fault_table("""
first-frames-must-be-small: before limits are agreed on, a frame of more than 1,024 octets is refused
    [connection/tune/max-frame-size/minimum/accepted connection/tune-ok/max-frame-size/minimum/accepted]
parts-taken-for-frames: a part of a frame is read as a whole frame [transport/frame/size]
reserved-tracks-executed: frames on an undefined track are executed [transport/tracks/reserved]
""")
