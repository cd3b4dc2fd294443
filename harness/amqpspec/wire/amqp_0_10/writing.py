"""Values to octets: a writer for each type and each struct, made from the tables; legal or not.

Knows: forms of types, packing flags, sizes and counts. Must not know: controls, commands, frames.

``Raw`` octets replace a whole value, its size included; in place of an entry of a map or an item of a list, for its
type code, too. Octets (``bytes``) are treated as any string as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from uuid import UUID

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Category, Content, PackedField, Struct, WireType
from amqpspec.wire.amqp_0_10.reading import COUNT_OCTETS, PAIRS
from amqpspec.wire.amqp_0_10.values import NO_ARRAY, Array, Packed, Raw, UnknownStruct, Value
from amqpspec.wire.errors import EncodeError, shown
from amqpspec.wire.numbers import pack_counted, pack_number

_ENCODINGS = {
    Content.LATIN: ("iso-8859-15", "strict"),
    Content.UTF8: ("utf-8", "surrogateescape"),
    Content.UTF16: ("utf-16-be", "surrogatepass"),
}
_FLOATS = {4: ">f", 8: ">d"}
_TYPES = DIALECT.types_by_name
_USUAL: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (bool, "boolean"),
    (str, "str16"),
    (bytes, "vbin32"),
    (float, "double"),
    (UUID, "uuid"),
    (Array, "array"),
    ((Packed, UnknownStruct), "struct32"),
)
_INTEGERS = ("int32", "int64", "uint64")


# --- numbers, octets, strings


def _octets(kind: WireType, value: Any, where: str) -> bytes:
    """What a value consists of, without a size."""
    content, width = kind.content, kind.width_octets
    if content in (Content.UNSIGNED, Content.SERIAL):
        return pack_number(value, width, where)
    if content in (Content.SIGNED, Content.TIME):
        return pack_number(value, width, where, signed=True)
    try:
        return _OTHERS[content](value, width)
    except EncodeError:
        raise
    except (AttributeError, TypeError, ValueError, OverflowError, struct.error) as error:
        raise EncodeError(where, f"a value of {kind.name}", shown(value)) from error


def _text(content: Content) -> Callable[[Any, int], bytes]:
    encoding, errors = _ENCODINGS[content]

    def octets(value: Any, _width: int) -> bytes:
        return value if isinstance(value, bytes) else bytes(value.encode(encoding, errors))

    return octets


def _decimal(value: Any, width: int) -> bytes:
    exponent, mantissa = value
    mantissa_octets = pack_number(mantissa, width - 1, "mantissa", signed=True)
    return pack_number(exponent, 1, "exponent") + mantissa_octets


def _utf32(value: Any, width: int) -> bytes:
    return pack_number(value if isinstance(value, int) else ord(value), width, "char")


def _ranges(content: Content) -> Callable[[Any, int], bytes]:
    def octets(value: Any, _width: int) -> bytes:
        return b"".join(PAIRS[content].pack(*bounds) for bounds in value)

    return octets


def _opaque(value: Any, _width: int) -> bytes:
    return bytes(memoryview(value))


_OTHERS: Mapping[Content, Callable[[Any, int], bytes]] = {
    **{content: _text(content) for content in _ENCODINGS},
    **{content: _ranges(content) for content in PAIRS},
    Content.OPAQUE: _opaque,
    Content.BOOLEAN: lambda value, _: bytes((bool(value),)),
    Content.FLOAT: lambda value, width: struct.pack(_FLOATS[width], value),
    Content.DECIMAL: _decimal,
    Content.UUID: lambda value, _: bytes(value.bytes),
    Content.UTF32: _utf32,
    Content.VOID: lambda _value, _: b"",
    Content.BIT: lambda _value, _: b"",
}


# --- maps, lists, arrays


def _map(value: Any, where: str) -> bytes:
    pairs = _pairs(value, where)
    entries = (_key(key, where) + encode_value(entry, f"{where} › {shown(key)}") for key, entry in pairs)
    return pack_number(len(pairs), COUNT_OCTETS, where) + b"".join(entries)


def _pairs(value: Any, where: str) -> list[tuple[Any, Any]]:
    try:
        return [(key, entry) for key, entry in (value.items() if isinstance(value, Mapping) else value)]
    except (TypeError, ValueError) as error:
        raise EncodeError(where, "a map or a mapping", shown(value)) from error


def _key(key: Any, where: str) -> bytes:
    return encode("str8", key, f"{where}: key")


def _list(value: Any, where: str) -> bytes:
    items = _items(value, where)
    return pack_number(len(items), COUNT_OCTETS, where) + b"".join(
        encode_value(item, f"{where} › {at}") for at, item in enumerate(items)
    )


def _items(value: Any, where: str) -> list[Any]:
    if isinstance(value, str | bytes | Mapping):
        raise EncodeError(where, "a sequence of values", shown(value))
    try:
        return list(value)
    except TypeError as error:
        raise EncodeError(where, "a sequence of values", shown(value)) from error


def _array(value: Any, where: str, element: str = "") -> bytes:
    """Type code, count and values; what is not an ``Array`` gets the element's type."""
    if value == NO_ARRAY:
        return b""
    kind, items = value if isinstance(value, Array) else (element, _items(value, where))
    if kind == "":
        raise EncodeError(where, "an Array, which says of what", shown(value))
    carrier = _carrier(kind)
    places = ((f"{where} › {at}", item) for at, item in enumerate(items))
    values = b"".join(_element(carrier, element, item, place) for place, item in places)
    return _type_octet(carrier, where) + pack_number(len(items), COUNT_OCTETS, where) + values


