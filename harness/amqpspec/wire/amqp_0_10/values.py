"""Values of AMQP 0-10 as they travel: entries that keep their type, structs by name, octets in place of any value.

Knows: the Python shape of a decoded value. Must not know: how it is encoded.

Python shapes: integers and times ``int`` (a time in seconds); binary ``bytes``; booleans and bits ``bool``; floats
``float``; decimals ``(exponent, mantissa)``; strings ``str`` (octets that are not UTF-8 survive as surrogates, those
that are not UTF-16 as ``bytes``); a char that is no Unicode scalar value an ``int``; UUIDs ``UUID``; byte ranges and
sequence sets tuples of ``(lower, upper)`` as they stand; lists tuples of ``Value``; void ``None``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from amqpspec.wire.values import Raw

__all__ = ["NO_ARRAY", "Array", "Map", "Packed", "Ranges", "Raw", "UnknownStruct", "Value", "plain"]

Ranges = tuple[tuple[int, int], ...]


class Value(NamedTuple):
    """A value with the type it had, or is to have: by name, or any code as an ``int`` for a type without a name."""

    type: str | int
    value: Any


class Array(NamedTuple):
    """Values of one type, which is named as in ``Value``."""

    type: str | int
    items: Sequence[Any]


NO_ARRAY = Array("", ())
"""Where an array's size is zero: it lacks type code and count."""


class Packed(NamedTuple):
    """A struct by its name, with those of its fields that are there, by their keys."""

    name: str
    fields: Mapping[str, Any]


class UnknownStruct(NamedTuple):
    """A struct32 with codes that no table has: the octets behind class code and struct code."""

    code: tuple[int, int]
    octets: bytes


class Map(tuple[tuple[str, Value], ...]):
    """A map in wire order; keys that stand twice stay visible."""

    __slots__ = ()

    @property
    def repeated(self) -> tuple[str, ...]:
        """Keys that stand there more than once."""
        return tuple(key for key, times in Counter(key for key, _ in self).items() if times > 1)

    def get(self, key: str) -> Any:
        """The plain value of the first entry with that key, else None."""
        return next((plain(value) for name, value in self if name == key), None)

    def plain(self) -> dict[str, Any]:
        """Keys to plain values; of those that stand twice, the first one counts."""
        values: dict[str, Any] = {}
        for key, value in self:
            values.setdefault(key, plain(value))
        return values


def plain(value: Any) -> Any:
    """A value without types, all the way down."""
    if isinstance(value, Value):
        return plain(value.value)
    if isinstance(value, Map):
        return value.plain()
    if isinstance(value, Packed):
        return {key: plain(field) for key, field in value.fields.items()}
    if isinstance(value, Array):
        return _each(value.items)
    if isinstance(value, tuple) and any(isinstance(item, Value) for item in value):
        return _each(value)
    return value


def _each(items: Iterable[Any]) -> list[Any]:
    return [plain(item) for item in items]
