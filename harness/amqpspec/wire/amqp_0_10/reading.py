"""Octets to values: a reader for each type, each type code and each struct, made from the tables.

Knows: forms of types, packing flags, sizes and counts. Must not know: controls, commands, frames.

A reader takes octets, where the value begins, where what encloses it ends, and the depth; it gives the value and where
it ends. Bounded: nesting, counts against the octets that are there, and elements that take no octets.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Category, Content, PackedField, Struct, WireType
from amqpspec.wire.amqp_0_10.values import NO_ARRAY, Array, Map, Packed, UnknownStruct, Value
from amqpspec.wire.errors import WireError, too_short, unreadable

MAX_DEPTH = 100
MAX_EMPTY_ELEMENTS = 256
"""How many elements of an array may take no octets: memory would be theirs for nothing."""

Reader = Callable[[bytes, int, int, int], tuple[Any, int]]

COUNT_OCTETS = 4
"""The width of the number of entries, items or values in a map, list or array."""
CODE_OCTETS = 2
"""Class code and struct code."""
PAIRS = {Content.SEQUENCE_SET: struct.Struct(">II"), Content.BYTE_RANGES: struct.Struct(">QQ")}
"""The bounds of one range."""
_LEAST_ENTRY_OCTETS, _LEAST_ITEM_OCTETS = 2, 1
_FLOATS = {4: struct.Struct(">f"), 8: struct.Struct(">d")}
_MAX_SCALAR, _SURROGATES = 0x10FFFF, range(0xD800, 0xE000)


# --- values of this many octets


def _utf16(octets: bytes) -> str | bytes:
    # The text names no byte order: that of the network, as for all else (5.2).
    try:
        return octets.decode("utf-16-be")
    except UnicodeDecodeError:
        return octets


def _utf32(octets: bytes) -> str | int:
    number = int.from_bytes(octets, "big")
    return number if number > _MAX_SCALAR or number in _SURROGATES else chr(number)


def _unsigned(octets: bytes) -> int:
    return int.from_bytes(octets, "big")


def _signed(octets: bytes) -> int:
    return int.from_bytes(octets, "big", signed=True)


_MADE: Mapping[Content, Callable[[bytes], Any]] = {
    Content.OPAQUE: bytes,
    Content.SIGNED: _signed,
    Content.UNSIGNED: _unsigned,
    Content.SERIAL: _unsigned,
    Content.BOOLEAN: any,
    Content.FLOAT: lambda octets: _FLOATS[len(octets)].unpack(octets)[0],
    Content.DECIMAL: lambda octets: (octets[0], _signed(octets[1:])),
    # Nothing says whether a time can lie before 1970; a time_t that has a sign can.
    Content.TIME: _signed,
    Content.UUID: lambda octets: UUID(bytes=octets),
    Content.LATIN: lambda octets: octets.decode("iso-8859-15"),
    Content.UTF8: lambda octets: octets.decode("utf-8", "surrogateescape"),
    Content.UTF16: _utf16,
    Content.UTF32: _utf32,
    Content.VOID: lambda _: None,
    Content.BIT: lambda _: True,
}


def _fixed(name: str, width: int, made: Callable[[bytes], Any]) -> Reader:
    def read(octets: bytes, at: int, end: int, _depth: int) -> tuple[Any, int]:
        stop = at + width
        if stop > end:
            raise too_short(name, octets, at, width, end)
        return made(octets[at:stop]), stop

    return read


def _variable(name: str, width: int, made: Callable[[bytes], Any]) -> Reader:
    def read(octets: bytes, at: int, end: int, _depth: int) -> tuple[Any, int]:
        start, stop = _extent(name, width, octets, at, end)
        return made(octets[start:stop]), stop

    return read


def _extent(name: str, width: int, octets: bytes, at: int, end: int) -> tuple[int, int]:
    """Where the octets begin and end whose number is at an offset."""
    start = at + width
    if start > end:
        raise too_short(name, octets, at, width, end)
    stop = start + int.from_bytes(octets[at:start], "big")
    if stop > end:
        raise too_short(name, octets, start, stop - start, end)
    return start, stop


# --- ranges


def _ranges(kind: WireType) -> Reader:
    pair = PAIRS[kind.content]

    def read(octets: bytes, at: int, end: int, _depth: int) -> tuple[Any, int]:
        start, stop = _extent(kind.name, kind.width_octets, octets, at, end)
        if (stop - start) % pair.size:
            expected = f"a size that is a multiple of {pair.size}"
            raise unreadable(kind.name, octets, at, expected, f"{stop - start} octets")
        return tuple(pair.iter_unpack(octets[start:stop])), stop

    return read


# --- maps, lists, arrays


def _counted(name: str, octets: bytes, at: int, stop: int, least_octets: int) -> tuple[int, int]:
    """The count at an offset, which cannot be larger than what fits after it, and where the first of them begins."""
    start = at + COUNT_OCTETS
    if start > stop:
        raise too_short(name, octets, at, COUNT_OCTETS, stop)
    count = int.from_bytes(octets[at:start], "big")
    most = (stop - start) // least_octets if least_octets else MAX_EMPTY_ELEMENTS
    if count > most:
        raise unreadable(name, octets, at, f"at most {most} in {stop - start} octets", f"count {count}")
    return count, start


def _deeper(name: str, octets: bytes, at: int, depth: int) -> int:
    if depth >= MAX_DEPTH:
        raise unreadable(name, octets, at, f"at most {MAX_DEPTH} levels", "another level")
    return depth + 1


def _ended(name: str, octets: bytes, at: int, stop: int, what: str) -> None:
    """Size and count or fields give the same information twice: if they differ, one of them is wrong."""
    if at != stop:
        raise unreadable(name, octets, at, f"the end of {what}", f"{stop - at} octets more")


def _map(kind: WireType) -> Reader:
    key = READERS["str8"]

    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        start, stop = _extent("map", kind.width_octets, octets, at, end)
        count, at = _counted("map", octets, start, stop, _LEAST_ENTRY_OCTETS)
        depth, entries = _deeper("map", octets, at, depth), []
        for _ in range(count):
            name, at = key(octets, at, stop, depth)
            value, at = read_value(octets, at, stop, depth)
            entries.append((name, value))
        _ended("map", octets, at, stop, f"{count} entries")
        return Map(entries), stop

    return read


def _list(kind: WireType) -> Reader:
    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        start, stop = _extent("list", kind.width_octets, octets, at, end)
        count, at = _counted("list", octets, start, stop, _LEAST_ITEM_OCTETS)
        depth, items = _deeper("list", octets, at, depth), []
        for _ in range(count):
            value, at = read_value(octets, at, stop, depth)
            items.append(value)
        _ended("list", octets, at, stop, f"{count} items")
        return tuple(items), stop

    return read


def _array(kind: WireType, element: str = "") -> Reader:
    """Arrays as their type code says; if it is opaque and elements should be structs, the octets are structs."""
    row = DIALECT.structs.get(element)
    packed = struct_reader(row) if row else None

    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        start, stop = _extent("array", kind.width_octets, octets, at, end)
        if start == stop:
            # Qpid writes an empty array like this, and its peers have to continue reading; ``problems`` reports it.
            return NO_ARRAY, stop
        name, reader, least = _of_code("array", octets, start)
        count, at = _counted("array", octets, start + 1, stop, least)
        depth, items = _deeper("array", octets, at, depth), []
        for _ in range(count):
            begin, (value, at) = at, reader(octets, at, stop, depth)
            if row and packed and isinstance(value, bytes):
                # A struct that has a size brings it along, with the same octets as an opaque value has.
                begin = begin if row.size_octets else at - len(value)
                value, ended = packed(octets, begin, at, depth)
                _ended("array", octets, ended, at, row.name)
            items.append(value)
        _ended("array", octets, at, stop, f"{count} values")
        return Array(name, tuple(items)), stop

    return read


def _of_code(where: str, octets: bytes, at: int) -> tuple[str | int, Reader, int]:
    """Of the type code at an offset: its name, its reader, and the fewest octets that a value has."""
    known = BY_CODE.get(octets[at])
    if known is None:
        raise unreadable(where, octets, at, "a type code that is not reserved", f"0x{octets[at]:02X}")
    return known


def read_value(octets: bytes, at: int, end: int, depth: int) -> tuple[Value, int]:
    """A type code and the value after it; what has no name but a known width is read as octets (5.2)."""
    if at >= end:
        raise too_short("type code", octets, at, 1, end)
    name, reader, _ = _of_code("value", octets, at)
    value, at = reader(octets, at + 1, end, depth)
    return Value(name, value), at


# --- structs


class Fields:
    """Fields behind their packing flags, read one after the other."""

    def __init__(self, fields: Sequence[PackedField], pack_octets: int) -> None:
        self._pack_octets = pack_octets
        self._readers = [(field.key, field.name, reader_of(field)) for field in fields]

    def read(self, octets: bytes, at: int, end: int, depth: int, args: dict[str, Any]) -> int:
        """Read those that are there into ``args``, which keeps them after a WireError; returns where they end."""
        flags, at = self._flags(octets, at, end)
        for key, name, reader in self._readers:
            if flags & 1:
                try:
                    args[key], at = reader(octets, at, end, depth)
                except WireError as error:
                    raise error.moved(f"{name}: {error.where}", 0) from error
            flags >>= 1
        return at

    def _flags(self, octets: bytes, at: int, end: int) -> tuple[int, int]:
        """One bit for each field, the lowest one for the first."""
        if not self._pack_octets:
            return -1, at
        start = at + self._pack_octets
        if start > end:
            raise too_short("packing flags", octets, at, self._pack_octets, end)
        # Groups of eight fields follow each other, and within an octet the lowest bit is the first field (5.3).
        flags = int.from_bytes(octets[at:start], "little")
        if flags >> len(self._readers):
            # The field of a reserved flag has no known length, so that nothing after it can be found.
            expected, actual = f"flags of {len(self._readers)} fields", octets[at:start].hex(" ")
            raise unreadable("packing flags", octets, at, expected, actual)
        return flags, start


def struct_reader(row: Struct) -> Reader:
    """The reader of one struct, with as much around its fields as its row says: size, code, packing flags."""
    fields, code = Fields(row.fields, row.pack_octets), bytes(row.code or ())

    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        stop, sized = end, row.size_octets
        if sized:
            at, stop = _extent(row.name, sized, octets, at, end)
        if octets[at : min(at + len(code), stop)] != code:
            raise unreadable(row.name, octets, at, f"the code {code.hex(' ')}", octets[at:stop][:2].hex(" "))
        args: dict[str, Any] = {}
        at = fields.read(octets, at + len(code), stop, _deeper(row.name, octets, at, depth), args)
        if sized:
            _ended(row.name, octets, at, stop, "its fields")
        return Packed(row.name, args), at

    return read


def _struct32(kind: WireType) -> Reader:
    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        start, stop = _extent("struct32", kind.width_octets, octets, at, end)
        if stop - start < CODE_OCTETS:
            raise too_short("struct32", octets, start, CODE_OCTETS, stop)
        code = octets[start], octets[start + 1]
        known = BY_STRUCT_CODE.get(code)
        if known is None:
            return UnknownStruct(code, octets[start + CODE_OCTETS : stop]), stop
        return known(octets, at, end, depth)

    return read


def reader_of(field: PackedField) -> Reader:
    """The reader of a field's type, whatever domains lie between them."""
    base = DIALECT.base(field.type)
    if base in DIALECT.structs:
        return struct_reader(DIALECT.structs[base])
    return _array(DIALECT.types_by_name[base], DIALECT.element(field)) if base == "array" else READERS[base]


