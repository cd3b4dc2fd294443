"""Recorded octets of AMQP 0-10 as trees: frames, and the fields of controls, commands and structs.

Knows: how the tables' rows are encoded on the wire. Must not know: where octets come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from amqpspec.fuzz.amqp_0_10.grammar import BY_NAME, MAKER
from amqpspec.fuzz.grammar import protocol_header
from amqpspec.fuzz.inputs.cursor import MAX_DEPTH, Cursor, Unreadable, at_end, sure
from amqpspec.fuzz.trees.tree import Node, Role, counted, group, leaf, number, size_of
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Category, Content, PackedField, Struct, WireType
from amqpspec.wire.amqp_0_10.frames import LAYOUT

_ROLES = {
    "flags": Role.FLAGS, "type": Role.FRAME_TYPE, "reserved-1": Role.NUMBER, "track": Role.NUMBER,
    "channel": Role.CHANNEL, "reserved-2": Role.NUMBER,
}  # fmt: skip
_KINDS = {"flags": "frame", "reserved-1": "reserved", "reserved-2": "reserved", "track": "track"}
_WHOLE_SEGMENT = 3


def frames(octets: bytes) -> Iterator[Node]:
    """Frames whose sizes follow their payloads, and what is none as it is."""
    at = 0
    if octets.startswith(DIALECT.protocol_header):
        at = len(DIALECT.protocol_header)
        yield protocol_header(DIALECT.protocol_header)
    while len(octets) - at >= LAYOUT.header_octets:
        size = int.from_bytes(octets[at + 2 : at + 4], "big")
        if not LAYOUT.header_octets <= size <= len(octets) - at:
            break
        yield _frame(octets[at : at + size])
        at += size
    if at < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[at:])


def _frame(octets: bytes) -> Node:
    cursor, parts = Cursor(octets), list[Node]()
    for name, width in LAYOUT.header:
        taken = cursor.number(width)
        if name == "size":
            parts.append(size_of(width, "payload", extra=LAYOUT.header_octets, kind="frame"))
        else:
            parts.append(number(name, _ROLES[name], width, taken, _KINDS.get(name, "")))
    payload = octets[cursor.at :]
    held = _payload(octets[1], payload) if octets[0] & _WHOLE_SEGMENT == _WHOLE_SEGMENT else None
    data = (leaf("data", Role.OPAQUE, payload),) if held is None else held
    return group("frame", *parts, group("payload", *data), kind="frame")


def _payload(kind: int, payload: bytes) -> tuple[Node, ...] | None:
    """The parts of a whole segment; None if it cannot be read."""
    types = LAYOUT.types
    if kind in (types["control"], types["command"]):
        return sure(lambda: tuple(_instruction(Cursor(payload), kind == types["command"])), payload)
    if kind == types["header"]:
        return sure(lambda: tuple(_structs(Cursor(payload))), payload)
    return None


def _instruction(cursor: Cursor, is_command: bool) -> Iterator[Node]:
    """A control or a command."""
    codes = cursor.number(1), cursor.number(1)
    row = DIALECT.commands_by_code[codes] if is_command else DIALECT.controls_by_code[codes]
    yield number("class-id", Role.CLASS_ID, 1, codes[0])
    yield number("method-id", Role.METHOD_ID, 1, codes[1])
    if is_command:
        held = leaf("packing", Role.FLAGS, cursor.take(cursor.number(1)), "packing")
        yield counted("session-header", 1, held, "session-header")
    yield from _packed(cursor, row.fields, LAYOUT.arguments_pack_octets, 0)
    at_end(cursor)


def _structs(cursor: Cursor) -> Iterator[Node]:
    """The structs of a header segment."""
    while cursor.left:
        yield _struct32("struct", cursor, 0)


def _packed(cursor: Cursor, fields: Sequence[PackedField], pack_octets: int, depth: int) -> list[Node]:
    """Packing flags, and the fields that they say are there."""
    flags = cursor.take(pack_octets)
    word = int.from_bytes(flags, "little")
    there = [f for at, f in enumerate(fields) if word >> at & 1 or not pack_octets]
    args = [_field(f, cursor, depth) for f in there if DIALECT.base(f.type) != "bit"]
    head = [leaf("packing", Role.FLAGS, flags, "packing")] if pack_octets else []
    return [*head, group("args", *args)]


def _field(field: PackedField, cursor: Cursor, depth: int) -> Node:
    base = DIALECT.base(field.type)
    if base in DIALECT.structs:
        row = DIALECT.structs[base]
        return _struct(field.name, row, cursor, depth + 1, row.size_octets)
    kind = DIALECT.types_by_name[base]
    return _value(field.name, kind, cursor, depth, BY_NAME.get(field.name))


def _struct32(name: str, cursor: Cursor, depth: int) -> Node:
    codes = cursor.octets[cursor.at + 4 : cursor.at + 6]
    row = DIALECT.structs_by_code.get((codes[0], codes[1])) if len(codes) == 2 else None
    if row is None:
        raise Unreadable
    return _struct(name, row, cursor, depth, 4)


def _struct(name: str, row: Struct, cursor: Cursor, depth: int, size_octets: int) -> Node:
    if depth > MAX_DEPTH:
        raise Unreadable
    inner = Cursor(cursor.take(cursor.number(size_octets))) if size_octets else cursor
    codes = [leaf("struct-code", Role.DESCRIPTOR, inner.take(2))] if row.code is not None else []
    held = [*codes, *_packed(inner, row.fields, row.pack_octets, depth)]
    if not size_octets:
        return group(name, *held, kind="struct")
    at_end(inner)
    return group(name, size_of(size_octets, *(p.name for p in held), kind="struct"), *held, kind="struct")


def _value(name: str, kind: WireType, cursor: Cursor, depth: int, role: Role | None = None) -> Node:
    """One value of a type."""
    if depth > MAX_DEPTH:
        raise Unreadable
    if kind.content is Content.STRUCT:
        return _struct32(name, cursor, depth + 1)
    if kind.category is Category.FIXED:
        return MAKER.value(name, kind, cursor.take(kind.width_octets), role)
    octets = cursor.take(cursor.number(kind.width_octets))
    if kind.content in (Content.MAP, Content.LIST, Content.ARRAY):
        return _held(name, kind, Cursor(octets), depth + 1)
    if kind.content in (Content.SEQUENCE_SET, Content.BYTE_RANGES):
        return _ranges(name, kind, Cursor(octets))
    return MAKER.value(name, kind, octets, role)


def _ranges(name: str, kind: WireType, cursor: Cursor) -> Node:
    width, found = (4 if kind.content is Content.SEQUENCE_SET else 8), list[tuple[int, int]]()
    while cursor.left:
        found.append((cursor.number(width), cursor.number(width)))
    return MAKER.ranges(name, kind, found)


def _held(name: str, kind: WireType, cursor: Cursor, depth: int) -> Node:
    """A map, a list or an array, in which each value takes an octet at least."""
    code: Any = _kind(cursor) if kind.content is Content.ARRAY else None
    count = cursor.number(4)
    if count > cursor.left:
        raise Unreadable
    if kind.content is Content.MAP:
        whole = MAKER.map_of(name, [_entry(cursor, depth) for _ in range(count)])
    elif kind.content is Content.LIST:
        whole = MAKER.list_of(name, [_item(n, cursor, depth) for n in range(count)])
    else:
        items = [_value(f"item-{n}", code, cursor, depth) for n in range(count)]
        whole = MAKER.array_of(name, code, [])
        size, octet, counts, held = whole.children
        whole = group(name, size, octet, counts, group(held.name, *items), kind=whole.kind)
    at_end(cursor)
    return whole


def _kind(cursor: Cursor) -> WireType:
    found = DIALECT.types_by_code.get(cursor.number(1))
    if found is None:
        raise Unreadable
    return found


def _item(place: int, cursor: Cursor, depth: int) -> Node:
    kind = _kind(cursor)
    return group(f"item-{place}", MAKER.code(kind), _value("value", kind, cursor, depth))


def _entry(cursor: Cursor, depth: int) -> Node:
    text = counted("name", 1, leaf("text", Role.TEXT, cursor.take(cursor.number(1))), "str8")
    return group("entry", text, *_item(0, cursor, depth).children, kind="entry")
