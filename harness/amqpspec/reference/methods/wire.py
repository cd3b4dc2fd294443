"""Octets as the broker reads and writes them: frames out of a stream, methods and contents into frames.

Knows: the frame layout, the tables of the dialect served, which broken octets break which rule. Must not know: what
a method means. Frames are cut here and not by the codec's reader, so that the two sides of a conversation are
implemented independently.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from amqpspec.reference.deviations import NONE, Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import FrameLayout, Method, load_methods
from amqpspec.wire.errors import Kind, WireError
from amqpspec.wire.methods.codec import Call, Codec, ContentHeader
from amqpspec.wire.values import Raw, Table, Typed, plain

_MAX_NAME_OCTETS = 128
_WIDTHS = {1: "B", 2: "H", 4: "I"}

Refuse = Callable[[str, str], None]


@dataclass(slots=True)
class Incoming:
    """One frame as received; ``kind`` is the name of its type, or ``type-N`` for one that is not defined."""

    kind: str
    channel: int
    payload: bytes
    ended: bool = True


class Framing:
    """One dialect's frames as octets, out of its layout."""

    def __init__(self, layout: FrameLayout) -> None:
        self.layout = layout
        self.overhead_octets, self.min_octets = layout.overhead_octets, layout.min_size_octets
        self._struct = struct.Struct(">" + "".join(_WIDTHS[width] for _, width in layout.header))
        self._pack, self.head_octets = self._struct.pack, layout.header_octets
        names = [name for name, _ in layout.header]
        self._places = tuple(names.index(name) for name in ("type", "channel", "size"))
        self.cycle_place = names.index("cycle") if "cycle" in names else None
        self.kinds = {code: name for name, code in layout.types.items()}
        self._end = bytes((layout.end,))

    def frame(self, kind: str, channel: int, payload: bytes) -> bytes:
        """One frame; its cycle, if there is one, is 0."""
        code, size = self.layout.types[kind], len(payload)
        if self.cycle_place is None:
            return self._pack(code, channel, size) + payload + self._end
        return self._pack(code, 0, channel, size) + payload + self._end

    def kind_of(self, octets: bytes) -> str:
        """The name of the type with which a frame begins."""
        return self.kinds.get(octets[0], f"type-{octets[0]}")

    def head(self, octets: bytes | bytearray) -> tuple[str, int, int, int]:
        """The name of the type, channel, size and cycle of the frame that begins here."""
        values = self._struct.unpack_from(octets)
        code, channel, size = (values[place] for place in self._places)
        cycle = 0 if self.cycle_place is None else values[self.cycle_place]
        return self.kinds.get(code, f"type-{code}"), channel, size, cycle

    def bodies(self, channel: int, body: bytes, max_frame_octets: int) -> list[bytes]:
        """A body in as many frames as it takes; none if it is empty."""
        step = max_frame_octets - self.overhead_octets
        return [self.frame("body", channel, body[at : at + step]) for at in range(0, len(body), step)]


@cache
def framing_of(dialect_id: str) -> Framing:
    """The framing of a dialect, made once."""
    return Framing(load_methods(dialect_id).layout)


class Splitter:
    """Cuts a stream into frames; says what is wrong with one before it looks inside."""

    def __init__(
        self,
        refuse: Refuse,
        framing: Framing,
        max_frame_octets: int = 0,
        faulty: Callable[[str], bool] = NONE.faulty,
    ) -> None:
        self._refuse, self._faulty, self._framing = refuse, faulty, framing
        self._buffer = bytearray()
        self._checked = False
        self.max_frame_octets = max_frame_octets or framing.min_octets
        self.forgives: Callable[[int], bool] = lambda octets: False
        """Whether a frame may be this many octets larger than agreed."""

    @property
    def inside(self) -> bool:
        """Whether a frame has begun that must be complete before anything else can be read."""
        return self._checked

    def feed(self, octets: bytes) -> None:
        """Take octets in."""
        self._buffer += octets

    def next(self) -> Incoming | None:
        """The next whole frame, or None until more octets come."""
        buffer, head_octets = self._buffer, self._framing.head_octets
        if len(buffer) < head_octets:
            return None
        kind, channel, size, cycle = self._framing.head(buffer)
        late = self._faulty("frame-size-checked-at-its-end")
        if not (self._checked or late):
            self._check_start(kind, size, cycle)
        whole = size + self._framing.overhead_octets
        if len(buffer) < whole:
            return None
        if late:
            self._check_start(kind, size, cycle)
        payload, end = bytes(buffer[head_octets : whole - 1]), buffer[whole - 1]
        del buffer[:whole]
        self._checked = False
        right = end == self._framing.layout.end
        if not right and not self._faulty("frame-decoded-before-its-end"):
            self._refuse("amq_wlp_frame_02", f"frame ends with octet {end:#04x}")
        return Incoming(kind, channel, payload, right)

    def _check_start(self, kind: str, size: int, cycle: int) -> None:
        self._checked = True
        if kind not in self._framing.layout.types or self._overlooks(kind, cycle):
            self._refuse("amq_wlp_frame_01", f"frame of {kind}, cycle {cycle}")
        whole = size + self._framing.overhead_octets
        beyond = whole - self.max_frame_octets
        if beyond > 0 and not self.forgives(beyond):
            self._refuse("amq_wlp_frame_03", f"frame of {whole} octets")

    def _overlooks(self, kind: str, cycle: int) -> bool:
        """Whether a fault takes a good frame for one of an undefined type."""
        if cycle and self._faulty("cycle-must-be-zero"):
            return True
        return kind == "trace" and self._faulty("trace-type-unknown")


