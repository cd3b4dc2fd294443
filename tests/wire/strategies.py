"""Hypothesis strategies made from a dialect's tables: values, tables, arguments, properties, and octets gone wrong.

Knows: what each primitive can carry. Must not know: how it is encoded.

A strategy that is made again for each example is checked again for each, which takes longer than to draw from it: each
is made once.
"""

from __future__ import annotations

import struct
from functools import cache
from typing import Any

from hypothesis import strategies as st

from amqpspec.spec.methods import AmqpClass, Method, MethodDialect, TypeTag, load_methods
from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.values import Table, Typed

DIALECTS = ("amqp-0-9-1", "rabbitmq-0-9-1")
WIDTHS = {
    "octet": 8, "short": 16, "long": 32, "longlong": 64, "timestamp": 64,
    "uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64,
    "int8": -8, "int16": -16, "int32": -32, "int64": -64,
}  # fmt: skip
"""Bits of every integer primitive; negative for signed ones."""


@cache
def integers(primitive: str) -> st.SearchStrategy[int]:
    """Every value of an integer primitive."""
    bits = WIDTHS[primitive]
    if bits < 0:
        return st.integers(-(2 ** (-bits - 1)), 2 ** (-bits - 1) - 1)
    return st.integers(0, 2**bits - 1)


@cache
def short_texts(max_octets: int = 255) -> st.SearchStrategy[str]:
    """Short strings, also of octets that are not UTF-8."""
    some = st.one_of(st.text(max_size=max_octets // 4), st.text("abcxyz.#*", max_size=20))
    rest = st.binary(max_size=max_octets).map(lambda octets: octets.decode("utf-8", "surrogateescape"))
    return st.one_of(some, rest)


@cache
def simple_values(primitive: str) -> st.SearchStrategy[Any]:
    """What a primitive without other values in it decodes to."""
    if primitive in WIDTHS:
        return integers(primitive)
    others: dict[str, st.SearchStrategy[Any]] = {
        "bit": st.booleans(),
        "boolean": st.booleans(),
        "float": st.floats(width=32, allow_nan=False),
        "double": st.floats(allow_nan=False),
        "decimal": st.tuples(integers("octet"), integers("int32")),
        "shortstr": short_texts(),
        "longstr": st.binary(max_size=300),
        "bytes": st.binary(max_size=300),
        "void": st.none(),
    }
    return others[primitive]


@cache
def typed_values(tags: tuple[TypeTag, ...], depth: int = 2) -> st.SearchStrategy[Typed]:
    """Table values of any of the tags, nested up to ``depth`` deep."""

    def of(tag: TypeTag) -> st.SearchStrategy[Typed] | None:
        if tag.primitive not in ("table", "array"):
            return simple_values(tag.primitive).map(lambda value: Typed(tag.tag, value))
        if depth == 0:
            return None
        inner = tables(tags, depth - 1) if tag.primitive == "table" else _arrays(tags, depth - 1)
        return inner.map(lambda value: Typed(tag.tag, value))

    return st.one_of([strategy for tag in tags if (strategy := of(tag)) is not None])


@cache
def _arrays(tags: tuple[TypeTag, ...], depth: int) -> st.SearchStrategy[list[Typed]]:
    return st.lists(typed_values(tags, depth), max_size=4)


@cache
def tables(tags: tuple[TypeTag, ...], depth: int = 2) -> st.SearchStrategy[Table]:
    """Tables in wire order, with duplicate names sometimes."""
    names = st.one_of(st.sampled_from(["x-a", "x-b"]), short_texts(60))
    return st.lists(st.tuples(names, typed_values(tags, depth)), max_size=5).map(Table)


def values(dialect: MethodDialect, primitive: str) -> st.SearchStrategy[Any]:
    """What an argument or property of a primitive decodes to."""
    return tables(dialect.table_tags) if primitive == "table" else simple_values(primitive)


def arguments(dialect: MethodDialect, method: Method) -> st.SearchStrategy[dict[str, Any]]:
    """All arguments of a method."""
    return st.fixed_dictionaries({f.key: values(dialect, f.type) for f in method.fields})


def content_headers(dialect: MethodDialect, row: AmqpClass) -> st.SearchStrategy[ContentHeader]:
    """Content headers of a class with any of its properties."""
    given_: dict[str, st.SearchStrategy[Any]] = {f.key: values(dialect, f.type) for f in row.properties}
    properties = st.fixed_dictionaries({}, optional=given_)
    return st.builds(
        ContentHeader, st.just(row.index), integers("longlong"), properties, weight=integers("short")
    )


@st.composite
def calls(draw: st.DrawFn, dialect_id: str) -> tuple[str, dict[str, Any]]:
    """Any method of a dialect with arguments."""
    dialect = load_methods(dialect_id)
    method = draw(st.sampled_from(list(dialect.methods.values())))
    return method.name, draw(_arguments(dialect_id, method.name))


@cache
def _arguments(dialect_id: str, name: str) -> st.SearchStrategy[dict[str, Any]]:
    dialect = load_methods(dialect_id)
    return arguments(dialect, dialect.methods[name])


@st.composite
def method_payloads(draw: st.DrawFn, codec: Codec) -> bytes:
    """Legal method payloads."""
    name, args = draw(calls(codec.dialect.id))
    return codec.encode_method(name, args)


@st.composite
def header_payloads(draw: st.DrawFn, codec: Codec) -> bytes:
    """Legal content header payloads of the class basic."""
    return codec.encode_header(draw(content_headers(codec.dialect, codec.dialect.classes_by_name["basic"])))


@st.composite
def mutated(draw: st.DrawFn, octets: st.SearchStrategy[bytes]) -> bytes:
    """Octets with a few of them changed, left out, put in or cut off."""
    data = bytearray(draw(octets))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(data)))
        kind = draw(st.sampled_from(["change", "insert", "delete", "cut", "size"]))
        if kind == "change" and at < len(data):
            data[at] = draw(st.integers(0, 255))
        elif kind == "insert":
            data[at:at] = draw(st.binary(min_size=1, max_size=4))
        elif kind == "delete":
            del data[at : at + draw(st.integers(1, 4))]
        elif kind == "cut":
            del data[at:]
        elif kind == "size":
            data[at : at + 4] = struct.pack(">I", draw(st.sampled_from([0, 1, 2**31, 2**32 - 1])))
    return bytes(data)


@st.composite
def chunks(draw: st.DrawFn, octets: bytes) -> list[bytes]:
    """The octets in pieces, some of them empty."""
    cuts = sorted(draw(st.lists(st.integers(0, len(octets)), max_size=12)))
    ends = [*cuts, len(octets)]
    return [octets[start:end] for start, end in zip([0, *cuts], ends, strict=True)]


CODECS = tuple(codec_for(dialect_id) for dialect_id in DIALECTS)
