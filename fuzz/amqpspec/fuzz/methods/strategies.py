"""Hypothesis strategies of legal values of the 0-9 family as trees: every field type of the tables, methods, headers.

Knows: what a type may carry by the tables. Must not know: states, what is illegal, targets.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.inputs.strategies import Nodes, exact_octets, utf8_octets
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

_SHORT_OCTETS, _LONG_OCTETS = 255, 300
_MAX_ITEMS = 3


def plain_octets(kind: str) -> st.SearchStrategy[bytes]:
    """What a primitive of the 0-9 family carries that holds no others; strings without their size."""
    if kind == "shortstr":
        return utf8_octets(_SHORT_OCTETS)
    if kind in ("longstr", "bytes"):
        return st.binary(max_size=_LONG_OCTETS)
    if kind == "boolean":
        return st.sampled_from([b"\0", b"\1"])
    return exact_octets(WIDTHS_OCTETS[kind])


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
        scale, unscaled = draw(exact_octets(1)), draw(exact_octets(4))
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
