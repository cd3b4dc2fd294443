"""Hypothesis strategies of legal values as trees: every field type of the tables, methods, headers, performatives.

Knows: what a type may carry by the tables. Must not know: states, what is illegal, targets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from amqpspec.fuzz.amqp_1_0.grammar import Maker
from amqpspec.fuzz.amqp_1_0.samples import given
from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.methods.grammar import (
    WIDTHS_OCTETS,
    field_node,
    frame,
    header_frame,
    method_frame,
    primitive,
    table_of,
    with_part,
)
from amqpspec.fuzz.trees.tree import Node, Role, group, leaf, size_of
from amqpspec.spec.methods import AmqpClass, Field, Method, MethodDialect, TypeTag
from amqpspec.spec.typed import Category, Composite, Encoding, TypedDialect, TypedField

_SHORT_OCTETS, _LONG_OCTETS, _TAG_OCTETS = 255, 300, 32
_MAX_ITEMS = 3
Nodes = st.SearchStrategy[Node]


def _octets(width_octets: int) -> st.SearchStrategy[bytes]:
    return st.binary(min_size=width_octets, max_size=width_octets)


def _utf8(max_octets: int) -> st.SearchStrategy[bytes]:
    """Texts; four octets are the most that one character takes."""
    return st.text(max_size=max_octets // 4).map(str.encode)


# --- classes and methods


def plain_octets(kind: str) -> st.SearchStrategy[bytes]:
    """What a primitive of the 0-9 family carries that holds no others; strings without their size."""
    if kind == "shortstr":
        return _utf8(_SHORT_OCTETS)
    if kind in ("longstr", "bytes"):
        return st.binary(max_size=_LONG_OCTETS)
    if kind == "boolean":
        return st.sampled_from([b"\0", b"\1"])
    return _octets(WIDTHS_OCTETS[kind])


def field_values(dialect: MethodDialect, field: Field) -> Nodes:
    """Every value that a field's type may carry, bits apart."""
    if field.type == "table":
        return field_tables(dialect, field.name)
    return plain_octets(field.type).map(lambda octets: field_node(dialect, field, octets))