@cache
def served_codec(dialect_id: str) -> Codec:
    """The codec of what this broker serves: the dialect's tags and headers, with every extension's methods."""
    dialect, spoken = load_methods(dialect_id), load_methods(widest(dialect_id))
    tags = {tag.tag: tag for tag in (*spoken.table_tags, *dialect.table_tags)}
    return Codec(
        replace(
            spoken,
            id=dialect_id,
            protocol_header=dialect.protocol_header,
            accepted_headers=dialect.accepted_headers,
            table_tags=tuple(tags.values()),
        )
    )


def encode(codec: Codec, name: str, args: Mapping[str, Any], on: Deviations) -> bytes:
    """A method as a payload."""
    if on.faulty("bits-from-the-high-end"):
        bits = {f.key for f in codec.dialect.methods[name].fields if f.type == "bit"}
        args = {k: Raw(b"\x80" if v else b"\x00") if k in bits else v for k, v in args.items()}
    return codec.encode_method(name, args)


def rule_broken_by(error: WireError, method: Method | None) -> str:
    """Which rule a payload breaks that cannot be read."""
    if error.kind is Kind.TRAILING:
        return "wire/method/trailing-octets" if method else "constant/frame-error"
    own = {name for f in method.fields for name in (f.key, f.name)} if method else set()
    first = error.where.removeprefix("bits ").partition(",")[0]
    if method and first in own:
        return "wire/method/truncated-arguments"
    return "wire/table/malformed" if error.where in _TABLE_PARTS else "constant/frame-error"


_TABLE_PARTS = frozenset((
    "table", "array", "field name", "field value", "boolean", "float", "double", "timestamp", "decimal", "shortstr",
    "longstr", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
))  # fmt: skip


def check_values(values: Mapping[str, Any], refuse: Refuse, signs: str) -> None:
    """Short strings hold no zero octet; names in tables are names, which may have these signs, too."""
    for key, value in values.items():
        if isinstance(value, str):
            if "\x00" in value:
                refuse("wire/strings/shortstr-zero-octet", f"{key} holds a zero octet")
        elif isinstance(value, Table) and value:
            _check_table(value, refuse, signs)


def _check_table(table: Table, refuse: Refuse, signs: str) -> None:
    for name, typed in table:
        if not _is_field_name(name, signs):
            refuse("amq_wlp_table_01", f"field name {name[:40]!r}")
        _check_nested(typed.value, refuse, signs)


def _check_nested(value: Any, refuse: Refuse, signs: str) -> None:
    if isinstance(value, Table):
        _check_table(value, refuse, signs)
    elif isinstance(value, list):
        for item in value:
            _check_nested(item.value if isinstance(item, Typed) else item, refuse, signs)


def _is_field_name(name: str, signs: str) -> bool:
    """The rule, widened by the signs that the same specification or clients in use have in names."""
    head, octets = name[:1], len(name.encode("utf-8", "surrogateescape"))
    return (
        octets <= _MAX_NAME_OCTETS
        and (head.isalpha() or head in ("$", "#"))
        and all(c.isalnum() or c in "$#_" or c in signs for c in name)
    )


def any_field(values: Mapping[str, Any], wanted: Callable[[str, Typed], bool]) -> bool:
    """Whether a table among the values has such a field, not counting nested tables."""
    tables = (value for value in values.values() if isinstance(value, Table))
    return any(wanted(name, typed) for table in tables for name, typed in table)


def counting(table: Table, faulty: Callable[[str], bool]) -> list[tuple[str, Typed]]:
    """The fields of a table that count: of those with one name, the first."""
    if faulty("all-duplicates-count"):
        return list(table)
    fields = reversed(table) if faulty("last-duplicate-counts") else iter(table)
    chosen: dict[str, Typed] = {}
    for name, typed in fields:
        chosen.setdefault(name, typed)
    return list(chosen.items())


def plain_fields(table: Table, faulty: Callable[[str], bool]) -> dict[str, Any]:
    """The values of a table that count, by name and without their tags."""
    return {name: plain(typed) for name, typed in counting(table, faulty)}


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


FAULTS = fault_table("""
frame-decoded-before-its-end: a frame is carried out before its end octet is checked [amq_wlp_frame_02]
frame-size-checked-at-its-end: the size of a frame is checked only when it is complete [amq_wlp_frame_03]
bits-from-the-high-end: bits are packed from the high end of an octet [wire/bits/packing]
cycle-must-be-zero: a frame with another cycle than 0 ends the socket
trace-type-unknown: a trace frame ends the socket as one of an undefined type
last-duplicate-counts: of fields with one name the last counts
all-duplicates-count: of fields with one name all count
""")
