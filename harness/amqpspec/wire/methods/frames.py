"""Frames: octets in, frames out, at any granularity; frames to octets, legal or not.

Knows: a dialect's frame layout. Must not know: what payloads mean, sockets, time.
Bounded: a frame that announces more than ``max_payload_octets`` is an error before its payload is stored.
"""

from __future__ import annotations

import struct
from functools import cache
from operator import itemgetter
from typing import NamedTuple

from amqpspec.spec.methods import FrameLayout
from amqpspec.wire.errors import EncodeError, WireError, hex_window
from amqpspec.wire.greeting import HEADER_OCTETS, ProtocolHeader

_MAGIC = b"AMQP"
_WIDTHS = {1: "B", 2: "H", 4: "I", 8: "Q"}


class Frame(NamedTuple):
    """One frame; ``offset`` is where it began in the stream it was read from."""

    type: int
    channel: int
    payload: bytes
    offset: int = 0
    cycle: int = 0


def header_struct(layout: FrameLayout) -> struct.Struct:
    """The frame header of a layout as one struct."""
    return _struct_of(layout.header)


@cache
def _struct_of(header: tuple[tuple[str, int], ...]) -> struct.Struct:
    return struct.Struct(">" + "".join(_WIDTHS[width] for _, width in header))


def encode_frame(
    layout: FrameLayout, frame: Frame, *, size: int | None = None, end: int | None = None
) -> bytes:
    """A frame as octets; ``size`` and ``end`` lie where they are given. EncodeError for what does not fit."""
    values = {
        "type": frame.type,
        "cycle": frame.cycle,
        "channel": frame.channel,
        "size": len(frame.payload) if size is None else size,
    }
    try:
        header = header_struct(layout).pack(*(values[name] for name, _ in layout.header))
        return header + frame.payload + bytes((layout.end if end is None else end,))
    except (struct.error, ValueError) as error:
        actual = " ".join(f"{name}={value}" for name, value in values.items())
        raise EncodeError("frame header or end", f"numbers within {_widths(layout)}", actual) from error


def _widths(layout: FrameLayout) -> str:
    return " ".join(f"{name}:{width}" for name, width in (*layout.header, ("end", 1))) + " octets"


class FrameWriter:
    """Legal frames to octets, with the layout's struct at hand."""

    def __init__(self, layout: FrameLayout) -> None:
        self._layout = layout
        self._pack = header_struct(layout).pack
        names = tuple(name for name, _ in layout.header)
        self._plain = names == ("type", "channel", "size")
        self._with_cycle = names == ("type", "cycle", "channel", "size")
        self._end = bytes((layout.end,))

    def frame(self, type_code: int, channel: int, payload: bytes, cycle: int = 0) -> bytes:
        """One frame; EncodeError for a type or channel that does not fit."""
        try:
            if self._plain:
                return self._pack(type_code, channel, len(payload)) + payload + self._end
            if self._with_cycle:
                return self._pack(type_code, cycle, channel, len(payload)) + payload + self._end
        except struct.error:
            pass
        return encode_frame(self._layout, Frame(type_code, channel, payload, 0, cycle))


class FrameReader:
    """An incremental reader of one direction of a connection.

    Feed octets as they come; ``next`` gives frames as they become complete. The first octets may be a
    protocol header where ``header_allowed``. After a WireError the reader stays broken: framing is lost.
    """

    def __init__(
        self,
        layout: FrameLayout,
        *,
        max_payload_octets: int = 1 << 20,
        header_allowed: bool = True,
        name: str = "server→client",
    ) -> None:
        names = [field for field, _ in layout.header]
        self._unpack = header_struct(layout).unpack_from
        self._type_channel_size = itemgetter(*(names.index(n) for n in ("type", "channel", "size")))
        self._cycle = names.index("cycle") if "cycle" in names else None
        self._header_octets, self._end = layout.header_octets, layout.end
        self._buffer = bytearray()
        self._start = 0
        self._header_allowed = header_allowed
        self._error: WireError | None = None
        self.name = name
        self.max_payload_octets = max_payload_octets
        self.offset = 0

    def feed(self, octets: bytes) -> None:
        """Take octets in; they are kept until a frame is complete."""
        if self._error is not None:
            return
        if self._start:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += octets

    @property
    def pending_octets(self) -> int:
        """Octets that belong to a frame that is not complete yet."""
        return len(self._buffer) - self._start

    def next(self) -> Frame | ProtocolHeader | None:
        """The next complete frame, or None until more octets come; raises WireError for a broken stream."""
        buffer, start = self._buffer, self._start
        at = start + self._header_octets
        if self._header_allowed and buffer:
            if buffer[0] == _MAGIC[0]:
                return self._protocol_header()
            self._header_allowed = False
        if len(buffer) < at:
            if self._error is not None:
                raise self._error
            return None
        values = self._unpack(buffer, start)
        type_code, channel, size = self._type_channel_size(values)
        if size > self.max_payload_octets:
            expected = f"a payload of at most {self.max_payload_octets} octets"
            raise self._broken(start, expected, f"size {size} announced")
        end = at + size
        if len(buffer) <= end:
            return None
        if buffer[end] != self._end:
            raise self._broken(end, f"0x{self._end:02X}", f"end octet 0x{buffer[end]:02X}")
        cycle = 0 if self._cycle is None else values[self._cycle]
        frame = Frame(type_code, channel, bytes(buffer[at:end]), self.offset, cycle)
        self._start = end + 1
        self.offset += end + 1 - start
        return frame

    def _protocol_header(self) -> ProtocolHeader | None:
        for at, octet in enumerate(self._buffer[: len(_MAGIC)]):
            if octet != _MAGIC[at]:
                raise self._broken(at, "'AMQP' or a frame", f"octet 0x{octet:02X}")
        if len(self._buffer) < HEADER_OCTETS:
            return None
        header = ProtocolHeader(bytes(self._buffer[:HEADER_OCTETS]), self.offset)
        self._start = self.offset = HEADER_OCTETS
        self._header_allowed = False
        return header

    def _broken(self, at: int, expected: str, actual: str) -> WireError:
        offset = self.offset + at - self._start
        window = hex_window(self._buffer, at)
        self._error = WireError(f"frame of {self.name}", offset, expected, actual, window)
        self._buffer.clear()
        self._start = 0
        return self._error
