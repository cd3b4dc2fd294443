"""Frames of AMQP 1.0: octets in, frames out, at any granularity; performatives to frames, legal or not.

Knows: the frame layout, and that a body is a performative and a payload. Must not know: states, sockets, time.
Bounded: a frame that announces more than ``max_frame_octets`` is an error before the rest of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from amqpspec.spec.amqp_1_0 import DIALECT, HEADERS, LAYOUT
from amqpspec.wire.amqp_1_0.composites import READERS, Performative, Problem, not_composed
from amqpspec.wire.amqp_1_0.performatives import encode_composite, encode_fields
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.framing import F, Reader, encode, header_struct
from amqpspec.wire.greeting import ProtocolHeader

__all__ = [
    "EMPTY_FRAME", "HEADERS", "Performative", "ProtocolHeader", "RawFrame", "RawReader", "TypedFrame", "TypedReader",
    "decode_frame", "encode_frame", "header_id", "performative_frame",
]  # fmt: skip

HEADER_OCTETS = LAYOUT.header_octets
AMQP_FRAME, SASL_FRAME = LAYOUT.types["amqp"], LAYOUT.types["sasl"]
_pack = header_struct(LAYOUT.header).pack
_new = tuple.__new__
"""Makes a frame without the detour through its class's constructor."""
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
    body cannot be read; ``payload`` is what follows the performative, or the whole body if there is none.
    """

    frame_type: int
    channel: int
    performative: Performative | None
    payload: bytes
    offset: int = 0
    error: WireError | None = None
    octets: bytes = b""
    doff: int = LAYOUT.min_doff

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
        """What the specification says against what the frame holds; an unreadable body is reported by ``error``."""
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
    """A frame as octets; ``size`` and ``doff`` may be wrong if they are given. EncodeError for what does not fit."""
    word = LAYOUT.doff_word_octets
    if doff is None:
        if len(extended) % word:
            raise EncodeError("extended header", f"a multiple of {word} octets", f"{len(extended)} octets")
        doff = LAYOUT.min_doff + len(extended) // word
    values = {"doff": doff, "type": frame_type, "channel": channel}
    return encode(LAYOUT, values, body, extended=extended, size=size)


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
    """A performative with its fields as a frame, in a SASL frame if it belongs there.

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
        return (
            _pack(HEADER_OCTETS + len(body) + len(payload), LAYOUT.min_doff, kind, channel) + body + payload
        )
    return encode_frame(body + payload, channel, kind, size=size, doff=doff, extended=extended)


# --- reading


def decode_frame(raw: RawFrame) -> TypedFrame:
    """What a frame's body holds; never raises: what cannot be read is reported by ``error``."""
    frame_type, channel, body, offset, octets, doff = raw
    # An empty body keeps a connection alive (§2.4.5); what frames of other types hold is not defined (§2.3.1).
    if not body or frame_type not in (AMQP_FRAME, SASL_FRAME):
        return TypedFrame(frame_type, channel, None, body, offset, None, octets, doff)
    try:
        value, end = READERS.read(body)
        if isinstance(value, Performative):
            return TypedFrame(frame_type, channel, value, body[end:], offset, None, octets, doff)
        error = not_composed(value, body, 0)
    except WireError as unread:
        error = unread
    # A body that cannot be read does not spoil the framing: the size says where the next frame begins (§2.3.1).
    error = error.moved(f"performative: {error.where}", offset + len(octets) - len(body))
    return TypedFrame(frame_type, channel, None, body, offset, error, octets, doff)


class _Reader(Reader[F]):
    """An incremental reader of one direction of a connection: see ``Reader``.

    Protocol headers stand wherever a frame could begin, since each security layer is left for the next one (§2.2).
    """

    def __init__(self, *, max_frame_octets: int = 1 << 20, name: str = "server→client") -> None:
        super().__init__(LAYOUT, max_size=max_frame_octets, name=name)

    def _raw(self, values: tuple[int, ...], start: int, begin: int, end: int) -> RawFrame:
        octets = bytes(self._buffer[start:end])
        body = octets[begin - start :]
        return _new(RawFrame, (values[2], values[3], body, self.offset, octets, values[1]))


class RawReader(_Reader[RawFrame]):
    """Reads frames and leaves their bodies as they are."""

    _frame = _Reader._raw


class TypedReader(_Reader[TypedFrame]):
    """Reads frames and what their bodies hold."""

    def _frame(self, values: tuple[int, ...], start: int, begin: int, end: int) -> TypedFrame:
        return decode_frame(self._raw(values, start, begin, end))