@st.composite
def field_tables(draw: st.DrawFn, dialect: MethodDialect, name: str, depth: int = 1) -> Node:
    """Field tables with any tags, tables in them so deep."""
    keys = draw(st.lists(st.text(min_size=1, max_size=_SHORT_OCTETS // 4), unique=True, max_size=_MAX_ITEMS))
    entries = []
    for number, key in enumerate(keys):
        parts = draw(_tagged(dialect, depth))
        entries.append(group(f"entry-{number}", primitive("name", "shortstr", key), *parts, kind="entry"))
    return table_of(name, entries)


@st.composite
def _tagged(draw: st.DrawFn, dialect: MethodDialect, depth: int) -> tuple[Node, ...]:
    tag = draw(
        st.sampled_from([t for t in dialect.table_tags if depth or t.primitive not in ("table", "array")])
    )
    octet = leaf("tag", Role.TYPE_TAG, tag.tag.encode(), "tag")
    value = draw(_tag_values(dialect, tag, depth))
    return (octet,) if value is None else (octet, value)


@st.composite
def _tag_values(draw: st.DrawFn, dialect: MethodDialect, tag: TypeTag, depth: int) -> Node | None:
    if tag.primitive == "void":
        return None
    if tag.primitive == "table":
        return draw(field_tables(dialect, "value", depth - 1))
    if tag.primitive == "array":
        items = draw(st.lists(_tagged(dialect, depth - 1), max_size=_MAX_ITEMS))
        held = group("items", *(group(f"item-{n}", *parts) for n, parts in enumerate(items)))
        return group("value", size_of(4, "items", kind="array"), held, kind="array")
    if tag.primitive == "decimal":
        scale, unscaled = draw(_octets(1)), draw(_octets(4))
        parts = (leaf("scale", Role.NUMBER, scale), leaf("unscaled", Role.NUMBER, unscaled))
        return group("value", *parts, kind="decimal")
    return primitive("value", tag.primitive, draw(plain_octets(tag.primitive)))


@st.composite
def legal_methods(draw: st.DrawFn, dialect_id: str) -> tuple[Method, Node]:
    """Any method in its frame, with any values of its arguments."""
    dialect = tables(dialect_id)
    assert isinstance(dialect, MethodDialect)
    method = draw(st.sampled_from(list(dialect.methods.values())))
    tree = group(method.name, method_frame(dialect, method))
    return method, draw(_refilled(dialect, tree, "frame.payload.args", method.fields))


@st.composite
def legal_headers(draw: st.DrawFn, dialect_id: str) -> tuple[AmqpClass, Node]:
    """A content header of any class that has content, with any of its properties."""
    dialect = tables(dialect_id)
    assert isinstance(dialect, MethodDialect)
    row = draw(st.sampled_from([c for c in dialect.classes if c.properties]))
    chosen = draw(st.sets(st.sampled_from(range(len(row.properties)))))
    properties = [f for place, f in enumerate(row.properties) if place in chosen]
    tree = group("header", header_frame(dialect, row, properties))
    return row, draw(_refilled(dialect, tree, "frame.payload.properties", properties))


@st.composite
def _refilled(
    draw: st.DrawFn, dialect: MethodDialect, tree: Node, path: str, fields: Sequence[Field]
) -> Node:
    """A tree with other values in the fields below a path; bits stay as they are."""
    for field in fields:
        if field.type != "bit":
            tree = with_part(tree, f"{path}.{field.name}", draw(field_values(dialect, field)))
    return tree


def bodies(dialect_id: str) -> Nodes:
    """Body frames."""
    dialect = tables(dialect_id)
    assert isinstance(dialect, MethodDialect)
    code = dialect.layout.types["body"]
    data = st.binary(min_size=1, max_size=_LONG_OCTETS)
    return data.map(lambda octets: group("body", frame(dialect, code, (leaf("data", Role.OPAQUE, octets),))))


# --- types


def content_of(dialect: TypedDialect, encoding: Encoding) -> st.SearchStrategy[bytes]:
    """What a fixed or variable encoding carries."""
    kind = dialect.primitive_of[encoding.code]
    if kind == "boolean" and encoding.width_octets:
        return st.sampled_from([b"\0", b"\1"])
    if kind == "char":
        return st.characters(codec="utf-8").map(lambda one: one.encode("utf-32-be"))
    if encoding.category is Category.FIXED:
        return _octets(encoding.width_octets)
    most = _SHORT_OCTETS if encoding.width_octets == 1 else _LONG_OCTETS
    if kind == "string":
        return _utf8(most)
    if kind == "symbol":
        return st.text(st.characters(codec="ascii"), max_size=most).map(str.encode)
    return st.binary(max_size=most)


@st.composite
def typed_values(draw: st.DrawFn, dialect: TypedDialect, name: str = "value", depth: int = 1) -> Node:
    """A value in any encoding; lists, maps and arrays in it so deep."""
    plain = (Category.FIXED, Category.VARIABLE)
    encoding = draw(st.sampled_from([e for e in dialect.encodings.values() if depth or e.category in plain]))
    make = Maker(dialect)
    if encoding.category in plain:
        return make.encoded(name, encoding, draw(content_of(dialect, encoding)))
    if encoding.category is Category.ARRAY:
        return make.encoded(name, encoding, draw(_elements(make, dialect)))
    inner = typed_values(dialect, "item", depth - 1)
    if dialect.primitive_of[encoding.code] == "map":
        keys = draw(st.lists(_utf8(40), unique=True, max_size=_MAX_ITEMS))
        pairs = [(make.value("key", "string", key), draw(inner)) for key in keys]
        return make.encoded(name, encoding, [part for pair in pairs for part in pair])
    return make.encoded(name, encoding, draw(st.lists(inner, max_size=_MAX_ITEMS)))


@st.composite
def _elements(draw: st.DrawFn, make: Maker, dialect: TypedDialect) -> list[Node]:
    """An array's constructor and elements, of a type with octets."""
    fits = [
        e
        for e in dialect.encodings.values()
        if e.width_octets and e.category in (Category.FIXED, Category.VARIABLE)
    ]
    encoding = draw(st.sampled_from(fits))
    contents = draw(st.lists(content_of(dialect, encoding), max_size=_MAX_ITEMS))
    wholes = [make.encoded("item", encoding, content) for content in contents]
    return [
        make.element(encoding),
        *(group("item", *whole.children[1:], kind=whole.kind) for whole in wholes),
    ]


@st.composite
def legal_performatives(draw: st.DrawFn, dialect_id: str) -> tuple[Composite, Node]:
    """Any performative or SASL frame: what is mandatory, and any other fields, with any values of their types."""
    dialect = tables(dialect_id)
    assert isinstance(dialect, TypedDialect)
    row = draw(st.sampled_from([*dialect.performatives, *dialect.sasl_frames]))
    chosen = draw(st.sets(st.sampled_from([f.name for f in row.fields]))) if row.fields else set[str]()
    samples = given(dialect, row, full=True)
    values: dict[str, Any] = {}
    for field in row.fields:
        if field.mandatory or field.name in chosen:
            values[field.name] = draw(typed_fields(dialect, field, samples))
    return row, Maker(dialect).performative(row.name, {n: v for n, v in values.items() if v is not None})


@st.composite
def typed_fields(
    draw: st.DrawFn, dialect: TypedDialect, field: TypedField, samples: Mapping[str, Any]
) -> Any:
    """A field's value as ``Maker.field`` takes it; of a type that others decide, its sample; None for none."""
    if field.type == "*" or field.type in dialect.composites:
        return samples.get(field.name)
    choices = dialect.choices(field.type)
    kind = dialect.base(field.type)
    if kind in ("list", "map", "array"):
        return samples.get(field.name)
    encoding = dialect.primitives_by_name[kind].encodings[0]
    one = content_of(dialect, encoding)
    if field.type == "delivery-tag":
        one = st.binary(max_size=_TAG_OCTETS)
    if choices:
        one = st.sampled_from([_choice(choice.value, encoding) for choice in choices])
    return draw(st.lists(one, min_size=1, max_size=_MAX_ITEMS)) if field.multiple else draw(one)


def _choice(value: Any, encoding: Encoding) -> bytes:
    """The value that a choice stands for."""
    if encoding.category is Category.FIXED:
        return int(value).to_bytes(encoding.width_octets, "big")
    return value if isinstance(value, bytes) else str(value).encode()
