"""Frames of AMQP 1.0: octets in, frames out, at any granularity; performatives to frames, legal or not.

Knows: the frame layout, and that a body is a performative and a payload. Must not know: states, sockets, time.
Bounded: a frame that announces more than ``max_frame_octets`` is an error before the rest of it is stored.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from amqpspec.spec.amqp_1_0 import DIALECT, HEADERS, LAYOUT
from amqpspec.wire.amqp_1_0.composites import READERS, Performative, Problem, not_composed
from amqpspec.wire.amqp_1_0.performatives import encode_composite, encode_fields
from amqpspec.wire.errors import EncodeError, WireError, hex_window
from amqpspec.wire.greeting import ProtocolHeader

__all__ = [
    "EMPTY_FRAME", "HEADERS", "Performative", "ProtocolHeader", "RawFrame", "TypedFrame", "TypedReader", "decode_frame",
    "encode_frame", "header_id", "performative_frame",
]  # fmt: skip

HEADER_OCTETS = LAYOUT.header_octets
AMQP_FRAME, SASL_FRAME = LAYOUT.types["amqp"], LAYOUT.types["sasl"]
_MAGIC = b"AMQP"
_MAGIC_SIZE = int.from_bytes(_MAGIC, "big")
_HEAD = struct.Struct(">IBBH")
_MIN_DOFF = LAYOUT.min_doff
_IDS = {octets: name for name, octets in HEADERS.items()}
_FRAME_TYPES = {
    **{row.name: AMQP_FRAME for row in DIALECT.performatives},
    **{row.name: SASL_FRAME for row in DIALECT.sasl_frames},
}


class RawFrame(NamedTuple):
    """One frame, its body uninterpreted; ``offset`` is where it began in the stream, ``octets`` the whole of it."""

    frame_type: int
    channel: int
    body: bytes
    offset: int
    octets: bytes
    doff: int


class TypedFrame(NamedTuple):
    """One frame with what its body holds.

    ``performative`` is None for an empty frame, for a type that is not defined, and where ``error`` says why the
    body cannot be read; ``payload`` is what follows the performative, or the whole body where there is none.
    """

    frame_type: int
    channel: int
    performative: Performative | None
    payload: bytes
    offset: int = 0
    error: WireError | None = None
    octets: bytes = b""
    doff: int = _MIN_DOFF

    @property
    def name(self) -> str:
        """The performative's name, or ``empty``, ``unreadable``, ``type-N``."""
        if self.performative is not None:
            return self.performative.row.name
        if self.error is not None:
            return "unreadable"
        known = self.frame_type in (AMQP_FRAME, SASL_FRAME)
        return "empty" if known else LAYOUT.type_name(self.frame_type)

    def __repr__(self) -> str:
        what = repr(self.performative) if self.performative is not None else self.name
        why = f", {self.error}" if self.error else ""
        return f"TypedFrame({what}, channel {self.channel}, payload of {len(self.payload)} octets{why})"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the specification says against what the frame holds; an unreadable body is told by ``error``."""
        if self.performative is None:
            bare = self.frame_type == SASL_FRAME and self.error is None
            return (Problem("SASL frame", "a body", "none"),) if bare else ()
        found = list(self.performative.problems)
        wanted = _FRAME_TYPES[self.name]
        if wanted != self.frame_type:
            actual = f"frame type {LAYOUT.type_name(self.frame_type)}"
            found.insert(0, Problem(self.name, f"frame type {LAYOUT.type_name(wanted)}", actual))
        if self.payload and self.name != "transfer":
            found.append(Problem(self.name, "no payload", f"{len(self.payload)} octets"))
        return tuple(found)


def header_id(octets: bytes) -> str | None:
    """What a protocol header of this version begins: ``amqp``, ``tls`` or ``sasl``; None for any other octets."""
    return _IDS.get(bytes(octets))


# --- writing


def encode_frame(
    body: bytes,
    channel: int = 0,
    frame_type: int = AMQP_FRAME,
    *,
    size: int | None = None,
    doff: int | None = None,
    extended: bytes = b"",
) -> bytes:
    """A frame as octets; ``size`` and ``doff`` lie where they are given. EncodeError for what does not fit."""
    word = LAYOUT.doff_word_octets
    if doff is None:
        if len(extended) % word:
            raise EncodeError("extended header", f"a multiple of {word} octets", f"{len(extended)} octets")
        doff = _MIN_DOFF + len(extended) // word
    told = HEADER_OCTETS + len(extended) + len(body) if size is None else size
    try:
        return _HEAD.pack(told, doff, frame_type, channel) + extended + body
    except struct.error as error:
        actual = f"size {told} doff {doff} type {frame_type} channel {channel}"
        raise EncodeError("frame header", "numbers of 4, 1, 1 and 2 octets", actual) from error


EMPTY_FRAME = encode_frame(b"")
"""What is sent so that a connection does not fall silent."""


def performative_frame(
    performative: str,
    /,
    channel: int = 0,
    *,
    payload: bytes = b"",
    frame_type: int | None = None,
    size: int | None = None,
    doff: int | None = None,
    extended: bytes = b"",
    encoding: str | None = None,
    descriptor: Any = None,
    extra: Iterable[Any] = (),
    list_size: int | None = None,
    list_count: int | None = None,
    **fields: Any,
) -> bytes:
    """A performative with its fields as a frame, in a SASL frame where it belongs there.

    ``size``, ``doff``, ``extended`` and ``frame_type`` are as in ``encode_frame``; ``encoding``, ``descriptor``,
    ``extra``, ``list_size`` and ``list_count`` as in ``encode_composite``. Raises KeyError, TypeError, EncodeError.
    """
    if encoding is None and descriptor is None and list_size is None and list_count is None and not extra:
        body = encode_fields(performative, fields)
    else:
        body = encode_composite(
            performative,
            encoding=encoding,
            descriptor=descriptor,
            extra=extra,
            size=list_size,
            count=list_count,
            **fields,
        )
    kind = _FRAME_TYPES.get(performative, AMQP_FRAME) if frame_type is None else frame_type
    if size is None and doff is None and not extended and 0 <= channel < 65_536 and 0 <= kind < 256:
        return _HEAD.pack(HEADER_OCTETS + len(body) + len(payload), _MIN_DOFF, kind, channel) + body + payload
    return encode_frame(body + payload, channel, kind, size=size, doff=doff, extended=extended)


# --- reading


def decode_frame(raw: RawFrame) -> TypedFrame:
    """What a frame's body holds; never raises: what cannot be read is told by ``error``."""
    frame_type, channel, body, offset, octets, doff = raw
    if not body or frame_type not in (AMQP_FRAME, SASL_FRAME):
        return TypedFrame(frame_type, channel, None, body, offset, None, octets, doff)
    try:
        value, end = READERS.read(body)
        if isinstance(value, Performative):
            return TypedFrame(frame_type, channel, value, body[end:], offset, None, octets, doff)
        error = not_composed(value, body, 0)
    except WireError as unread:
        error = unread
    error = error.moved(f"performative: {error.where}", offset + len(octets) - len(body))
    return TypedFrame(frame_type, channel, None, body, offset, error, octets, doff)


