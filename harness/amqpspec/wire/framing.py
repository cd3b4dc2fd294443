"""Frames of any layout: octets in, frames and protocol headers out, at any granularity; header fields to octets.

Knows: what a layout declares. Must not know: any dialect, what payloads mean, sockets, time.
Bounded: a frame that announces more than ``max_size`` is an error before the rest of it is stored.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import cache
from typing import Generic, NamedTuple, Protocol, TypeVar

from amqpspec.spec.framing import Counts, Layout
from amqpspec.wire.errors import EncodeError, Kind, WireError, hex_window
from amqpspec.wire.greeting import ProtocolHeader


class Placed(Protocol):
    """A frame that knows at which octet of its stream it began."""

    @property
    def offset(self) -> int:
        """Octets before it."""
        ...


F = TypeVar("F", bound=Placed)
_WIDTHS = {1: "B", 2: "H", 4: "I", 8: "Q"}


@cache
def header_struct(header: tuple[tuple[str, int], ...]) -> struct.Struct:
    """Header fields in network order as one struct."""
    return struct.Struct(">" + "".join(_WIDTHS[width] for _, width in header))


# --- writing


def encode(
    layout: Layout,
    values: Mapping[str, int],
    payload: bytes,
    *,
    extended: bytes = b"",
    size: int | None = None,
    end: int | None = None,
    escaped: bool = False,
) -> bytes:
    """A frame as octets, from its header fields without the size; ``size`` and ``end`` may be wrong if they are given.

    The size has its long form if the short one cannot hold it, or with ``escaped``. Raises EncodeError for what does
    not fit.
    """
    counted = layout.least_size + len(extended) + len(payload) if size is None else size
    long = layout.escape is not None and (escaped or counted >= layout.escape)
    header = layout.long_header if long else layout.header
    given = {**values, "size": counted, "escape": layout.escape}
    closing = layout.end if end is None else end
    try:
        head = header_struct(header).pack(*(given[name] for name, _ in header))
        return head + extended + payload + (b"" if closing is None else bytes((closing,)))
    except (struct.error, ValueError) as error:
        where = "frame header" if layout.end is None else "frame header or end"
        actual = " ".join(f"{name}={given[name]}" for name, _ in header)
        raise EncodeError(where, f"numbers within {_widths(layout, header)} octets", actual) from error


def _widths(layout: Layout, header: tuple[tuple[str, int], ...]) -> str:
    ends = (("end", 1),) if layout.end is not None else ()
    return " ".join(f"{name}:{width}" for name, width in (*header, *ends))


# --- reading


def frame_octets(layout: Layout, octets: bytes) -> int | None:
    """How long the frame is that octets begin; None if that has not come yet, or cannot be."""
    at, width = layout.offset_of("size"), layout.size_octets
    size, uncounted = int.from_bytes(octets[at : at + width], "big"), layout.uncounted_octets
    if size == layout.escape:
        at, width = at + width, layout.long_size_octets
        size, uncounted = int.from_bytes(octets[at : at + width], "big"), uncounted + width
    return size + uncounted if len(octets) >= at + width and size >= layout.least_size else None


class Reader(Generic[F]):
    """An incremental reader of one direction of a connection; a family says what it makes of a frame in ``_frame``.

    Feed octets as they come; ``next`` gives frames as they become complete, and protocol headers where the layout has
    them. After a WireError the reader stays broken: framing is lost. ``max_size`` is the largest size that a frame may
    announce, as the layout counts it, and may be set at any time.
    """

    def __init__(
        self,
        layout: Layout,
        *,
        max_size: int = 1 << 20,
        header_allowed: bool = True,
        name: str = "server→client",
    ) -> None:
        names = [field for field, _ in layout.header]
        self.layout = layout
        self._unpack = header_struct(layout.header).unpack_from
        self._header_octets, self._end = layout.header_octets, layout.end
        self._size, self._least, self._uncounted = (
            names.index("size"),
            layout.least_size,
            layout.uncounted_octets,
        )
        self._word_octets = layout.doff_word_octets
        self._doff = names.index("doff") if "doff" in names else 0
        self._first, self._anywhere = layout.greeting.magic[0], layout.greeting.anywhere
        self._greets = header_allowed
        self._buffer = bytearray()
        self._start = 0
        self._error: WireError | None = None
        self.name = name
        self.max_size = max_size
        self.offset = 0

    def _frame(self, values: tuple[int, ...], start: int, begin: int, end: int) -> F:
        """A frame from its header's values; it is in the buffer from ``start``, its payload from ``begin``."""
        raise NotImplementedError

    @property
    def max_size(self) -> int:
        """The largest size that a frame may announce."""
        return self._max_size

    @max_size.setter
    def max_size(self, size: int) -> None:
        self._max_size = size
        escape = self.layout.escape
        self._most = size if escape is None else min(size, escape - 1)

    def feed(self, octets: bytes) -> None:
        """Take octets in; they are kept until a frame is complete."""
        if self._error is not None:
            return
        # Cut frames are dropped here and not frame by frame: moving the rest of a large buffer each time costs more.
        if self._start:
            del self._buffer[: self._start]
            self._start = 0
        self._buffer += octets

    @property
    def is_broken(self) -> bool:
        """Whether framing is lost."""
        return self._error is not None

    @property
    def pending_octets(self) -> int:
        """Octets that belong to a frame that is not complete yet."""
        return len(self._buffer) - self._start

    def next(self) -> F | ProtocolHeader | None:
        """The next complete frame, or None until more octets come; raises WireError for a broken stream.

        The way of a plain frame is written out here, since every octet of a run goes through it.
        """
        buffer, start = self._buffer, self._start
        if self._greets and len(buffer) > start:
            if buffer[start] == self._first and self._is_greeting():
                return self._greeting()
            self._greets = self._anywhere
        begin = start + self._header_octets
        if len(buffer) < begin:
            if self._error is not None:
                # Without its way here: each time it is raised, that would keep what the caller held.
                raise self._error.with_traceback(None)
            return None
        values = self._unpack(buffer, start)
        size = values[self._size]
        end = start + size + self._uncounted
        if not self._least <= size <= self._most:
            long = self._long_header(size)
            if long is None:
                return None
            values, begin, end = long
        if self._word_octets:
            least, begin = begin, start + values[self._doff] * self._word_octets
            if not least <= begin <= end:
                raise self._misplaced(values[self._doff], end - start)
        if len(buffer) < end:
            return None
        if self._end is not None and buffer[end - 1] != self._end:
            raise self._broken(
                end - 1 - start, f"0x{self._end:02X}", f"end octet 0x{buffer[end - 1]:02X}", Kind.FRAMING
            )
        frame = self._frame(values, start, begin, end)
        self._start = end
        self.offset += end - start
        return frame

    def take(self, octets: int) -> bytes | None:
        """The octets between frames, as many as a frame announced; None until all of them have arrived."""
        if self.pending_octets < octets:
            return None
        taken = bytes(self._buffer[self._start : self._start + octets])
        self._start += octets
        self.offset += octets
        return taken

    def _long_header(self, size: int) -> tuple[tuple[int, ...], int, int] | None:
        """Values, begin and end of a frame whose size is escaped, None until its header is there.

        Raises WireError for a size, short or long, that is too small or too large.
        """
        layout, begin = self.layout, self._start + self._header_octets
        if size != layout.escape:
            raise self._out_of_bounds(size)
        # A long size below the escape is read as well: texts differ on whether it may be written.
        begin += layout.long_size_octets
        if len(self._buffer) < begin:
            return None
        values = header_struct(layout.long_header).unpack_from(self._buffer, self._start)
        values = values[: self._size] + values[self._size + 1 :]
        size = values[self._size]
        if not self._least <= size <= self._max_size:
            raise self._out_of_bounds(size)
        uncounted = 0 if layout.counts is Counts.FRAME else self._uncounted + layout.long_size_octets
        return values, begin, self._start + uncounted + size

    # --- greetings

    def _is_greeting(self) -> bool:
        """Whether what has arrived can be a protocol header; raises WireError if it can be nothing else and is none."""
        greeting = self.layout.greeting
        begins = self._buffer[self._start : self._start + len(greeting.magic)]
        if greeting.magic.startswith(begins):
            return True
        if greeting.decisive:
            at = next(at for at, octet in enumerate(begins) if octet != greeting.magic[at])
            name = repr(greeting.magic.decode()) if greeting.magic.isalpha() else greeting.magic.hex(" ")
            raise self._broken(at, f"{name} or a frame", f"octet 0x{begins[at]:02X}")
        return False

    def _greeting(self) -> ProtocolHeader | None:
        """The protocol header that stands there, None until it is complete."""
        length = self.layout.greeting.length_octets
        if self.pending_octets < length:
            return None
        header = ProtocolHeader(bytes(self._buffer[self._start : self._start + length]), self.offset)
        self._start += length
        self.offset += length
        self._greets = self._anywhere
        return header

    # --- lost framing

    def _out_of_bounds(self, size: int) -> WireError:
        counted = "a payload of " if self.layout.counts is Counts.PAYLOAD else ""
        least, most = f"a size of at least {self._least}", f"{counted}at most {self._max_size} octets"
        return self._broken(0, least if size < self._least else most, f"size {size} announced")

    def _misplaced(self, doff: int, frame_octets: int) -> WireError:
        most = frame_octets // self._word_octets
        at = self.layout.offset_of("doff")
        expected = f"a data offset from {self.layout.min_doff} to {most}, for size {frame_octets}"
        return self._broken(at, expected, f"data offset {doff}")

    def _broken(self, at: int, expected: str, actual: str, kind: Kind = Kind.OTHER) -> WireError:
        """The error at an octet of the frame that begins the buffer; from here on every ``next`` raises it."""
        window = hex_window(self._buffer[self._start :], at)
        self._error = WireError(f"frame of {self.name}", self.offset + at, expected, actual, window, kind)
        self._buffer.clear()
        self._start = 0
        return self._error


class CutFrame(NamedTuple):
    """One frame by its layout alone: the values of its header's fields in their order, and its payload."""

    values: tuple[int, ...]
    payload: bytes
    offset: int = 0


class PlainReader(Reader[CutFrame]):
    """A reader for a dialect that needs only its layout."""

    def _frame(self, values: tuple[int, ...], start: int, begin: int, end: int) -> CutFrame:
        return CutFrame(values, bytes(self._buffer[begin : end - self.layout.end_octets]), self.offset)
