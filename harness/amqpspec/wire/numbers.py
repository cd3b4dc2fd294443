"""Numbers of any width as octets, and octets behind their number.

Knows: widths, and what errors say of them. Must not know: fields, types, dialects.
"""

from __future__ import annotations

from operator import index
from typing import Any

from amqpspec.wire.errors import EncodeError, shown


def pack_number(value: Any, width: int, where: str, *, signed: bool = False) -> bytes:
    """A number in network order; raises EncodeError for what does not fit."""
    try:
        return index(value).to_bytes(width, "big", signed=signed)
    except (OverflowError, TypeError) as error:
        bits = 8 * width - signed
        least = -(1 << bits) if signed else 0
        raise EncodeError(where, f"an integer from {least} to {(1 << bits) - 1}", shown(value)) from error


def pack_counted(octets: bytes, width: int, where: str) -> bytes:
    """Octets behind their number; raises EncodeError for too many."""
    try:
        return len(octets).to_bytes(width, "big") + octets
    except OverflowError as error:
        expected = f"at most {(1 << 8 * width) - 1} octets"
        raise EncodeError(where, expected, f"{len(octets)} octets") from error
