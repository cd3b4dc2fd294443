"""Values that mostly come, to octets without detours: None if the general way has to be gone.

Knows: the shortest encodings of simple types. Must not know: compounds, composites.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

Fast = Callable[[Any], bytes | None]

_SMALL_LONGS = {n: b"\x55" + n.to_bytes(1, "big", signed=True) for n in range(-128, 128)}
_LONG = struct.Struct(">cq").pack


def long(value: int) -> bytes | None:
    """An integer as a long."""
    if value in _SMALL_LONGS:
        return _SMALL_LONGS[value]
    if -(1 << 63) <= value < 1 << 63:
        return _LONG(b"\x81", value)
    return None


def double(value: float) -> bytes:
    """A float as a double."""
    return b"\x82" + _DOUBLE(value)


_DOUBLE = struct.Struct(">d").pack


def _small_numbers(zero: bytes, small: bytes, wide: bytes, code: str) -> Fast:
    """Unsigned numbers by table below 256; None for what is no number of this type."""
    octets = tuple((small + bytes((n,))) if n or not zero else zero for n in range(256))
    to_octets, top = struct.Struct(">c" + code).pack, 1 << 8 * struct.calcsize(">" + code)

    def write(value: Any) -> bytes | None:
        if type(value) is not int:
            return None
        if 0 <= value < 256:
            return octets[value]
        return to_octets(wide, value) if 0 < value < top else None

    return write


def _short_texts(small: bytes, codec: str) -> Fast:
    lengths = tuple(small + bytes((n,)) for n in range(256))

    def write(value: Any) -> bytes | None:
        if not isinstance(value, str):
            return None
        try:
            octets = value.encode(codec, "surrogateescape")
        except UnicodeEncodeError:
            return None
        return lengths[len(octets)] + octets if len(octets) < 256 else None

    return write


def binary(value: Any) -> bytes | None:
    """Short octets."""
    return b"\xa0" + bytes((len(value),)) + value if type(value) is bytes and len(value) < 256 else None


def boolean(value: Any) -> bytes | None:
    """A truth value."""
    return b"\x41" if value is True else b"\x42" if value is False else None


uint = _small_numbers(b"\x43", b"\x52", b"\x70", "I")
ulong = _small_numbers(b"\x44", b"\x53", b"\x80", "Q")
string = _short_texts(b"\xa1", "utf-8")
symbol = _short_texts(b"\xa3", "ascii")
