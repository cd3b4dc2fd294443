"""Compares values of field tables by meaning, not by encoding.

Knows: integers of different widths are equal, true is not 1, and the order of names has no meaning. Must not know:
tags or octets.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any


def canonical(value: Any) -> Hashable:
    """A hashable form that is equal for values of equal meaning."""
    if isinstance(value, bool) or value is None:
        return (type(value).__name__, value)
    if isinstance(value, int | float):
        return ("number", value)
    if isinstance(value, str):
        return ("text", value.encode("utf-8", "surrogateescape"))
    if isinstance(value, bytes | bytearray):
        return ("text", bytes(value))
    if isinstance(value, Mapping):
        return ("table", frozenset((key, canonical(item)) for key, item in value.items()))
    if isinstance(value, list | tuple):
        return ("array", tuple(canonical(item) for item in value))
    return ("other", repr(value))


def as_text(value: Any) -> str | None:
    """A name in a field table as text; None for what is no name."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    return value if isinstance(value, str) else None
