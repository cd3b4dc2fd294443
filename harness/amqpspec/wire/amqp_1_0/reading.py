"""Octets to values: one reader for each constructor octet, compiled from the tables, plain or keeping encodings.

Knows: constructors, sizes and counts. Must not know: composites' fields, frames.

A reader takes octets, where the value begins after its constructor, where what encloses it ends, and the depth; it
gives the value and where it ends. Bounded: nesting, counts against the octets that are there, and elements that
take no octets.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Category, Encoding
from amqpspec.wire.amqp_1_0.values import Array, Described, Map, Repeated, Symbol, Value, each, map_of
from amqpspec.wire.errors import Kind, WireError, too_short, unreadable

MAX_DEPTH = 100
MAX_EMPTY_ELEMENTS = 1 << 16
_MAX_SYMBOLS, _MAX_SYMBOL_OCTETS = 4096, 64
_DESCRIBED = 0x00
_U32 = struct.Struct(">I").unpack_from

Reader = Callable[[bytes, int, int, int], tuple[Any, int]]
Compose = Callable[[Any, Any, bytes, int, int], Any]

_NUMBERS = {
    "ubyte": "B", "ushort": "H", "uint": "I", "ulong": "Q", "byte": "b", "short": "h", "int": "i", "long": "q",
    "float": "f", "double": "d", "timestamp": "q",
}  # fmt: skip
_NARROW = {1: "B", 4: "I", 8: "Q"}
_CONSTANTS = {"null": None, "true": True, "false": False, "uint0": 0, "ulong0": 0}
_symbols: dict[bytes, Symbol] = {}


def described(descriptor: Any, value: Any, _octets: bytes, _start: int, _stop: int) -> Any:
    """A described value as just that."""
    return Described(descriptor, value)


class Readers:
    """The readers of every constructor octet; ``keep`` gives ``Value``s, ``compose`` makes what is described."""

    def __init__(self, *, keep: bool, compose: Compose = described) -> None:
        self._keep, self._compose = keep, compose
        self.table: list[Reader] = [_undefined(code) for code in range(256)]
        self.table[_DESCRIBED] = self._described
        for encoding in DIALECT.encodings.values():
            self.table[encoding.code] = self._reader(encoding)

    def read(self, octets: bytes, at: int = 0, end: int | None = None) -> tuple[Any, int]:
        """One value with its constructor, and where it ends; raises WireError."""
        if type(octets) is not bytes:
            octets = bytes(octets)
        stop = len(octets) if end is None else end
        if at >= stop:
            raise unreadable("value", octets, at, "a constructor", "nothing")
        return self.table[octets[at]](octets, at + 1, stop, 0)

    def _reader(self, encoding: Encoding) -> Reader:
        if encoding.category is Category.ARRAY:
            return self._array(encoding)
        if encoding.category is Category.COMPOUND or encoding.name == "list0":
            return self._compound(encoding)
        return _kept(encoding.name, _simple(encoding, self._keep)) if self._keep else _simple(encoding, False)

    # --- compounds

    def _compound(self, encoding: Encoding) -> Reader:
        name, width, items, keep = encoding.name, encoding.width_octets, self._items, self._keep
        finish = _finisher(name, keep)

        def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
            start, stop, count = _bounds(name, width, octets, at, end)
            return finish(items(name, octets, start, stop, count, depth), octets, at), stop

        def read_list(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
            start, stop, count = _bounds(name, width, octets, at, end)
            return items(name, octets, start, stop, count, depth), stop

        def empty(_octets: bytes, at: int, _end: int, _depth: int) -> tuple[Any, int]:
            return finish([], _octets, at), at

        if name == "list0":
            return empty
        return read_list if name.startswith("list") and not keep else read

    def _items(self, name: str, octets: bytes, at: int, stop: int, count: int, depth: int) -> list[Any]:
        # Each item has a constructor, so there cannot be more items than octets: a wrong count allocates no memory.
        if count > stop - at:
            raise unreadable(
                name, octets, at, f"at most {stop - at} items in {stop - at} octets", f"count {count}"
            )
        if depth >= MAX_DEPTH:
            raise unreadable(name, octets, at, f"at most {MAX_DEPTH} levels", "another level", Kind.BOUND)
        table, depth, values = self.table, depth + 1, []
        try:
            for _ in range(count):
                value, at = table[octets[at]](octets, at + 1, stop, depth)
                values.append(value)
        except IndexError:
            raise too_short(name, octets, at, 1, stop) from None
        # Size and count give the same information twice (§1.6.22 list): if they differ, one of them is wrong.
        if at != stop:
            actual = f"{abs(stop - at)} octets {'more' if at < stop else 'less'}"
            raise unreadable(name, octets, min(at, stop), f"the end of {count} items", actual)
        return values

    # --- described values and arrays

    def _described(self, octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        if depth >= MAX_DEPTH:
            raise unreadable(
                "described value", octets, at, f"at most {MAX_DEPTH} levels", "another level", Kind.BOUND
            )
        start = at - 1
        if at >= end:
            raise too_short("descriptor", octets, at, 1, end)
        descriptor, at = self.table[octets[at]](octets, at + 1, end, depth + 1)
        if at >= end:
            raise too_short("described value", octets, at, 1, end)
        value, at = self.table[octets[at]](octets, at + 1, end, depth + 1)
        return self._compose(descriptor, value, octets, start, at), at

    def _array(self, encoding: Encoding) -> Reader:
        name, width, keep = encoding.name, encoding.width_octets, self._keep

        def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
            start, stop, count = _bounds(name, width, octets, at, end)
            if depth >= MAX_DEPTH:
                raise unreadable(name, octets, at, f"at most {MAX_DEPTH} levels", "another level", Kind.BOUND)
            descriptors, code, begin = self._constructor(name, octets, start, stop, depth)
            items, ended = self._elements(name, octets, (begin, stop, code, count), depth + 1)
            if ended != stop:
                actual = f"{abs(stop - ended)} octets {'more' if ended < stop else 'less'}"
                raise unreadable(name, octets, min(ended, stop), f"the end of {count} elements", actual)
            if keep:
                return Value(name, Array(_name(code), each(_unwrapped, items), descriptors)), stop
            for descriptor in reversed(descriptors):
                items = each(partial(Described, descriptor), items)
            return items, stop

        return read

    def _constructor(
        self, name: str, octets: bytes, at: int, stop: int, depth: int
    ) -> tuple[tuple[Any, ...], int, int]:
        """The descriptors and the constructor octet of an array's elements, and where the elements begin."""
        descriptors: list[Any] = []
        while at < stop and octets[at] == _DESCRIBED:
            if at + 1 >= stop or len(descriptors) >= MAX_DEPTH:
                raise unreadable(name, octets, at, "a descriptor", "none, or too many")
            descriptor, at = self.table[octets[at + 1]](octets, at + 2, stop, depth + 1)
            descriptors.append(descriptor)
        if at >= stop:
            raise too_short(f"{name} constructor", octets, at, 1, stop)
        return tuple(descriptors), octets[at], at + 1

    def _elements(
        self, name: str, octets: bytes, span: tuple[int, int, int, int], depth: int
    ) -> tuple[Sequence[Any], int]:
        at, stop, code, count = span
        read, encoding = self.table[code], DIALECT.encodings_by_code.get(code)
        # Elements share one constructor (§1.6.24): those of a type without octets (null, true, list0) cost nothing to
        # announce, and would cost memory to keep.
        empty = encoding is not None and encoding.category is Category.FIXED and not encoding.width_octets
        room = MAX_EMPTY_ELEMENTS if empty else stop - at
        if count > room:
            what = f"at most {room} elements" + (" of no octets that this reader keeps" if empty else "")
            raise unreadable(name, octets, at, what, f"count {count}", Kind.BOUND if empty else Kind.OTHER)
        if empty and count:
            return Repeated(read(octets, at, stop, depth)[0], count), at
        items = []
        for _ in range(count):
            item, at = read(octets, at, stop, depth)
            items.append(item)
        return items, at


