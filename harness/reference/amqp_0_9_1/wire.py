"""Octets of 0-9-1 as the broker reads and writes them: frames out of a stream, methods and contents into frames.

Knows: the frame layout, the tables of the dialect served, which broken octets break which rule.
Must not know: what a method means. Frames are cut here and not by the codec's reader, so that each side of a
conversation has its own opinion of where a frame ends.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from harness.reference.deviations import NONE, Deviations
from harness.spec.dialects import load_methods
from harness.spec.model import Method
from harness.wire.errors import WireError
from harness.wire.methods import Call, Codec, ContentHeader
from harness.wire.values import Raw, Table, Typed

METHOD, HEADER, BODY, HEARTBEAT = 1, 2, 3, 8
FRAME_END, OVERHEAD_OCTETS, MIN_FRAME_OCTETS = 0xCE, 8, 4096
_FRAME = struct.Struct(">BHI")
_TYPES = frozenset((METHOD, HEADER, BODY, HEARTBEAT))
_END = bytes((FRAME_END,))
_MAX_NAME_OCTETS = 128

Refuse = Callable[[str, str], None]


@dataclass(slots=True)
class Incoming:
    """One frame as it came."""

    type: int
    channel: int
    payload: bytes
    ended: bool = True


class Splitter:
    """Cuts a stream into frames; says what is wrong with one before it looks inside."""

    def __init__(
        self,
        refuse: Refuse,
        max_frame_octets: int = MIN_FRAME_OCTETS,
        faulty: Callable[[str], bool] = NONE.faulty,
    ) -> None:
        self._refuse, self._faulty = refuse, faulty
        self._buffer = bytearray()
        self._checked = False
        self.max_frame_octets = max_frame_octets

    @property
    def inside(self) -> bool:
        """Whether a frame has begun of which more has to come before anything else can be heard."""
        return self._checked

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        self._buffer += octets

    def next(self) -> Incoming | None:
        """The next whole frame, or None until more octets come."""
        buffer = self._buffer
        if len(buffer) < _FRAME.size:
            return None
        kind, channel, size = _FRAME.unpack_from(buffer)
        late = self._faulty("frame-size-checked-at-its-end")
        if not (self._checked or late):
            self._check_start(kind, size)
        if len(buffer) < size + OVERHEAD_OCTETS:
            return None
        if late:
            self._check_start(kind, size)
        payload, end = bytes(buffer[_FRAME.size : _FRAME.size + size]), buffer[_FRAME.size + size]
        del buffer[: size + OVERHEAD_OCTETS]
        self._checked = False
        if end != FRAME_END and not self._faulty("frame-decoded-before-its-end"):
            self._refuse("amq_wlp_frame_02", f"frame ends with octet {end:#04x}")
        return Incoming(kind, channel, payload, end == FRAME_END)

    def _check_start(self, kind: int, size: int) -> None:
        self._checked = True
        if kind not in _TYPES:
            self._refuse("amq_wlp_frame_01", f"frame type {kind}")
        if size + OVERHEAD_OCTETS > self.max_frame_octets:
            self._refuse("amq_wlp_frame_03", f"frame of {size + OVERHEAD_OCTETS} octets")


@cache
def served_codec(dialect_id: str) -> Codec:
    """The codec of what this broker serves: the dialect's tags and headers, with every extension's methods."""
    dialect = load_methods(dialect_id)
    widest = load_methods("rabbitmq-0-9-1")
    tags = {tag.tag: tag for tag in (*widest.table_tags, *dialect.table_tags)}
    return Codec(
        replace(
            widest,
            id=dialect_id,
            table_tags=tuple(tags.values()),
            accepted_headers=dialect.accepted_headers,
        )
    )


def frame(kind: int, channel: int, payload: bytes) -> bytes:
    """One frame as octets."""
    return _FRAME.pack(kind, channel, len(payload)) + payload + _END


def content_frames(channel: int, header: bytes, body: bytes, max_frame_octets: int) -> list[bytes]:
    """A content as frames: its header, and its body in as many as it takes."""
    step = max_frame_octets - OVERHEAD_OCTETS
    bodies = (body[at : at + step] for at in range(0, len(body), step))
    return [frame(HEADER, channel, header), *(frame(BODY, channel, part) for part in bodies)]


def encode(codec: Codec, name: str, args: Mapping[str, Any], on: Deviations) -> bytes:
    """A method as a payload."""
    if on.faulty("bits-from-the-high-end"):
        bits = {f.key for f in codec.dialect.methods[name].fields if f.type == "bit"}
        args = {k: Raw(b"\x80" if v else b"\x00") if k in bits else v for k, v in args.items()}
    return codec.encode_method(name, args)


def rule_broken_by(error: WireError, method: Method | None) -> str:
    """Which rule a payload breaks that cannot be read."""
    if error.expected.startswith("the end of the"):
        return "wire/method/trailing-octets" if method else "constant/frame-error"
    own = {name for f in method.fields for name in (f.key, f.name)} if method else set()
    first = error.where.removeprefix("bits ").partition(",")[0]
    if method and first in own:
        return "wire/method/truncated-arguments"
    return "wire/table/malformed" if error.where in _TABLE_PARTS else "constant/frame-error"


_TABLE_PARTS = {
    "table",
    "array",
    "field name",
    "field value",
    "boolean",
    "float",
    "double",
    "timestamp",
    "decimal",
}
_TABLE_PARTS |= {
    "shortstr",
    "longstr",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
}


def check_values(values: Mapping[str, Any], refuse: Refuse) -> None:
    """Short strings hold no zero octet; names in tables are names."""
    for key, value in values.items():
        if isinstance(value, str):
            if "\x00" in value:
                refuse("wire/strings/shortstr-zero-octet", f"{key} holds a zero octet")
        elif isinstance(value, Table) and value:
            _check_table(value, refuse)


def _check_table(table: Table, refuse: Refuse) -> None:
    for name, typed in table:
        if not _is_field_name(name):
            refuse("amq_wlp_table_01", f"field name {name[:40]!r}")
        _check_nested(typed.value, refuse)


def _check_nested(value: Any, refuse: Refuse) -> None:
    if isinstance(value, Table):
        _check_table(value, refuse)
    elif isinstance(value, list):
        for item in value:
            _check_nested(item.value if isinstance(item, Typed) else item, refuse)


def _is_field_name(name: str) -> bool:
    """The rule, widened by hyphen and period: ``x-match`` of the same specification has one, capabilities the other."""
    head, octets = name[:1], len(name.encode("utf-8", "surrogateescape"))
    return (
        octets <= _MAX_NAME_OCTETS
        and (head.isalpha() or head in ("$", "#"))
        and all(c.isalnum() or c in "$#_-." for c in name)
    )


def any_field(values: Mapping[str, Any], wanted: Callable[[str, Typed], bool]) -> bool:
    """Whether a table among the values has such a field, not counting nested tables."""
    tables = (value for value in values.values() if isinstance(value, Table))
    return any(wanted(name, typed) for table in tables for name, typed in table)


def flags_reversed(call: Call) -> Call:
    """The call with the values of its bits in reverse order."""
    bits = [f.key for f in call.method.fields if f.type == "bit"]
    flags = dict(zip(bits, [call.args[key] for key in reversed(bits)], strict=True))
    return Call(call.method, {**call.args, **flags})


def without_arrays(codec: Codec, octets: bytes) -> bytes:
    """A content header without the arrays of its headers table."""
    header = codec.decode_header(octets)
    headers = header.properties.get("headers")
    if headers is None:
        return octets
    kept = Table((name, typed) for name, typed in headers if typed.tag != "A")
    properties = {**header.properties, "headers": kept}
    return codec.encode_header(ContentHeader(header.class_id, header.body_size_octets, properties))
