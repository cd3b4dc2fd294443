"""What hypothesis draws: values of every type, with the octets that carry them as struct alone puts them together."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from hypothesis import strategies as st

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Control, PackedField, Struct
from amqpspec.wire.amqp_0_10.instructions import ROWS
from amqpspec.wire.amqp_0_10.values import Array, Map, Packed, UnknownStruct, Value
from tests.wire.amqp_0_10.golden import CODES

Drawn = tuple[Any, bytes]
"""A value, and the octets that carry it."""

_CODES = {name: bytes.fromhex(code) for name, code in (row.split() for row in CODES)}


def _number(form: str, least: int, most: int) -> st.SearchStrategy[Drawn]:
    values = st.integers(least, most) | st.sampled_from([least, 0, 1, most])
    return values.map(lambda value: (value, struct.pack(form, value)))


def _signed(form: str, bits: int) -> st.SearchStrategy[Drawn]:
    return _number(form, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _unsigned(form: str, bits: int) -> st.SearchStrategy[Drawn]:
    return _number(form, 0, 2**bits - 1)


def _binary(width: int) -> st.SearchStrategy[Drawn]:
    return st.binary(min_size=width, max_size=width).map(lambda octets: (octets, octets))


def _sized(form: str, octets: bytes) -> bytes:
    return struct.pack(form, len(octets)) + octets


def _strings(form: str, encoding: str) -> st.SearchStrategy[Drawn]:
    return st.text(max_size=20).map(lambda text: (text, _sized(form, text.encode(encoding))))


def _latin(form: str) -> st.SearchStrategy[Drawn]:
    return st.binary(max_size=30).map(lambda o: (o.decode("iso-8859-15"), _sized(form, o)))


def _utf8(form: str) -> st.SearchStrategy[Drawn]:
    """Any octets: what is not UTF-8 has to survive, too."""
    octets = st.binary(max_size=30)
    return octets.map(lambda o: (o.decode("utf-8", "surrogateescape"), _sized(form, o))) | _strings(
        form, "utf-8"
    )


def _opaque(form: str) -> st.SearchStrategy[Drawn]:
    return st.binary(max_size=40).map(lambda octets: (octets, _sized(form, octets)))


def _ranges(form: str, bits: int) -> st.SearchStrategy[Drawn]:
    bounds = st.tuples(st.integers(0, 2**bits - 1), st.integers(0, 2**bits - 1))
    pairs = st.lists(bounds, max_size=4).map(tuple)
    return pairs.map(lambda ps: (ps, _sized(">H", b"".join(struct.pack(form, *p) for p in ps))))


def _decimal(form: str, bits: int) -> st.SearchStrategy[Drawn]:
    drawn = st.tuples(st.integers(0, 255), st.integers(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1))
    return drawn.map(lambda value: (value, struct.pack(form, *value)))


_FLOATS = st.floats(allow_nan=False, width=32)
SIMPLE: dict[str, st.SearchStrategy[Drawn]] = {
    **{f"bin{8 * width}": _binary(width) for width in (1, 2, 4, 8, 16, 32, 64, 128, 5, 9)},
    "int8": _signed(">b", 8), "uint8": _unsigned(">B", 8),
    "int16": _signed(">h", 16), "uint16": _unsigned(">H", 16),
    "int32": _signed(">i", 32), "uint32": _unsigned(">I", 32), "sequence-no": _unsigned(">I", 32),
    "int64": _signed(">q", 64), "uint64": _unsigned(">Q", 64), "datetime": _signed(">q", 64),
    "boolean": st.booleans().map(lambda value: (value, bytes((value,)))),
    "char": st.integers(0, 255).map(lambda n: (bytes((n,)).decode("iso-8859-15"), bytes((n,)))),
    "char-utf32": st.characters(codec="utf-8").map(lambda c: (c, struct.pack(">I", ord(c)))),
    "float": _FLOATS.map(lambda value: (value, struct.pack(">f", value))),
    "double": st.floats(allow_nan=False).map(lambda value: (value, struct.pack(">d", value))),
    "uuid": st.binary(min_size=16, max_size=16).map(lambda octets: (UUID(bytes=octets), octets)),
    "vbin8": _opaque(">B"), "vbin16": _opaque(">H"), "vbin32": _opaque(">I"),
    "str8": _utf8(">B"), "str16": _utf8(">H"),
    "str8-latin": _latin(">B"), "str16-latin": _latin(">H"),
    "str8-utf16": _strings(">B", "utf-16-be"), "str16-utf16": _strings(">H", "utf-16-be"),
    "sequence-set": _ranges(">II", 32), "byte-ranges": _ranges(">QQ", 64),
    "dec32": _decimal(">Bi", 32), "dec64": _decimal(">Bq", 64),
    "void": st.just((None, b"")), "bit": st.just((True, b"")),
}  # fmt: skip


# --- compounds


def _typed(values: st.SearchStrategy[tuple[Value, bytes]]) -> st.SearchStrategy[tuple[Value, bytes]]:
    """Values with their codes in front, those of compounds made of ``values``."""
    return st.one_of(
        st.sampled_from(sorted(_CODES.keys() & SIMPLE.keys())).flatmap(_of_type),
        st.one_of(maps(values).map(lambda d: ("map", d)), lists(values).map(lambda d: ("list", d))).map(
            _coded
        ),
        arrays().map(lambda drawn: _coded(("array", drawn))),
        struct32s().map(lambda drawn: _coded(("struct32", drawn))),
        st.binary(min_size=4, max_size=4).map(lambda octets: (Value(0x2F, octets), b"\x2f" + octets)),
    )


def _of_type(name: str) -> st.SearchStrategy[tuple[Value, bytes]]:
    return SIMPLE[name].map(lambda drawn: _coded((name, drawn)))


def _coded(named: tuple[str, Drawn]) -> tuple[Value, bytes]:
    name, (value, octets) = named
    return Value(name, value), _CODES[name] + octets


def maps(values: st.SearchStrategy[tuple[Value, bytes]]) -> st.SearchStrategy[Drawn]:
    """Maps in which a key may stand twice."""

    def put_together(pairs: list[tuple[Drawn, tuple[Value, bytes]]]) -> Drawn:
        octets = b"".join(key[1] + value[1] for key, value in pairs)
        return Map((key[0], value[0]) for key, value in pairs), _counted(b"", len(pairs), octets)

    return st.lists(st.tuples(SIMPLE["str8"], values), max_size=3).map(put_together)


def lists(values: st.SearchStrategy[tuple[Value, bytes]]) -> st.SearchStrategy[Drawn]:
    def put_together(items: list[tuple[Value, bytes]]) -> Drawn:
        return tuple(v for v, _ in items), _counted(b"", len(items), b"".join(o for _, o in items))

    return st.lists(values, max_size=3).map(put_together)


def arrays(names: Sequence[str] = tuple(sorted(_CODES.keys() & SIMPLE.keys()))) -> st.SearchStrategy[Drawn]:
    def of(name: str) -> st.SearchStrategy[Drawn]:
        def put_together(items: list[Drawn]) -> Drawn:
            octets = b"".join(o for _, o in items)
            return Array(name, tuple(v for v, _ in items)), _counted(_CODES[name], len(items), octets)

        return st.lists(SIMPLE[name], max_size=3).map(put_together)

    return st.sampled_from(names).flatmap(of)


def _counted(code: bytes, count: int, octets: bytes) -> bytes:
    return _sized(">I", code + struct.pack(">I", count) + octets)


def struct32s() -> st.SearchStrategy[Drawn]:
    """Structs that have a code, and one that no one knows."""
    unknown = st.binary(max_size=8).map(lambda o: (UnknownStruct((200, 1), o), _sized(">I", b"\xc8\x01" + o)))
    known = st.sampled_from(sorted(name for name, row in DIALECT.structs.items() if row.code))
    return unknown | known.flatmap(lambda name: structs(DIALECT.structs[name]))


VALUES = st.recursive(
    st.sampled_from(sorted(_CODES.keys() & SIMPLE.keys())).flatmap(_of_type), _typed, max_leaves=6
)
COMPOUNDS = {"map": maps(VALUES), "list": lists(VALUES), "array": arrays()}


# --- fields


@st.composite
def fields(draw: st.DrawFn, rows: Sequence[PackedField], pack_octets: int) -> tuple[dict[str, Any], bytes]:
    """Some of the fields: by their keys, and as octets behind their packing flags."""
    args: dict[str, Any] = {}
    octets, flags = bytearray(), 0
    for place, row in enumerate(rows):
        if pack_octets and not draw(st.booleans()):
            continue
        args[row.key], more = draw(_field(row))
        octets, flags = octets + more, flags | bool(pack_octets) << place
    return args, flags.to_bytes(pack_octets, "little") + bytes(octets)


def _field(row: PackedField) -> st.SearchStrategy[Drawn]:
    base, element = DIALECT.base(row.type), DIALECT.base(DIALECT.element(row))
    if base in DIALECT.structs:
        return structs(DIALECT.structs[base])
    if element in DIALECT.structs:
        return _struct_arrays(DIALECT.structs[element])
    if base == "struct32":
        return struct32s()
    return arrays([element]) if element else (COMPOUNDS | SIMPLE)[base]


def _struct_arrays(row: Struct) -> st.SearchStrategy[Drawn]:
    """Arrays of structs without a type code, as octets behind two octets of size."""

    def put_together(items: list[Drawn]) -> Drawn:
        carried = (o if row.size_octets else _sized(">H", o) for _, o in items)
        return Array("vbin16", tuple(v for v, _ in items)), _counted(b"\x90", len(items), b"".join(carried))

    return st.lists(structs(row), max_size=2).map(put_together)


def structs(row: Struct) -> st.SearchStrategy[Drawn]:
    def put_together(drawn: tuple[dict[str, Any], bytes]) -> Drawn:
        octets = bytes(row.code or ()) + drawn[1]
        size = len(octets).to_bytes(row.size_octets, "big") if row.size_octets else b""
        return Packed(row.name, drawn[0]), size + octets

    return fields(row.fields, row.pack_octets).map(put_together)


@st.composite
def instructions(draw: st.DrawFn) -> tuple[Control, dict[str, Any], bool, bytes]:
    """Any control or command with its arguments, whether it has the sync bit, and its segment."""
    row = draw(st.sampled_from(list(ROWS.values())))
    args, octets = draw(fields(row.fields, 2))
    sync = row.name in DIALECT.commands and draw(st.booleans())
    header = bytes((1, sync)) if row.name in DIALECT.commands else b""
    return row, args, sync, bytes((row.class_code, row.code)) + header + octets
