"""Recorded octets of AMQP 1.0 as trees, as fine as the grammar has them: frames, values, sections.

Knows: how the tables' rows are encoded on the wire. Must not know: where octets come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from amqpspec.fuzz.amqp_1_0.grammar import Maker, role_of_field
from amqpspec.fuzz.inputs.cursor import MAX_DEPTH, Cursor, Unreadable, at_end, sure
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, number, size_of
from amqpspec.spec.typed import Category, Composite, Encoding, TypedDialect, TypedField
from amqpspec.wire.amqp_1_0.frames import RawFrame, RawReader
from amqpspec.wire.errors import WireError

_MAX_OCTETS = 1 << 24


def frames(dialect: TypedDialect, octets: bytes) -> Iterator[Node]:
    """Frames whose sizes follow their bodies, and what is none as it is."""
    reader = RawReader(max_frame_octets=_MAX_OCTETS)
    reader.feed(octets)
    done = 0
    while True:
        try:
            item = reader.next()
        except WireError:
            break
        if item is None:
            break
        done = reader.offset
        if isinstance(item, RawFrame):
            extended = item.octets[8 : 4 * item.doff]
            spanned = ("doff", "type", "channel", "extended", "body", "payload")
            size = size_of(4, *spanned, extra=4, kind="frame")
            doff = size_of(1, "extended", name="doff", extra=8, unit=4, kind="frame")
            kind = number("type", Role.FRAME_TYPE, 1, item.frame_type)
            channel = number("channel", Role.CHANNEL, 2, item.channel)
            inside = _parts(dialect, item.body) or (leaf("body", Role.OPAQUE, item.body),)
            parts = (leaf("extended", Role.OPAQUE, extended), *inside)
            yield group("frame", size, doff, kind, channel, *parts, kind="frame")
        else:
            yield leaf("protocol-header", Role.VERSION, item.octets)
    if done < len(octets):
        yield leaf("rest", Role.OPAQUE, octets[done:])


def _parts(dialect: TypedDialect, body: bytes) -> tuple[Node, Node] | None:
    """A performative and what follows it in its frame, as groups ``body`` and ``payload``; None if there is none."""

    def read() -> tuple[Node, Node]:
        values, cursor = _Values(dialect), Cursor(body)
        performative = values.value("performative", cursor)
        return group("body", performative), group("payload", *_payload(values, body[cursor.at :]))

    return sure(read, body)


def _payload(values: _Values, octets: bytes) -> list[Node]:
    """Sections, or octets as they are."""
    cursor, sections = Cursor(octets), list[Node]()
    try:
        while cursor.left:
            sections.append(values.value(f"section-{len(sections)}", cursor))
    except (Unreadable, KeyError):
        return [leaf("octets", Role.OPAQUE, octets)]
    return sections


class _Values:
    """Reads values with their constructors."""

    def __init__(self, dialect: TypedDialect) -> None:
        self.dialect, self.make = dialect, Maker(dialect)

    def value(self, name: str, cursor: Cursor, role: Role | None = None, depth: int = 0) -> Node:
        """One value."""
        if depth > MAX_DEPTH:
            raise Unreadable
        code = cursor.number(1)
        if code == 0:
            return self._described(name, cursor, depth + 1)
        encoding = self._encoding(code)
        return self.make.encoded(name, encoding, self._body(encoding, cursor, (), depth), role)

    def _encoding(self, code: int) -> Encoding:
        found = next((e for e in self.dialect.encodings.values() if e.code == code), None)
        if found is None:
            raise Unreadable
        return found

    def _described(self, name: str, cursor: Cursor, depth: int) -> Node:
        zero = number("described", Role.TYPE_TAG, 1, 0, "constructor")
        begin = cursor.at
        descriptor = self.value("descriptor", cursor, Role.DESCRIPTOR, depth)
        fields = self._fields_of(cursor.octets[begin : cursor.at])
        if not fields or not cursor.left:
            return group(name, zero, descriptor, self.value("value", cursor, None, depth), kind="described")
        encoding = self._encoding(cursor.number(1))
        if self.dialect.primitive_of[encoding.code] != "list":
            fields = ()
        inner = self.make.encoded("fields", encoding, self._body(encoding, cursor, fields, depth))
        return group(name, zero, descriptor, inner, kind="described")

    def _fields_of(self, descriptor: bytes) -> tuple[TypedField, ...]:
        """The fields that a descriptor announces; none if it names no composite."""
        constructor, number_octets = descriptor[:1], descriptor[1:]
        if self.dialect.primitive_of.get(constructor[0]) != "ulong":
            return ()
        row = self.dialect.described.get(int.from_bytes(number_octets, "big"))
        return row.fields if isinstance(row, Composite) else ()

    def _body(
        self, encoding: Encoding, cursor: Cursor, fields: Sequence[TypedField], depth: int
    ) -> bytes | list[Node]:
        """What ``Maker.encoded`` takes: octets, or the parts of a list, map or array."""
        width = encoding.width_octets
        if encoding.category is Category.FIXED:
            return cursor.take(width)
        inner = Cursor(cursor.take(cursor.number(width)))
        if encoding.category is Category.VARIABLE:
            return inner.octets
        count = inner.number(width)
        if encoding.category is Category.ARRAY:
            return self._elements(inner, count, depth)
        if count > inner.left:
            raise Unreadable
        named = [*fields[:count], *[None] * (count - len(fields))]
        parts = [self._item(n, f, inner, depth) for n, f in enumerate(named)]
        at_end(inner)
        return parts

    def _item(self, place: int, field: TypedField | None, cursor: Cursor, depth: int) -> Node:
        name = field.name if field is not None else f"item-{place}"
        return self.value(name, cursor, role_of_field(field) if field is not None else None, depth + 1)

    def _elements(self, cursor: Cursor, count: int, depth: int) -> list[Node]:
        encoding = self._encoding(cursor.number(1))
        if count > max(cursor.left, 0) or not encoding.width_octets:
            raise Unreadable
        parts = [self.make.element(encoding)]
        for place in range(count):
            whole = self.make.encoded("item", encoding, self._body(encoding, cursor, (), depth + 1))
            parts.append(group(f"item-{place}", *whole.children[1:], kind=whole.kind))
        at_end(cursor)
        return parts