# --- values without values in them


def _simple(encoding: Encoding, keep: bool) -> Reader:
    kind = DIALECT.primitive_of[encoding.code]
    if encoding.name in _CONSTANTS:
        return _constant(_CONSTANTS[encoding.name])
    if encoding.category is Category.VARIABLE:
        return _variable(encoding, _TEXTS[kind])
    if kind == "boolean":
        return _converted(_number(encoding, "B"), (lambda n: bool(n) if n < 2 else n) if keep else bool)
    if kind == "char":
        return _converted(_number(encoding, "I"), character)
    if kind in _NUMBERS:
        narrow = encoding.width_octets == 1
        signed = _NUMBERS[kind].islower()
        return _number(encoding, ("b" if signed else "B") if narrow else _NUMBERS[kind])
    return _fixed(encoding, _uuid if kind == "uuid" else bytes)


def _kept(name: str, read: Reader) -> Reader:
    def reader(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        value, at = read(octets, at, end, depth)
        return Value(name, value), at

    return reader


def _constant(value: Any) -> Reader:
    return lambda octets, at, end, depth: (value, at)


def _number(encoding: Encoding, code: str) -> Reader:
    name, width, unpack = encoding.name, encoding.width_octets, struct.Struct(">" + code).unpack_from

    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        stop = at + width
        if stop > end:
            raise too_short(name, octets, at, width, end)
        return unpack(octets, at)[0], stop

    def read_octet(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        if at >= end:
            raise too_short(name, octets, at, 1, end)
        return octets[at], at + 1

    return read_octet if code == "B" else read


def _converted(read: Reader, convert: Callable[[Any], Any]) -> Reader:
    def reader(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        value, at = read(octets, at, end, depth)
        return convert(value), at

    return reader


def _fixed(encoding: Encoding, convert: Callable[[bytes], Any]) -> Reader:
    name, width = encoding.name, encoding.width_octets

    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        stop = at + width
        if stop > end:
            raise too_short(name, octets, at, width, end)
        return convert(octets[at:stop]), stop

    return read


def _variable(encoding: Encoding, convert: Callable[[bytes], Any]) -> Reader:
    # Written out for both widths: nearly all values on the wire are read here.
    name, width = encoding.name, encoding.width_octets

    def read8(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        start = at + 1
        if start > end:
            raise too_short(name, octets, at, 1, end)
        stop = start + octets[at]
        if stop > end:
            raise too_short(name, octets, at, octets[at], end - 1)
        return convert(octets[start:stop]), stop

    def read32(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        start = at + 4
        if start > end:
            raise too_short(name, octets, at, 4, end)
        stop = start + _U32(octets, at)[0]
        if stop > end:
            raise too_short(name, octets, at, stop - start, end - 4)
        return convert(octets[start:stop]), stop

    return read8 if width == 1 else read32


def _text(octets: bytes) -> str:
    return octets.decode("utf-8", "surrogateescape")


def _symbol(octets: bytes) -> Symbol:
    """A symbol; short ones are kept, up to a fixed number of them."""
    known = _symbols.get(octets)
    if known is None:
        known = Symbol(octets.decode("ascii", "surrogateescape"))
        if len(_symbols) < _MAX_SYMBOLS and len(octets) <= _MAX_SYMBOL_OCTETS:
            _symbols[octets] = known
    return known


def _uuid(octets: bytes) -> UUID:
    return UUID(bytes=octets)


def character(number: int) -> str | int:
    """A Unicode scalar value as text; anything else stays a number."""
    return chr(number) if number < 0xD800 or 0xDFFF < number < 0x110000 else number


_TEXTS: dict[str, Callable[[bytes], Any]] = {"binary": bytes, "string": _text, "symbol": _symbol}


# --- sizes and counts


def _bounds(name: str, width: int, octets: bytes, at: int, end: int) -> tuple[int, int, int]:
    """Where the items of a compound or an array begin and end, and how many are announced."""
    start = at + width
    if start + width > end:
        raise too_short(f"{name} size and count", octets, at, 2 * width, end)
    size, count = (octets[at], octets[start]) if width == 1 else (_U32(octets, at)[0], _U32(octets, start)[0])
    # The size counts the count after it (§1.2.3).
    if size < width:
        raise unreadable(name, octets, at, f"a size of at least {width}, for the count", f"size {size}")
    if start + size > end:
        raise too_short(name, octets, at, size, end - width)
    return start + width, start + size, count


def _finisher(name: str, keep: bool) -> Callable[[list[Any], bytes, int], Any]:
    def pairs(items: list[Any], octets: bytes, at: int) -> Iterator[tuple[Any, Any]]:
        if len(items) % 2:
            raise unreadable(name, octets, at, "an even count of items", f"count {len(items)}")
        return zip(items[::2], items[1::2], strict=True)

    def as_map(items: list[Any], octets: bytes, at: int) -> Any:
        try:
            result = Map(pairs(items, octets, at))
        except TypeError:
            return map_of(pairs(items, octets, at))
        return result if 2 * len(result) == len(items) else map_of(pairs(items, octets, at))

    if name.startswith("map"):
        return (lambda items, octets, at: Value(name, tuple(pairs(items, octets, at)))) if keep else as_map
    return (lambda items, octets, at: Value(name, items)) if keep else lambda items, octets, at: items


def _undefined(code: int) -> Reader:
    def read(octets: bytes, at: int, end: int, depth: int) -> tuple[Any, int]:
        raise unreadable(
            "value", octets, at - 1, "a constructor of a primitive type", f"constructor 0x{code:02X}"
        )

    return read


def _unwrapped(item: Value) -> Any:
    return item.value


def _name(code: int) -> str | int:
    encoding = DIALECT.encodings_by_code.get(code)
    return encoding.name if encoding else code


KEEPING = Readers(keep=True)

__all__ = ["KEEPING", "MAX_DEPTH", "MAX_EMPTY_ELEMENTS", "Readers", "WireError", "character", "described"]
