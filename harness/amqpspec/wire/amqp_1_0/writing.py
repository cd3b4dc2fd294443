"""Values to octets: each encoding by name, the most compact one of each type, and what Python values are by default.

Knows: constructors, sizes and counts. Must not know: composites' fields, frames. ``Raw`` octets replace any value,
item, key or descriptor as they are.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Category, Encoding
from amqpspec.wire.amqp_1_0 import fast
from amqpspec.wire.amqp_1_0.values import Array, Described, Raw, Repeated, Symbol, Value
from amqpspec.wire.errors import EncodeError, shown

Writer = Callable[[Any], bytes]

NULL = b"\x40"
_U32 = struct.Struct(">I")
_NUMBERS = {
    "ubyte": "B", "ushort": "H", "uint": "I", "ulong": "Q", "byte": "b", "short": "h", "int": "i", "long": "q",
    "float": "f", "double": "d", "timestamp": "q",
}  # fmt: skip
_CONSTANTS = {"null": None, "true": True, "false": False, "uint0": 0, "ulong0": 0}
_FAILURES = (struct.error, TypeError, ValueError, AttributeError, OverflowError)
_CONSTRUCTOR = {e.name: bytes((e.code,)) for e in DIALECT.encodings.values()}
_COMPACT_FIRST = {
    p.name: [e.name for e in sorted(p.encodings, key=lambda e: e.width_octets)] for p in DIALECT.primitives
}


def encode(value: Any) -> bytes:
    """Any value with its constructor; raises EncodeError for what no type takes.

    Plain Python: integers are ``long`` (``ulong`` above its range), texts ``string``, octets ``binary``, sequences
    ``list``, mappings ``map``.
    """
    writer = _BY_CLASS.get(type(value))
    if writer is not None:
        return writer(value)
    for kind, write in _BY_CLASS.items():
        if isinstance(value, kind):
            return write(value)
    octets = getattr(value, "octets", None)
    if isinstance(octets, bytes):
        return octets
    if isinstance(value, Mapping):
        return compact("map", value)
    raise EncodeError("value", "a value that a primitive type can carry", shown(value))


def compact(kind: str, value: Any) -> bytes:
    """A value with its constructor in the shortest encoding of a primitive type; raises EncodeError."""
    attempt = FAST.get(kind)
    if attempt is not None:
        octets = attempt(value)
        if octets is not None:
            return octets
    for name in _COMPACT_FIRST[kind]:
        try:
            return _CONSTRUCTOR[name] + PACK[name](value)
        except EncodeError as error:
            last = error
    raise EncodeError(kind, last.expected, last.actual) from last


def pack(encoding: str | int, value: Any) -> bytes:
    """A value in one encoding, or in the shortest of a type, with its constructor; raises EncodeError."""
    if isinstance(encoding, int):
        known = DIALECT.encodings_by_code.get(encoding)
        if isinstance(value, Raw) or known is None:
            return bytes((encoding & 0xFF,)) + encode_raw(value)
        encoding = known.name
    if encoding in _CONSTRUCTOR:
        return _CONSTRUCTOR[encoding] + (value if isinstance(value, Raw) else PACK[encoding](value))
    if encoding not in _COMPACT_FIRST:
        raise EncodeError("encoding", "the name of an encoding or of a type, or an octet", shown(encoding))
    return value if isinstance(value, Raw) else compact(encoding, value)


def encode_raw(value: Any) -> bytes:
    """What follows an octet that is no constructor: only octets can."""
    if isinstance(value, bytes):
        return value
    raise EncodeError("undefined constructor", "Raw octets", shown(value))


# --- each encoding


def _packer(encoding: Encoding) -> Writer:
    write = _unguarded(encoding)
    name, expected = (
        encoding.name,
        f"a value of {DIALECT.primitive_of[encoding.code]} that fits {encoding.name}",
    )

    def packer(value: Any) -> bytes:
        if isinstance(value, Raw):
            return value
        if isinstance(value, Value):
            value = value.value
        try:
            return write(value)
        except _FAILURES as error:
            if isinstance(error, EncodeError) and error.where != "size":
                raise
            raise EncodeError(name, expected, shown(value)) from error

    return packer


def _unguarded(encoding: Encoding) -> Writer:
    kind, width = DIALECT.primitive_of[encoding.code], encoding.width_octets
    if encoding.name in _CONSTANTS:
        return partial(_constant, _CONSTANTS[encoding.name])
    if encoding.category is Category.VARIABLE:
        return partial(_variable, width, {"binary": _binary, "string": _text, "symbol": _symbol}[kind])
    if encoding.category is Category.ARRAY:
        return partial(_array, width)
    if kind == "list":
        return partial(_list, width)
    if kind == "map":
        return partial(_map, width)
    if kind == "boolean":
        return _boolean
    if kind == "char":
        return _character
    if kind in _NUMBERS:
        code = _NUMBERS[kind]
        if kind in ("float", "double"):
            return struct.Struct(">" + code).pack
        return partial(
            _number, struct.Struct(">" + (code if width != 1 else "b" if code.islower() else "B")).pack
        )
    return partial(_exactly, width)


def _constant(constant: Any, value: Any) -> bytes:
    if value is not constant and (
        value != constant or isinstance(value, bool) is not isinstance(constant, bool)
    ):
        raise ValueError
    return b""


def _boolean(value: Any) -> bytes:
    if not isinstance(value, int) or not 0 <= value <= 255:
        raise TypeError
    return bytes((value,))


def _number(to_octets: Writer, value: Any) -> bytes:
    if isinstance(value, bool):
        raise TypeError
    return to_octets(value)


def _character(value: Any) -> bytes:
    return _U32.pack(ord(value) if isinstance(value, str) else value)


def _exactly(width: int, value: Any) -> bytes:
    octets = value.bytes if isinstance(value, UUID) else _binary(value)
    if len(octets) != width:
        raise ValueError
    return octets


def _binary(value: Any) -> bytes:
    if not isinstance(value, bytes | bytearray | memoryview):
        raise TypeError
    return bytes(value)


def _text(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError
    return value.encode("utf-8", "surrogateescape")


def _symbol(value: Any) -> bytes:
    if not isinstance(value, str):
        raise TypeError
    return value.encode("ascii", "surrogateescape")


def _variable(width: int, convert: Writer, value: Any) -> bytes:
    octets = convert(value)
    return _size(width, len(octets)) + octets


def _size(width: int, number: int) -> bytes:
    if number >= 1 << 8 * width:
        raise EncodeError("size", f"at most {(1 << 8 * width) - 1}", str(number))
    return number.to_bytes(width, "big")


def compound(width: int, parts: list[bytes], *, size: int | None = None, count: int | None = None) -> bytes:
    """Size, count and parts after a constructor; ``size`` and ``count`` may be wrong if they are given."""
    body = b"".join(parts)
    announced = len(body) + width if size is None else size
    return _size(width, announced) + _size(width, len(parts) if count is None else count) + body


def _list(width: int, value: Any) -> bytes:
    parts = _items(value)
    return compound(width, parts) if width else _constant([], parts)


def _items(value: Any) -> list[bytes]:
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise TypeError
    return [encode(item) for item in value]


def _map(width: int, value: Any) -> bytes:
    return compound(width, _entries(value))


def _entries(value: Any) -> list[bytes]:
    pairs = value.items() if isinstance(value, dict | Mapping) else value
    if isinstance(pairs, str | bytes):
        raise TypeError
    return [encode(part) for key, item in pairs for part in (key, item)]


def shortest_list(parts: list[bytes]) -> bytes:
    """Encoded items as a list with its constructor."""
    return _shortest_compound(b"\xc0", b"\xd0", parts) if parts else b"\x45"


def shortest_map(parts: list[bytes]) -> bytes:
    """Encoded keys and values in turn as a map with its constructor."""
    return _shortest_compound(b"\xc1", b"\xd1", parts)


def _shortest_compound(small: bytes, wide: bytes, parts: list[bytes]) -> bytes:
    body, count = b"".join(parts), len(parts)
    size = len(body) + 1
    if size < 256 and count < 256:
        return small + bytes((size, count)) + body
    return wide + _U32.pack(size + 3) + _U32.pack(count) + body


# --- arrays


def _array(width: int, value: Any) -> bytes:
    body, count = _array_body(value)
    return _size(width, len(body) + width) + _size(width, count) + body


def _array_body(value: Any) -> tuple[bytes, int]:
    array = value if isinstance(value, Array) else array_of(value)
    descriptors = b"".join(b"\x00" + encode(d) for d in array.descriptors)
    constructor, elements = _elements(array)
    return descriptors + constructor + elements, len(array.items)


def shortest_array(value: Any) -> bytes:
    """An ``Array``, or items of one plain type, with its constructor."""
    body, count = _array_body(value)
    if len(body) < 255 and count < 256:
        return b"\xe0" + bytes((len(body) + 1, count)) + body
    return b"\xf0" + _U32.pack(len(body) + 4) + _U32.pack(count) + body


def _elements(array: Array) -> tuple[bytes, bytes]:
    name = array.encoding
    if isinstance(name, int):
        known = DIALECT.encodings_by_code.get(name)
        if known is None:
            return bytes((name & 0xFF,)), b"".join(encode_raw(item) for item in array.items)
        name = known.name
    if name in _CONSTRUCTOR:
        if isinstance(array.items, Repeated):
            return _CONSTRUCTOR[name], PACK[name](array.items.value) * len(array.items)
        return _CONSTRUCTOR[name], b"".join(map(PACK[name], array.items))
    if name not in _COMPACT_FIRST:
        raise EncodeError("array", "the name of an encoding or of a type, or an octet", shown(name))
    return _shortest(name, array)


def _shortest(kind: str, array: Array) -> tuple[bytes, bytes]:
    """The shortest encoding that takes every item and some octets."""
    for name in _COMPACT_FIRST[kind]:
        if DIALECT.encodings[name].width_octets or len(_COMPACT_FIRST[kind]) == 1:
            try:
                return _CONSTRUCTOR[name], b"".join(map(PACK[name], array.items))
            except EncodeError as error:
                last = error
    raise last


def array_of(items: Any) -> Array:
    """Plain items of one kind as an array of it; symbols if there are none."""
    if isinstance(items, str | bytes | Mapping) or not isinstance(items, Iterable):
        raise TypeError
    items = list(items)
    kinds = {_ARRAY_KINDS.get(type(item)) for item in items} or {"symbol"}
    kind = kinds.pop()
    if kinds or kind is None:
        raise EncodeError("array", "items of one plain type, or an Array", shown(items))
    return Array(kind, items)


# --- Python's classes


def _described(value: Described) -> bytes:
    return b"\x00" + encode(value.descriptor) + encode(value.value)


def _guarded(write: Writer) -> Writer:
    """A writer of a whole compound that complains as the others do."""

    def guarded(value: Any) -> bytes:
        if isinstance(value, Raw):
            return value
        try:
            return write(value)
        except EncodeError:
            raise
        except _FAILURES as error:
            raise EncodeError("value", "items, pairs or an Array", shown(value)) from error

    return guarded


FAST: dict[str, Callable[[Any], bytes | None]] = {
    "uint": fast.uint,
    "ulong": fast.ulong,
    "string": fast.string,
    "symbol": fast.symbol,
    "boolean": fast.boolean,
    "binary": fast.binary,
    "list": _guarded(lambda value: shortest_list(_items(value))),
    "map": _guarded(lambda value: shortest_map(_entries(value))),
    "array": _guarded(shortest_array),
}
_ARRAY_KINDS: dict[type, str] = {
    Symbol: "symbol", str: "string", bytes: "binary", bool: "boolean", int: "long", float: "double", UUID: "uuid",
}  # fmt: skip
PACK: dict[str, Writer] = {e.name: _packer(e) for e in DIALECT.encodings.values()}
_BY_CLASS: dict[type, Writer] = {
    type(None): lambda value: NULL,
    bool: lambda value: b"\x41" if value else b"\x42",
    int: lambda value: fast.long(value) or compact("ulong", value),
    float: fast.double,
    Symbol: lambda value: fast.symbol(value) or compact("symbol", value),
    str: lambda value: fast.string(value) or compact("string", value),
    Raw: lambda value: value,
    bytes: partial(compact, "binary"),
    bytearray: partial(compact, "binary"),
    UUID: partial(compact, "uuid"),
    Value: lambda value: pack(value.encoding, value.value),
    Described: _described,
    Array: partial(compact, "array"),
    Repeated: partial(compact, "list"),
    list: lambda value: shortest_list([encode(item) for item in value]),
    tuple: lambda value: shortest_list([encode(item) for item in value]),
    dict: lambda value: shortest_map(_entries(value)),
}
