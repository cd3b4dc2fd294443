"""Values of every type in every encoding, as hypothesis makes them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import TypedField
from amqpspec.wire.amqp_1_0.values import Array, Described, Symbol, Value

SIGNED = {"byte": 8, "short": 16, "int": 32, "long": 64, "timestamp": 64}
UNSIGNED = {"ubyte": 8, "ushort": 16, "uint": 32, "ulong": 64}
CONSTANTS = {"null": None, "true": True, "false": False, "uint0": 0, "ulong0": 0}
SYMBOLS = st.text(st.characters(max_codepoint=127), max_size=20).map(Symbol)
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "boolean": st.booleans(),
    "float": st.floats(width=32, allow_nan=False),
    "double": st.floats(allow_nan=False),
    "decimal32": st.binary(min_size=4, max_size=4),
    "decimal64": st.binary(min_size=8, max_size=8),
    "decimal128": st.binary(min_size=16, max_size=16),
    "char": st.characters(exclude_categories=["Cs"]),
    "uuid": st.uuids(),
    "binary": st.binary(max_size=40),
    "string": st.text(max_size=20),
    "symbol": SYMBOLS,
}


def plain_for(name: str) -> st.SearchStrategy[Any]:
    """Plain values that an encoding takes."""
    encoding = DIALECT.encodings[name]
    kind, bits = DIALECT.primitive_of[encoding.code], 8 * encoding.width_octets
    if name in CONSTANTS:
        return st.just(CONSTANTS[name])
    if kind in SIGNED:
        return st.integers(-(1 << bits - 1), (1 << bits - 1) - 1)
    if kind in UNSIGNED:
        return st.integers(0, (1 << bits) - 1)
    return PLAIN[kind]


SIMPLE = [
    n for n, e in DIALECT.encodings.items() if DIALECT.primitive_of[e.code] not in ("list", "map", "array")
]
LEAVES = st.sampled_from(SIMPLE).flatmap(lambda n: plain_for(n).map(lambda v: Value(n, v)))
ARRAYS = st.tuples(st.sampled_from(["array8", "array32"]), st.sampled_from(SIMPLE)).flatmap(
    lambda names: st.lists(plain_for(names[1]), max_size=5).map(lambda v: Value(names[0], Array(names[1], v)))
)


def compounds(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.tuples(st.sampled_from(["list8", "list32"]), st.lists(inner, max_size=4))
    maps = st.tuples(
        st.sampled_from(["map8", "map32"]), st.lists(st.tuples(LEAVES, inner), max_size=3).map(tuple)
    )
    described = st.tuples(LEAVES, inner).map(lambda pair: Described(*pair))
    return st.one_of((lists | maps).map(lambda pair: Value(*pair)), described)


VALUES: st.SearchStrategy[Any] = st.recursive(
    LEAVES | ARRAYS | st.just(Value("list0", [])), compounds, max_leaves=8
)
"""Values with their encodings, as a reader gives them; compounds of one octet of size may be too large."""


def field_values(field: TypedField) -> st.SearchStrategy[Any]:
    """Plain values that a field takes and gives back, None for null."""
    if field.multiple:
        return st.lists(SYMBOLS, max_size=3).map(tuple)
    choices = DIALECT.choices(field.type)
    base = DIALECT.base(field.type)
    if choices:
        return st.sampled_from([c.value for c in choices])
    if base in SIGNED or base in UNSIGNED:
        widest = max(DIALECT.primitives_by_name[base].encodings, key=lambda e: e.width_octets)
        return plain_for(widest.name)
    if base == "map":
        key = st.binary(max_size=8) if field.type == "map" else SYMBOLS
        return st.dictionaries(
            key, st.none() | st.text(max_size=5) | st.integers(-(1 << 63), (1 << 64) - 1), max_size=3
        )
    return PLAIN[base] if base in PLAIN else st.none()
