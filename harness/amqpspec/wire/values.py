"""Values on the wire: table entries with their tag, and octets that replace any value on request.

Knows: the Python shape of a decoded value. Must not know: how it is encoded.

Python shapes: integers ``int``; bits and booleans ``bool``; short strings ``str`` (octets that are not UTF-8
survive as surrogates); long strings and byte arrays ``bytes``; timestamps ``int`` seconds; decimals
``(scale, unscaled)``; arrays lists of ``Typed``; tables ``Table``; void ``None``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Typed(NamedTuple):
    """A table value with the tag it had, or is to have, on the wire."""

    tag: str
    value: Any


class Raw(bytes):
    """Octets to be sent in place of a value, legal or not."""


class Table(tuple[tuple[str, Typed], ...]):
    """A field table in wire order; duplicate names stay visible."""

    __slots__ = ()

    def get(self, name: str) -> Any:
        """The plain value of the first field of that name, else None."""
        return next((plain(typed) for key, typed in self if key == name), None)

    def plain(self) -> dict[str, Any]:
        """Names to plain values; of duplicates the first wins."""
        values: dict[str, Any] = {}
        for name, typed in self:
            values.setdefault(name, plain(typed))
        return values

    def names(self) -> Iterator[str]:
        """Field names in wire order."""
        return (name for name, _ in self)


def plain(typed: Typed) -> Any:
    """A value without its tags, all the way down."""
    value = typed.value
    if isinstance(value, Table):
        return value.plain()
    if isinstance(value, list):
        return [plain(item) for item in value]
    return value


TableLike = Table | Mapping[str, Any] | Raw