# --- the tables of readers


_COMPOUND: Mapping[Content, Callable[[WireType], Reader]] = {
    Content.BYTE_RANGES: _ranges,
    Content.SEQUENCE_SET: _ranges,
    Content.MAP: _map,
    Content.LIST: _list,
    Content.ARRAY: _array,
    Content.STRUCT: _struct32,
}


def _reader(kind: WireType) -> Reader:
    if kind.content in _COMPOUND:
        return _COMPOUND[kind.content](kind)
    form = _fixed if kind.category is Category.FIXED else _variable
    return form(kind.name, kind.width_octets, _MADE[kind.content])


def _by_code() -> Iterator[tuple[int, tuple[str | int, Reader, int]]]:
    for code in range(256):
        form, known = DIALECT.form(code), DIALECT.types_by_code.get(code)
        if known is not None:
            yield code, (known.name, READERS[known.name], known.width_octets)
        elif form is not None:
            # A type that no one knows can be passed over all the same: that is what the ranges are for (5.2).
            category, width = form
            made = _fixed if category is Category.FIXED else _variable
            yield code, (code, made(f"type 0x{code:02X}", width, bytes), width)


READERS: dict[str, Reader] = {}
for _kind in DIALECT.types:
    READERS[_kind.name] = _reader(_kind)
BY_CODE = dict(_by_code())
BY_STRUCT_CODE = {code: struct_reader(row) for code, row in DIALECT.structs_by_code.items()}
STRUCTS = {name: struct_reader(row) for name, row in DIALECT.structs.items()}


def decode(type_name: str, octets: bytes, at: int = 0) -> tuple[Any, int]:
    """A value of a type or a struct, without a type code, and where it ends; raises WireError."""
    reader = STRUCTS.get(type_name) or READERS[type_name]
    return reader(octets, at, len(octets), 0)
