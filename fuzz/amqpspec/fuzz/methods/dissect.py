"""Recorded octets of the 0-9 family as trees, as fine as the grammar has them: frames, fields, tables.

Knows: how the tables' rows are encoded on the wire. Must not know: where octets come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from amqpspec.fuzz.inputs.cursor import MAX_DEPTH, Cursor, Unreadable, at_end, cut, sure
from amqpspec.fuzz.methods.grammar import WIDTHS_OCTETS, field_node, primitive, table_of
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, number, size_of
from amqpspec.spec.methods import Field, MethodDialect, TypeTag
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.frames import Frame, FrameReader, header_struct

_MAX_OCTETS = 1 << 24
_STRINGS = {"shortstr": 1, "longstr": 4, "bytes": 4}


def frames(dialect: MethodDialect, octets: bytes) -> Iterator[Node]:
    """Frames whose sizes follow their payloads, and what is none as it is."""
    names = [name for name, _ in dialect.layout.header]
    roles = {"type": Role.FRAME_TYPE, "channel": Role.CHANNEL, "cycle": Role.CYCLE}
    done = 0
    for item, start, end in cut(FrameReader(dialect.layout, max_payload_octets=_MAX_OCTETS), octets):
        done = end
        if isinstance(item, ProtocolHeader):
            yield leaf("protocol-header", Role.VERSION, item.octets)
            continue
        assert isinstance(item, Frame)
        values = dict(zip(names, header_struct(dialect.layout).unpack_from(octets, start), strict=True))
        header = [
            size_of(width, "payload", kind="frame")
            if name == "size"
            else number(name, roles[name], width, values[name])
            for name, width in dialect.layout.header
        ]
        closing = number("end", Role.END, 1, dialect.layout.end)
        yield group("frame", *header, _payload(dialect, item), closing, kind="frame")
    if done < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[done:])


def _payload(dialect: MethodDialect, frame: Frame) -> Node:
    kind = next((name for name, code in dialect.layout.types.items() if code == frame.type), "")
    parts = _parts(dialect, kind, frame.payload)
    return leaf("payload", Role.OPAQUE, frame.payload) if parts is None else group("payload", *parts)


def _parts(dialect: MethodDialect, kind: str, payload: bytes) -> tuple[Node, ...] | None:
    """The parts of a method's or content header's payload, or None if it cannot be read."""
    read = {"method": _method, "header": _header}.get(kind)
    if read is None:
        return None
    return sure(lambda: tuple(read(dialect, Cursor(payload))), payload)


def _method(dialect: MethodDialect, cursor: Cursor) -> Iterator[Node]:
    ids = (cursor.number(2), cursor.number(2))
    method = dialect.methods_by_id[ids]
    yield number("class-id", Role.CLASS_ID, 2, ids[0])
    yield number("method-id", Role.METHOD_ID, 2, ids[1])
    yield group("args", *_fields(dialect, method.fields, cursor))
    at_end(cursor)


def _header(dialect: MethodDialect, cursor: Cursor) -> Iterator[Node]:
    index = cursor.number(2)
    row = next((c for c in dialect.classes if c.index == index), None)
    if row is None:
        raise Unreadable
    yield number("class-id", Role.CLASS_ID, 2, index)
    yield leaf("weight", Role.COUNT, cursor.take(2))
    yield leaf("body-size", Role.SIZE, cursor.take(8), "body")
    flags = cursor.take(2)
    word = int.from_bytes(flags, "big")
    yield leaf("flags", Role.FLAGS, flags)
    given = [f for place, f in enumerate(row.properties) if word & 0x8000 >> place and f.type != "bit"]
    yield group("properties", *_fields(dialect, given, cursor))
    at_end(cursor)


def _fields(dialect: MethodDialect, fields: Sequence[Field], cursor: Cursor) -> Iterator[Node]:
    for is_bit, run in groupby(fields, lambda f: f.type == "bit"):
        if is_bit:
            names = [f.name for f in run]
            yield leaf("+".join(names), Role.FLAGS, cursor.take((len(names) + 7) // 8), "bit")
        else:
            yield from (_field(dialect, f, cursor) for f in run)


def _field(dialect: MethodDialect, field: Field, cursor: Cursor) -> Node:
    if field.type == "table":
        return _table(dialect, field.name, cursor, 0)
    return field_node(dialect, field, _plain(field.type, cursor))


def _plain(kind: str, cursor: Cursor) -> bytes:
    """The octets of a value that holds no others; of a string, without its size."""
    if kind in _STRINGS:
        return cursor.take(cursor.number(_STRINGS[kind]))
    return cursor.take(WIDTHS_OCTETS[kind])


def _table(dialect: MethodDialect, name: str, cursor: Cursor, depth: int) -> Node:
    inner = Cursor(cursor.take(cursor.number(4)))
    entries = list[Node]()
    while inner.left:
        key = primitive("name", "shortstr", _plain("shortstr", inner))
        entries.append(group(f"entry-{len(entries)}", key, *_tagged(dialect, inner, depth), kind="entry"))
    return table_of(name, entries)


def _tagged(dialect: MethodDialect, cursor: Cursor, depth: int) -> tuple[Node, ...]:
    octet = cursor.take(1)
    tag = next((t for t in dialect.table_tags if t.tag.encode() == octet), None)
    if tag is None or depth > MAX_DEPTH:
        raise Unreadable
    return leaf("tag", Role.TYPE_TAG, octet, "tag"), *_tag_value(dialect, tag, cursor, depth)


def _tag_value(dialect: MethodDialect, tag: TypeTag, cursor: Cursor, depth: int) -> Iterator[Node]:
    if tag.primitive == "table":
        yield _table(dialect, "value", cursor, depth + 1)
    elif tag.primitive == "array":
        inner = Cursor(cursor.take(cursor.number(4)))
        items: list[Node] = []
        while inner.left:
            items.append(group(f"item-{len(items)}", *_tagged(dialect, inner, depth + 1)))
        yield group("value", size_of(4, "items", kind="array"), group("items", *items), kind="array")
    elif tag.primitive == "decimal":
        scale = leaf("scale", Role.NUMBER, cursor.take(1))
        yield group("value", scale, leaf("unscaled", Role.NUMBER, cursor.take(4)), kind="decimal")
    elif tag.primitive != "void":
        yield primitive("value", tag.primitive, _plain(tag.primitive, cursor))
