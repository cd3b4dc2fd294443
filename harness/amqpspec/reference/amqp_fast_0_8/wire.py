"""Octets as the broker reads them: frames out of a stream, and the fragments between them.

Knows: the frame layout, which broken octets break which rule. Must not know: what a command means. Frames are cut
here and not by the codec's reader, so that the two sides of a conversation are implemented independently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from amqpspec.reference.amqp_fast_0_8.limits import FRAME_MAX_OCTETS
from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_fast_0_8 import DIALECT

LAYOUT = DIALECT.layout
SHORT_OCTETS, LONG_OCTETS, ESCAPE = LAYOUT.size_octets, LAYOUT.long_size_octets, LAYOUT.escape
_LEAST = 2
"""The code and the end octet."""

Refuse = Callable[[str, str], None]
Faulty = Callable[[str], bool]


class Incoming(NamedTuple):
    """One frame as received: code, the octets of its fields, and the size that it announced."""

    code: int
    fields: bytes
    size: int


class Splitter:
    """Cuts a stream; says what is wrong with a frame before its contents are read."""

    def __init__(self, refuse: Refuse, faulty: Faulty) -> None:
        self._refuse, self._faulty = refuse, faulty
        self._buffer = bytearray()

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        self._buffer += octets

    def clear(self) -> None:
        """Discard what waits."""
        self._buffer.clear()

    def take(self, count: int) -> bytes | None:
        """This many octets that are no frame; None until they have arrived."""
        if len(self._buffer) < count:
            return None
        octets = bytes(self._buffer[:count])
        del self._buffer[:count]
        return octets

    def next(self) -> Incoming | None:
        """The next frame, None if more octets are needed."""
        head = self._head()
        if head is None:
            return None
        begin, size = head
        if size < _LEAST:
            self._lose("frames/size-first", size)
            del self._buffer[:begin]
            return self.next()
        if size > FRAME_MAX_OCTETS:
            self._lose("frames/size-forms", size)
        if len(self._buffer) < begin + size:
            return None
        return self._cut(begin, size)

    def _lose(self, rule: str, size: int) -> None:
        """Refuse a size that cannot be: after it there is no next frame to be found, so what has arrived is dropped."""
        held = bytes(self._buffer)
        self._buffer.clear()
        self._refuse(rule, f"size {size}")
        self._buffer += held

    def _head(self) -> tuple[int, int] | None:
        """Where the code stands, and the size; None if they have not come."""
        begin = SHORT_OCTETS
        if len(self._buffer) < begin:
            return None
        size = int.from_bytes(self._buffer[:begin], "little" if self._faulty("sizes-low-high") else "big")
        if size != ESCAPE or self._faulty("escape-not-known"):
            return begin, size
        begin += LONG_OCTETS
        if len(self._buffer) < begin:
            return None
        return begin, int.from_bytes(self._buffer[SHORT_OCTETS:begin], "big")

    def _cut(self, begin: int, size: int) -> Incoming:
        octets = bytes(self._buffer[begin : begin + size])
        del self._buffer[: begin + size]
        if self._buffer[:1] == bytes((LAYOUT.end or 0,)) and self._faulty("end-octet-outside-the-size"):
            octets += self._buffer[:1]
            del self._buffer[:1]
        if octets[-1] != LAYOUT.end:
            self._refuse("syntax/command-end", f"end octet 0x{octets[-1]:02X}")
        return Incoming(octets[0], octets[1:-1], size)


FAULTS = fault_table("""
sizes-low-high: the size of a frame is read with its low octet first
    [syntax/notes/byte-order frames/size-first frames/command-octet]
end-octet-outside-the-size: a size that does not count the end octet is accepted [syntax/notes/end-counted]
escape-not-known: FFFF is read as a size [frames/escape frames/size-forms]
""")
