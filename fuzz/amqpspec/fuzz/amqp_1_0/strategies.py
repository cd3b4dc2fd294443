"""Hypothesis strategies of legal values of AMQP 1.0 as trees: every encoding, composites, performatives.

Knows: what a type may carry by the tables. Must not know: states, what is illegal, targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from amqpspec.fuzz.amqp_1_0.grammar import Maker
from amqpspec.fuzz.amqp_1_0.samples import given
from amqpspec.fuzz.grammar import tables
from amqpspec.fuzz.inputs.strategies import exact_octets, utf8_octets
from amqpspec.fuzz.trees.tree import Node, group
from amqpspec.spec.typed import Category, Composite, Encoding, TypedDialect, TypedField

_SHORT_OCTETS, _LONG_OCTETS, _TAG_OCTETS = 255, 300, 32
_MAX_ITEMS = 3


def content_of(dialect: TypedDialect, encoding: Encoding) -> st.SearchStrategy[bytes]:
    """What a fixed or variable encoding carries."""
    kind = dialect.primitive_of[encoding.code]
    if kind == "boolean" and encoding.width_octets:
        return st.sampled_from([b"\0", b"\1"])
    if kind == "char":
        return st.characters(codec="utf-8").map(lambda one: one.encode("utf-32-be"))
    if encoding.category is Category.FIXED:
        return exact_octets(encoding.width_octets)
    most = _SHORT_OCTETS if encoding.width_octets == 1 else _LONG_OCTETS
    if kind == "string":
        return utf8_octets(most)
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
        keys = draw(st.lists(utf8_octets(40), unique=True, max_size=_MAX_ITEMS))
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
    """The value of a choice."""
    if encoding.category is Category.FIXED:
        return int(value).to_bytes(encoding.width_octets, "big")
    return value if isinstance(value, bytes) else str(value).encode()
