"""Recorded octets of AMQP 1.0 as trees, as fine as the grammar has them: frames, values, sections.

Knows: how the tables' rows are encoded on the wire. Must not know: where octets come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amqpspec.fuzz.amqp_1_0.grammar import MAKER, role_of_field
from amqpspec.fuzz.inputs.cursor import MAX_DEPTH, Cursor, Unreadable, at_end, cut, sure
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, number, size_of
from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Category, Composite, Encoding, TypedField
from amqpspec.wire.amqp_1_0.frames import RawFrame, RawReader

_MAX_OCTETS = 1 << 24


def frames(octets: bytes) -> Iterator[Node]:
    """Frames whose sizes follow their bodies, and what is none as it is."""
    done = 0
    for item, _, end in cut(RawReader(max_frame_octets=_MAX_OCTETS), octets):
        done = end
        if isinstance(item, RawFrame):
            extended = item.octets[8 : 4 * item.doff]
            spanned = ("doff", "type", "channel", "extended", "body", "payload")
            size = size_of(4, *spanned, extra=4, kind="frame")
            doff = size_of(1, "extended", name="doff", extra=8, unit=4, kind="frame")
            kind = number("type", Role.FRAME_TYPE, 1, item.frame_type)
            channel = number("channel", Role.CHANNEL, 2, item.channel)
            inside = _parts(item.body) or (leaf("body", Role.OPAQUE, item.body),)
            parts = (leaf("extended", Role.OPAQUE, extended), *inside)
            yield group("frame", size, doff, kind, channel, *parts, kind="frame")
        else:
            yield leaf("protocol-header", Role.VERSION, item.octets)
    if done < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[done:])


def _parts(body: bytes) -> tuple[Node, Node] | None:
    """A performative and what follows it in its frame, as groups ``body`` and ``payload``; None if there is none."""

    def read() -> tuple[Node, Node]:
        cursor = Cursor(body)
        performative = _value("performative", cursor)
        return group("body", performative), group("payload", *_payload(body[cursor.at :]))

    return sure(read, body)


def _payload(octets: bytes) -> list[Node]:
    """Sections, or octets as they are."""
    cursor, sections = Cursor(octets), list[Node]()
    try:
        while cursor.left:
            sections.append(_value(f"section-{len(sections)}", cursor))
    except (Unreadable, KeyError):
        return [leaf("octets", Role.OPAQUE, octets)]
    return sections


def _value(name: str, cursor: Cursor, role: Role | None = None, depth: int = 0) -> Node:
    """One value."""
    if depth > MAX_DEPTH:
        raise Unreadable
    code = cursor.number(1)
    if code == 0:
        return _described(name, cursor, depth + 1)
    encoding = _encoding(code)
    return MAKER.encoded(name, encoding, _body(encoding, cursor, (), depth), role)


def _encoding(code: int) -> Encoding:
    found = next((e for e in DIALECT.encodings.values() if e.code == code), None)
    if found is None:
        raise Unreadable
    return found


def _described(name: str, cursor: Cursor, depth: int) -> Node:
    zero = number("described", Role.TYPE_TAG, 1, 0, "constructor")
    begin = cursor.at
    descriptor = _value("descriptor", cursor, Role.DESCRIPTOR, depth)
    fields = _fields_of(cursor.octets[begin : cursor.at])
    if not fields or not cursor.left:
        return group(name, zero, descriptor, _value("value", cursor, None, depth), kind="described")
    encoding = _encoding(cursor.number(1))
    if DIALECT.primitive_of[encoding.code] != "list":
        fields = ()
    inner = MAKER.encoded("fields", encoding, _body(encoding, cursor, fields, depth))
    return group(name, zero, descriptor, inner, kind="described")


def _fields_of(descriptor: bytes) -> tuple[TypedField, ...]:
    """The fields that a descriptor announces; none if it names no composite."""
    constructor, number_octets = descriptor[:1], descriptor[1:]
    if DIALECT.primitive_of.get(constructor[0]) != "ulong":
        return ()
    row = DIALECT.described.get(int.from_bytes(number_octets, "big"))
    return row.fields if isinstance(row, Composite) else ()


def _body(encoding: Encoding, cursor: Cursor, fields: Sequence[TypedField], depth: int) -> bytes | list[Node]:
    """What ``Maker.encoded`` takes: octets, or the parts of a list, map or array."""
    width = encoding.width_octets
    if encoding.category is Category.FIXED:
        return cursor.take(width)
    inner = Cursor(cursor.take(cursor.number(width)))
    if encoding.category is Category.VARIABLE:
        return inner.octets
    count = inner.number(width)
    if encoding.category is Category.ARRAY:
        return _elements(inner, count, depth)
    if count > inner.left:
        raise Unreadable
    named = [*fields[:count], *[None] * (count - len(fields))]
    parts = [_item(n, f, inner, depth) for n, f in enumerate(named)]
    at_end(inner)
    return parts


def _item(place: int, field: TypedField | None, cursor: Cursor, depth: int) -> Node:
    name = field.name if field is not None else f"item-{place}"
    return _value(name, cursor, role_of_field(field) if field is not None else None, depth + 1)


def _elements(cursor: Cursor, count: int, depth: int) -> list[Node]:
    encoding = _encoding(cursor.number(1))
    if count > max(cursor.left, 0) or not encoding.width_octets:
        raise Unreadable
    parts = [MAKER.element(encoding)]
    for place in range(count):
        whole = MAKER.encoded("item", encoding, _body(encoding, cursor, (), depth + 1))
        parts.append(group(f"item-{place}", *whole.children[1:], kind=whole.kind))
    at_end(cursor)
    return parts
