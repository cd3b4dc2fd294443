"""Readers and writers of the table values that contain no other values, one closure for each tag.

Knows: how each primitive follows its tag. Must not know: which dialect has which tags, nesting.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from functools import partial
from typing import Any

from amqpspec.spec.methods import TypeTag
from amqpspec.wire.errors import too_short
from amqpspec.wire.methods.primitives import DECIMAL, NUMBERS, U32, pack_shortstr
from amqpspec.wire.values import Typed

ValueReader = Callable[[bytes, int, int, int], tuple[Typed, int]]
"""Octets, where the value begins (after its tag), where the table ends, depth → value and where it ends."""

ValueWriter = Callable[[Any], bytes]

_new = tuple.__new__


def simple_reader(tag: TypeTag) -> ValueReader:
    """The reader of a tag whose primitive holds no tables."""
    if tag.primitive in NUMBERS:
        return _number_reader(tag)
    return _READERS[tag.primitive](tag.tag)


def simple_writer(tag: TypeTag) -> ValueWriter:
    """The writer of a tag whose primitive holds no tables; it writes the tag too."""
    octet = tag.tag.encode()
    if tag.primitive in NUMBERS:
        return partial(struct.Struct(">B" + NUMBERS[tag.primitive]).pack, octet[0])
    return _WRITERS[tag.primitive](octet)


def _number_reader(tag: TypeTag) -> ValueReader:
    form = struct.Struct(">" + NUMBERS[tag.primitive])
    name, what, size, unpack = tag.tag, tag.primitive, form.size, form.unpack_from

    def number(octets: bytes, at: int, end: int, depth: int) -> tuple[Typed, int]:
        stop = at + size
        if stop > end:
            raise too_short(what, octets, at, size, end)
        return _new(Typed, (name, unpack(octets, at)[0])), stop

    return number


def _decimal_reader(tag: str) -> ValueReader:
    def decimal(octets: bytes, at: int, end: int, depth: int) -> tuple[Typed, int]:
        if at + 5 > end:
            raise too_short("decimal", octets, at, 5, end)
        return _new(Typed, (tag, DECIMAL.unpack_from(octets, at))), at + 5

    return decimal


def _shortstr_reader(tag: str) -> ValueReader:
    def shortstr(octets: bytes, at: int, end: int, depth: int) -> tuple[Typed, int]:
        if at >= end:
            raise too_short("shortstr", octets, at, 1, end)
        stop = at + 1 + octets[at]
        if stop > end:
            raise too_short("shortstr", octets, at + 1, octets[at], end)
        return _new(Typed, (tag, octets[at + 1 : stop].decode("utf-8", "surrogateescape"))), stop

    return shortstr


def _longstr_reader(tag: str) -> ValueReader:
    def longstr(octets: bytes, at: int, end: int, depth: int) -> tuple[Typed, int]:
        start = at + 4
        if start > end:
            raise too_short("longstr", octets, at, 4, end)
        stop = start + U32.unpack_from(octets, at)[0]
        if stop > end:
            raise too_short("longstr", octets, start, stop - start, end)
        return _new(Typed, (tag, octets[start:stop])), stop

    return longstr


def _void_reader(tag: str) -> ValueReader:
    void = Typed(tag, None)
    return lambda octets, at, end, depth: (void, at)


_READERS: dict[str, Callable[[str], ValueReader]] = {
    "decimal": _decimal_reader,
    "shortstr": _shortstr_reader,
    "longstr": _longstr_reader,
    "bytes": _longstr_reader,
    "void": _void_reader,
}


def _longstr_writer(octet: bytes) -> ValueWriter:
    pack, tag = struct.Struct(">BI").pack, octet[0]

    def longstr(value: str | bytes) -> bytes:
        octets = value if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape")
        return pack(tag, len(octets)) + octets

    return longstr


_WRITERS: dict[str, Callable[[bytes], ValueWriter]] = {
    "decimal": lambda octet: lambda value: octet + DECIMAL.pack(*value),
    "shortstr": lambda octet: lambda value: octet + pack_shortstr(value),
    "longstr": _longstr_writer,
    "bytes": _longstr_writer,
    "void": lambda octet: lambda value: octet,
}