def _carrier(kind: str | int) -> str | int:
    """The type under whose code elements travel.

    Structs without a code have no type code either. Octets after a size of the same width are the same octets as a
    struct after its size; a struct without a size gets one, since elements of any type can be passed over.
    """
    base = DIALECT.base(kind) if isinstance(kind, str) else kind
    row = DIALECT.structs.get(base) if isinstance(base, str) else None
    if row is None:
        return base
    return "struct32" if row.code else {1: "vbin8", 4: "vbin32"}.get(row.size_octets, "vbin16")


def _element(carrier: str | int, element: str, item: Any, where: str) -> bytes:
    row = DIALECT.structs.get(element)
    if row is None or isinstance(item, Raw | bytes | UnknownStruct):
        return _of_type(carrier, item, where)
    octets = _struct(row, item, where)
    return octets if row.size_octets else _of_type(carrier, octets, where)


# --- values with their type


def encode_value(value: Any, where: str = "value") -> bytes:
    """Type code and value; plain Python values get the type that is usual for them. Raises EncodeError."""
    if isinstance(value, Raw):
        return bytes(value)
    kind, plain = value if isinstance(value, Value) else (_usual(value, where), value)
    return _type_octet(kind, where) + _of_type(kind, plain, where)


def _type_octet(kind: str | int, where: str) -> bytes:
    if isinstance(kind, int):
        return pack_number(kind, 1, f"{where}: type code")
    known = _TYPES.get(kind)
    if known is None or known.code is None:
        raise EncodeError(where, "a type that has a code", shown(kind))
    return bytes((known.code,))


def _of_type(kind: str | int, value: Any, where: str) -> bytes:
    """A value of a type by name; under any other code it is as many octets as the code's range says, or ``Raw``."""
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(kind, str):
        return encode(kind, value, where)
    form = DIALECT.form(kind)
    if form is None or not isinstance(value, bytes):
        raise EncodeError(where, "octets for a type without a name, Raw for a reserved one", shown(value))
    return _with_form(value, *form, where)


def _with_form(octets: bytes, category: Category, width: int, where: str) -> bytes:
    if category is Category.VARIABLE:
        return pack_counted(octets, width, where)
    if len(octets) != width:
        raise EncodeError(where, f"{width} octets", f"{len(octets)} octets")
    return octets


def _usual(value: Any, where: str) -> str:
    if value is None:
        return "void"
    for kinds, name in _USUAL:
        if isinstance(value, kinds):
            return name
    if isinstance(value, int):
        return next((name for name in _INTEGERS if _fits(name, value)), _INTEGERS[-1])
    if isinstance(value, Mapping):
        return "map"
    if isinstance(value, list):
        return "list"
    raise EncodeError(where, "a Value, which says of what type", shown(value))


def _fits(name: str, value: int) -> bool:
    kind = _TYPES[name]
    signed = kind.content is Content.SIGNED
    bits = 8 * kind.width_octets - signed
    return -(1 << bits) * signed <= value < 1 << bits


