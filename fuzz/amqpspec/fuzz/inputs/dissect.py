"""Payloads of recorded frames as parts, as fine as a grammar has them: fields, tables, values, sections.

Knows: how the tables' rows lie on the wire. Must not know: where octets come from, frames.

What cannot be read, and what would not be rendered to the same octets, is left to the caller as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import TypeVar

from amqpspec.fuzz.amqp_1_0.grammar import Maker, role_of_field
from amqpspec.fuzz.methods.grammar import WIDTHS_OCTETS, field_node, primitive, table_of
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, number, octets_of, size_of
from amqpspec.spec.methods import Field, MethodDialect, TypeTag
from amqpspec.spec.typed import Category, Composite, Encoding, TypedDialect, TypedField

_MAX_DEPTH = 32
Parts = TypeVar("Parts", bound=tuple[Node, ...])
_STRINGS = {"shortstr": 1, "longstr": 4, "bytes": 4}


class _Unreadable(Exception):
    """Octets that the tables do not explain."""


class _Cursor:
    """Octets from front to back."""

    def __init__(self, octets: bytes, at: int = 0) -> None:
        self.octets, self.at = octets, at

    def take(self, count: int) -> bytes:
        """The next octets; raises _Unreadable where there are fewer."""
        taken = self.octets[self.at : self.at + count]
        if len(taken) != count:
            raise _Unreadable
        self.at += count
        return taken

    def number(self, width_octets: int) -> int:
        """The next octets as a number."""
        return int.from_bytes(self.take(width_octets), "big")

    @property
    def left(self) -> int:
        """How many octets there still are."""
        return len(self.octets) - self.at


def method_parts(dialect: MethodDialect, kind: str, payload: bytes) -> tuple[Node, ...] | None:
    """The parts of a method's or content header's payload, or None where it cannot be read."""
    read = {"method": _method, "header": _header}.get(kind)
    if read is None:
        return None
    return _sure(lambda: tuple(read(dialect, _Cursor(payload))), payload)


def typed_parts(dialect: TypedDialect, body: bytes) -> tuple[Node, Node] | None:
    """A performative and what follows it in its frame, as groups ``body`` and ``payload``; None where there is none."""

    def read() -> tuple[Node, Node]:
        values, cursor = _Values(dialect), _Cursor(body)
        performative = values.value("performative", cursor)
        return group("body", performative), group("payload", *_payload(values, body[cursor.at :]))

    return _sure(read, body)


def _sure(read: Callable[[], Parts], octets: bytes) -> Parts | None:
    """What was read, where it is rendered to the same octets."""
    try:
        parts = read()
    except (_Unreadable, KeyError, RecursionError):
        return None
    return parts if octets_of(group("whole", *parts)) == octets else None


# --- classes and methods


def _method(dialect: MethodDialect, cursor: _Cursor) -> Iterator[Node]:
    ids = (cursor.number(2), cursor.number(2))
    method = dialect.methods_by_id[ids]
    yield number("class-id", Role.CLASS_ID, 2, ids[0])
    yield number("method-id", Role.METHOD_ID, 2, ids[1])
    yield group("args", *_fields(dialect, method.fields, cursor))
    _at_end(cursor)


def _header(dialect: MethodDialect, cursor: _Cursor) -> Iterator[Node]:
    index = cursor.number(2)
    row = next((c for c in dialect.classes if c.index == index), None)
    if row is None:
        raise _Unreadable
    yield number("class-id", Role.CLASS_ID, 2, index)
    yield leaf("weight", Role.COUNT, cursor.take(2))
    yield leaf("body-size", Role.SIZE, cursor.take(8), "body")
    flags = cursor.take(2)
    word = int.from_bytes(flags, "big")
    yield leaf("flags", Role.FLAGS, flags)
    given = [f for place, f in enumerate(row.properties) if word & 0x8000 >> place and f.type != "bit"]
    yield group("properties", *_fields(dialect, given, cursor))
    _at_end(cursor)


def _at_end(cursor: _Cursor) -> None:
    if cursor.left:
        raise _Unreadable


def _fields(dialect: MethodDialect, fields: Sequence[Field], cursor: _Cursor) -> Iterator[Node]:
    for is_bit, run in groupby(fields, lambda f: f.type == "bit"):
        if is_bit:
            names = [f.name for f in run]
            yield leaf("+".join(names), Role.FLAGS, cursor.take((len(names) + 7) // 8), "bit")
        else:
            yield from (_field(dialect, f, cursor) for f in run)


def _field(dialect: MethodDialect, field: Field, cursor: _Cursor) -> Node:
    if field.type == "table":
        return _table(dialect, field.name, cursor, 0)
    return field_node(dialect, field, _plain(field.type, cursor))


def _plain(kind: str, cursor: _Cursor) -> bytes:
    """The octets of a value that holds no others; of a string, without its size."""
    if kind in _STRINGS:
        return cursor.take(cursor.number(_STRINGS[kind]))
    return cursor.take(WIDTHS_OCTETS[kind])


def _table(dialect: MethodDialect, name: str, cursor: _Cursor, depth: int) -> Node:
    inner = _Cursor(cursor.take(cursor.number(4)))
    entries = list[Node]()
    while inner.left:
        key = primitive("name", "shortstr", _plain("shortstr", inner))
        entries.append(group(f"entry-{len(entries)}", key, *_tagged(dialect, inner, depth), kind="entry"))
    return table_of(name, entries)


def _tagged(dialect: MethodDialect, cursor: _Cursor, depth: int) -> tuple[Node, ...]:
    octet = cursor.take(1)
    tag = next((t for t in dialect.table_tags if t.tag.encode() == octet), None)
    if tag is None or depth > _MAX_DEPTH:
        raise _Unreadable
    return leaf("tag", Role.TYPE_TAG, octet, "tag"), *_tag_value(dialect, tag, cursor, depth)


def _tag_value(dialect: MethodDialect, tag: TypeTag, cursor: _Cursor, depth: int) -> Iterator[Node]:
    if tag.primitive == "table":
        yield _table(dialect, "value", cursor, depth + 1)
    elif tag.primitive == "array":
        inner = _Cursor(cursor.take(cursor.number(4)))
        items: list[Node] = []
        while inner.left:
            items.append(group(f"item-{len(items)}", *_tagged(dialect, inner, depth + 1)))
        yield group("value", size_of(4, "items", kind="array"), group("items", *items), kind="array")
    elif tag.primitive == "decimal":
        scale = leaf("scale", Role.NUMBER, cursor.take(1))
        yield group("value", scale, leaf("unscaled", Role.NUMBER, cursor.take(4)), kind="decimal")
    elif tag.primitive != "void":
        yield primitive("value", tag.primitive, _plain(tag.primitive, cursor))


# --- types


def _payload(values: _Values, octets: bytes) -> list[Node]:
    """Sections, or octets as they are."""
    cursor, sections = _Cursor(octets), list[Node]()
    try:
        while cursor.left:
            sections.append(values.value(f"section-{len(sections)}", cursor))
    except (_Unreadable, KeyError):
        return [leaf("octets", Role.OPAQUE, octets)]
    return sections


class _Values:
    """Reads values with their constructors."""

    def __init__(self, dialect: TypedDialect) -> None:
        self.dialect, self.make = dialect, Maker(dialect)

    def value(self, name: str, cursor: _Cursor, role: Role | None = None, depth: int = 0) -> Node:
        """One value."""
        if depth > _MAX_DEPTH:
            raise _Unreadable
        code = cursor.number(1)
        if code == 0:
            return self._described(name, cursor, depth + 1)
        encoding = self._encoding(code)
        return self.make.encoded(name, encoding, self._body(encoding, cursor, (), depth), role)

    def _encoding(self, code: int) -> Encoding:
        found = next((e for e in self.dialect.encodings.values() if e.code == code), None)
        if found is None:
            raise _Unreadable
        return found

    def _described(self, name: str, cursor: _Cursor, depth: int) -> Node:
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
        """The fields that a descriptor announces; none where it names no composite."""
        constructor, number_octets = descriptor[:1], descriptor[1:]
        if self.dialect.primitive_of.get(constructor[0]) != "ulong":
            return ()
        row = self.dialect.described.get(int.from_bytes(number_octets, "big"))
        return row.fields if isinstance(row, Composite) else ()

    def _body(
        self, encoding: Encoding, cursor: _Cursor, fields: Sequence[TypedField], depth: int
    ) -> bytes | list[Node]:
        """What ``Maker.encoded`` takes: octets, or the parts of a list, map or array."""
        width = encoding.width_octets
        if encoding.category is Category.FIXED:
            return cursor.take(width)
        inner = _Cursor(cursor.take(cursor.number(width)))
        if encoding.category is Category.VARIABLE:
            return inner.octets
        count = inner.number(width)
        if encoding.category is Category.ARRAY:
            return self._elements(inner, count, depth)
        if count > inner.left:
            raise _Unreadable
        named = [*fields[:count], *[None] * (count - len(fields))]
        parts = [self._item(n, f, inner, depth) for n, f in enumerate(named)]
        _at_end(inner)
        return parts

    def _item(self, place: int, field: TypedField | None, cursor: _Cursor, depth: int) -> Node:
        name = field.name if field is not None else f"item-{place}"
        return self.value(name, cursor, role_of_field(field) if field is not None else None, depth + 1)

    def _elements(self, cursor: _Cursor, count: int, depth: int) -> list[Node]:
        encoding = self._encoding(cursor.number(1))
        if count > max(cursor.left, 0) or not encoding.width_octets:
            raise _Unreadable
        parts = [self.make.element(encoding)]
        for place in range(count):
            whole = self.make.encoded("item", encoding, self._body(encoding, cursor, (), depth + 1))
            parts.append(group(f"item-{place}", *whole.children[1:], kind=whole.kind))
        _at_end(cursor)
        return parts