class TypedReader:
    """An incremental reader of one direction of a connection.

    Feed octets as they come; ``next`` gives frames as they become complete, and protocol headers wherever a frame could
    begin. After a WireError the reader stays broken: framing is lost. ``max_frame_octets`` may be set at any time.
    """

    def __init__(self, *, max_frame_octets: int = 1 << 20, name: str = "server→client") -> None:
        self._buffer = bytearray()
        self._start = 0
        self._error: WireError | None = None
        self.name = name
        self.max_frame_octets = max_frame_octets
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

    def next(self) -> TypedFrame | ProtocolHeader | None:
        """The next complete frame, or None until more octets come; raises WireError for a broken stream."""
        item = self.next_raw()
        return decode_frame(item) if isinstance(item, RawFrame) else item

    def next_raw(self) -> RawFrame | ProtocolHeader | None:
        """``next``, with the body as it is."""
        buffer, start = self._buffer, self._start
        if len(buffer) - start < HEADER_OCTETS:
            if self._error is not None:
                raise self._error
            return None
        size, doff, frame_type, channel = _HEAD.unpack_from(buffer, start)
        begin = doff * 4
        if not HEADER_OCTETS <= begin <= size <= self.max_frame_octets or size == _MAGIC_SIZE:
            return self._not_a_frame(start, size, doff)
        end = start + size
        if len(buffer) < end:
            return None
        octets = bytes(buffer[start:end])
        frame = RawFrame(frame_type, channel, octets[begin:], self.offset, octets, doff)
        self._start = end
        self.offset += size
        return frame

    def _not_a_frame(self, start: int, size: int, doff: int) -> ProtocolHeader:
        """The protocol header that stands there; raises WireError where none does."""
        if self._buffer.startswith(_MAGIC, start):
            header = ProtocolHeader(bytes(self._buffer[start : start + HEADER_OCTETS]), self.offset)
            self._start += HEADER_OCTETS
            self.offset += HEADER_OCTETS
            return header
        if size < HEADER_OCTETS:
            raise self._broken(0, f"a size of at least {HEADER_OCTETS}", f"size {size} announced")
        if size > self.max_frame_octets:
            raise self._broken(0, f"at most {self.max_frame_octets} octets", f"size {size} announced")
        expected = f"a data offset from {_MIN_DOFF} to {size // LAYOUT.doff_word_octets}, for size {size}"
        raise self._broken(4, expected, f"data offset {doff}")

    def _broken(self, at: int, expected: str, actual: str) -> WireError:
        window = hex_window(self._buffer[self._start :], at)
        self._error = WireError(f"frame of {self.name}", self.offset + at, expected, actual, window)
        self._buffer.clear()
        self._start = 0
        return self._error