def encode(type_name: str, value: Any, where: str = "") -> bytes:
    """A value of a type or a struct, without a type code. Raises EncodeError, KeyError for an unknown name."""
    where = where or type_name
    if isinstance(value, Raw):
        return bytes(value)
    if type_name in DIALECT.structs:
        return _struct(DIALECT.structs[type_name], value, where)
    kind = _TYPES[type_name]
    compound = _COMPOUND.get(kind.content)
    octets = compound(value, where) if compound else _octets(kind, value, where)
    return _with_form(octets, kind.category, kind.width_octets, where)


# --- structs


def encode_fields(
    fields: Iterable[PackedField],
    pack_octets: int,
    values: Mapping[str, Any],
    where: str,
    flags: int | None = None,
) -> bytes:
    """Packing flags and the fields that are there: neither left out nor None nor, of bits, False.

    ``flags`` may be wrong if it is given. Raises EncodeError, TypeError for a name that is no field's.
    """
    rows = tuple(fields)
    given = _given(rows, values, where)
    there = [(place, field) for place, field in enumerate(rows) if _is_there(field, given.get(field.key))]
    octets = b"".join(_field(field, given[field.key], f"{where} {field.name}") for _, field in there)
    if not pack_octets:
        if len(there) < len(rows):
            raise EncodeError(where, "all fields, since no flag tells which", f"{len(there)} of {len(rows)}")
        return octets
    told = sum(1 << place for place, _ in there) if flags is None else flags
    try:
        # The first field has the lowest bit of the first octet (5.3).
        return told.to_bytes(pack_octets, "little") + octets
    except OverflowError as error:
        raise EncodeError(where, f"{pack_octets} octets of packing flags", shown(told)) from error


def _is_there(field: PackedField, value: Any) -> bool:
    return value is not None and (value is not False or DIALECT.base(field.type) != "bit")


def _given(rows: tuple[PackedField, ...], values: Mapping[str, Any], where: str) -> dict[str, Any]:
    given = {key.replace("-", "_"): value for key, value in values.items()}
    for key in given.keys() - {field.key for field in rows}:
        raise TypeError(f"{where}: no field {key!r}")
    return given


def _field(field: PackedField, value: Any, where: str) -> bytes:
    base = DIALECT.base(field.type)
    if base != "array" or isinstance(value, Raw):
        return encode(base, value, where)
    return pack_counted(_array(value, where, DIALECT.element(field)), _TYPES[base].width_octets, where)


def encode_struct(
    row: Struct,
    fields: Mapping[str, Any],
    *,
    flags: int | None = None,
    code: tuple[int, int] | None = None,
    size: int | None = None,
    extra: bytes = b"",
    where: str = "",
) -> bytes:
    """A struct with as much around its fields as its row says; ``flags``, ``code`` and ``size`` lie where given.

    ``extra`` octets follow the last field. Raises EncodeError, TypeError.
    """
    where = where or row.name
    octets = bytes(code or row.code or ()) + encode_fields(row.fields, row.pack_octets, fields, where, flags)
    octets += extra
    if not row.size_octets:
        return octets
    told = len(octets) if size is None else size
    return pack_number(told, row.size_octets, f"{where} size") + octets


def _struct(row: Struct, value: Any, where: str) -> bytes:
    fields = value.fields if isinstance(value, Packed) else value
    if not isinstance(fields, Mapping) or (isinstance(value, Packed) and value.name != row.name):
        raise EncodeError(where, f"the fields of {row.name}", shown(value))
    return encode_struct(row, fields, where=where)


def _struct32(value: Any, where: str) -> bytes:
    """What a struct32 holds after its size."""
    if isinstance(value, UnknownStruct):
        return bytes(value.code) + value.octets
    row = DIALECT.structs.get(value.name) if isinstance(value, Packed) else None
    if row is None or row.code is None:
        raise EncodeError(where, "a struct that has a code", shown(value))
    return _struct(row, value, where)[row.size_octets :]


_COMPOUND: Mapping[Content, Callable[[Any, str], bytes]] = {
    Content.MAP: _map,
    Content.LIST: _list,
    Content.ARRAY: _array,
    Content.STRUCT: _struct32,
}
