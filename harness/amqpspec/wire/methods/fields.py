"""Runs of fields as they follow each other in a method or a content header, compiled to small closures.

Knows: primitives, bit packing, tables. Must not know: methods, property flags, frames.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from amqpspec.spec.methods import Field
from amqpspec.wire.errors import EncodeError, too_short
from amqpspec.wire.methods.primitives import (
    ENCODING_FAILURES,
    NUMBERS,
    OCTET,
    U32,
    not_encodable,
    pack_longstr,
    pack_shortstr,
)
from amqpspec.wire.methods.tables import TableCodec
from amqpspec.wire.values import Raw

Reader = Callable[[bytes, int, dict[str, Any]], int]
"""Octets, where to begin, where to put the values → where it ended."""

Writer = Callable[[Mapping[str, Any]], bytes]

_BITS_PER_OCTET = 8


class FieldCodec:
    """Compiles fields to readers and writers."""

    def __init__(self, tables: TableCodec) -> None:
        self._tables = tables

    def readers(self, fields: Sequence[Field]) -> tuple[Reader, ...]:
        """What reads the fields one after the other."""
        return tuple(self._reader(kind, run) for kind, run in _runs(fields))

    def writers(self, fields: Sequence[Field]) -> tuple[Writer, ...]:
        """What writes the fields one after the other; fields without a value are zero or empty."""
        return tuple(self._writer(kind, run) for kind, run in _runs(fields))

    def encode_value(self, primitive: str, value: Any, where: str = "") -> bytes:
        """One value; None is zero or empty, ``Raw`` is sent as it is. EncodeError for what does not fit."""
        if isinstance(value, Raw):
            return bytes(value)
        try:
            return self._encode(primitive, value)
        except EncodeError as error:
            inner = f"{where} › {error.where}" if where else error.where
            raise EncodeError(inner, error.expected, error.actual) from None
        except ENCODING_FAILURES as error:
            raise not_encodable(where or primitive, primitive, value) from error

    def _encode(self, primitive: str, value: Any) -> bytes:
        if primitive in NUMBERS:
            return struct.pack(">" + NUMBERS[primitive], 0 if value is None else value)
        if primitive == "shortstr":
            return pack_shortstr("" if value is None else value)
        if primitive == "longstr":
            return pack_longstr("" if value is None else value)
        return self._tables.encode({} if value is None else value)

    def _reader(self, kind: str, run: tuple[Field, ...]) -> Reader:
        if kind == "bit":
            return _bits_reader(run)
        if kind == "number":
            return _numbers_reader(run)
        if kind == "table":
            return _table_reader(run[0].key, self._tables)
        return _shortstr_reader(run[0].key) if kind == "shortstr" else _longstr_reader(run[0].key)

    def _writer(self, kind: str, run: tuple[Field, ...]) -> Writer:
        if kind == "bit":
            return _bits_writer(run)
        if kind == "number":
            return self._numbers_writer(run)
        return self._string_writer(run[0]) if kind.endswith("str") else self._table_writer(run[0])

    def _numbers_writer(self, run: tuple[Field, ...]) -> Writer:
        pack, keys = _struct_of(run).pack, tuple(f.key for f in run)

        def numbers(args: Mapping[str, Any]) -> bytes:
            try:
                return pack(*[args.get(key, 0) for key in keys])
            except struct.error:
                return b"".join(self.encode_value(f.type, args.get(f.key), f.name) for f in run)

        return numbers

    def _string_writer(self, field: Field) -> Writer:
        key, pack = field.key, pack_shortstr if field.type == "shortstr" else pack_longstr

        def string(args: Mapping[str, Any]) -> bytes:
            value = args.get(key, "")
            if type(value) is not Raw:
                try:
                    return pack(value)
                except ENCODING_FAILURES:
                    pass
            return self.encode_value(field.type, value, field.name)

        return string

    def _table_writer(self, field: Field) -> Writer:
        return lambda args: self.encode_value(field.type, args.get(field.key), field.name)


def _runs(fields: Sequence[Field]) -> Iterator[tuple[str, tuple[Field, ...]]]:
    """Neighbours that share octets (bits) or one struct (numbers) together, any other field alone."""
    for kind, group in groupby(fields, _kind):
        if kind in ("bit", "number"):
            yield kind, tuple(group)
        else:
            yield from ((kind, (field,)) for field in group)


def _kind(field: Field) -> str:
    return "number" if field.type in NUMBERS else field.type


def _struct_of(run: tuple[Field, ...]) -> struct.Struct:
    return struct.Struct(">" + "".join(NUMBERS[f.type] for f in run))


# --- reading


def _numbers_reader(run: tuple[Field, ...]) -> Reader:
    form, keys = _struct_of(run), tuple(enumerate(f.key for f in run))
    size, unpack, what = form.size, form.unpack_from, ", ".join(f.name for f in run)

    def numbers(octets: bytes, at: int, args: dict[str, Any]) -> int:
        if at + size > len(octets):
            raise too_short(what, octets, at, size, len(octets))
        values = unpack(octets, at)
        for index, key in keys:
            args[key] = values[index]
        return at + size

    return numbers


def _bits_reader(run: tuple[Field, ...]) -> Reader:
    width = (len(run) + _BITS_PER_OCTET - 1) // _BITS_PER_OCTET
    masks = tuple((f.key, 1 << position) for position, f in enumerate(run))
    what = ", ".join(f.name for f in run)

    def bits(octets: bytes, at: int, args: dict[str, Any]) -> int:
        stop = at + width
        if stop > len(octets):
            raise too_short(what, octets, at, width, len(octets))
        word = octets[at] if width == 1 else int.from_bytes(octets[at:stop], "little")
        for key, mask in masks:
            args[key] = word & mask != 0
        return stop

    return bits


def _shortstr_reader(key: str) -> Reader:
    def shortstr(octets: bytes, at: int, args: dict[str, Any]) -> int:
        start = at + 1
        if start > len(octets):
            raise too_short(key, octets, at, 1, len(octets))
        stop = start + octets[at]
        if stop > len(octets):
            raise too_short(key, octets, start, stop - start, len(octets))
        args[key] = octets[start:stop].decode("utf-8", "surrogateescape")
        return stop

    return shortstr


def _longstr_reader(key: str) -> Reader:
    def longstr(octets: bytes, at: int, args: dict[str, Any]) -> int:
        start = at + 4
        if start > len(octets):
            raise too_short(key, octets, at, 4, len(octets))
        stop = start + U32.unpack_from(octets, at)[0]
        if stop > len(octets):
            raise too_short(key, octets, start, stop - start, len(octets))
        args[key] = octets[start:stop]
        return int(stop)

    return longstr


def _table_reader(key: str, tables: TableCodec) -> Reader:
    decode = tables.decode

    def table(octets: bytes, at: int, args: dict[str, Any]) -> int:
        args[key], at = decode(octets, at, len(octets))
        return at

    return table


# --- writing


def _bits_writer(run: tuple[Field, ...]) -> Writer:
    width = (len(run) + _BITS_PER_OCTET - 1) // _BITS_PER_OCTET
    masks = tuple((f.key, 1 << position) for position, f in enumerate(run))

    def bits(args: Mapping[str, Any]) -> bytes:
        word = 0
        for key, mask in masks:
            value = args.get(key)
            if value:
                word |= mask
            if type(value) is Raw:
                return value
        return OCTET[word] if width == 1 else word.to_bytes(width, "little")

    return bits
