"""Numbers, and values with a length prefix: the basis of fields and tables.

Knows: widths, and what errors say of them. Must not know: fields, tags, commands.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.errors import EncodeError, shown, too_short


def to_octets(text: Any, where: str) -> bytes:
    """A string as octets; surrogates from decoding go back to what they were. Raises EncodeError."""
    try:
        return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    except (AttributeError, UnicodeEncodeError) as error:
        raise EncodeError(where, "a string", shown(text)) from error


def to_text(octets: bytes) -> str:
    """A short string; octets that are not UTF-8 survive as surrogates."""
    return octets.decode("utf-8", "surrogateescape")


def number_at(octets: bytes, at: int, width: int, end: int, where: str) -> int:
    """The number at an offset; raises WireError if it does not end before ``end``."""
    if at + width > end:
        raise too_short(where, octets, at, width, end)
    return int.from_bytes(octets[at : at + width], "big")


def extent_at(octets: bytes, at: int, width: int, end: int, where: str) -> tuple[int, int]:
    """Where the octets begin and end whose number is at an offset; raises WireError."""
    size, start = number_at(octets, at, width, end, where), at + width
    if start + size > end:
        raise too_short(where, octets, start, size, end)
    return start, start + size
