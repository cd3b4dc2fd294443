"""Values as they travel: with the encoding they had or are to have, or as plain Python.

Knows: the Python shape of a value. Must not know: how it is encoded.

Plain shapes: null ``None``; booleans ``bool``; integers and timestamps (milliseconds) ``int``; floats ``float``;
decimals their octets; chars and strings ``str`` (octets that are not UTF-8 survive as surrogates; a char that is no
Unicode scalar value is an ``int``); symbols ``Symbol``; binary ``bytes``; lists and arrays ``list``; maps ``Map``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, overload

from amqpspec.wire.values import Raw

__all__ = ["Array", "Described", "Map", "Raw", "Repeated", "Symbol", "Value", "plain"]


class Symbol(str):
    """A symbolic value: ASCII by the specification, any octets as surrogates where a peer sent them."""

    __slots__ = ()


class Value(NamedTuple):
    """A value with its encoding.

    ``encoding`` is the name of an encoding (``smalluint``, ``uint4``), or of a type that has several for the most
    compact one (``uint``), or any octet as an ``int``; a ``Raw`` value then follows the constructor as it is. Read
    values hold: of a list, values; of a map, pairs of values; of an array, an ``Array``.
    """

    encoding: str | int
    value: Any


class Described(NamedTuple):
    """A descriptor and what it describes."""

    descriptor: Any
    value: Any


class Array(NamedTuple):
    """Items under one constructor, described by ``descriptors`` (the outermost first) if there are some.

    ``encoding`` is as in ``Value``; the items stand without constructors.
    """

    encoding: str | int
    items: Sequence[Any]
    descriptors: tuple[Any, ...] = ()


class Map(dict[Any, Any]):
    """A map in wire order; of equal keys the first wins, and ``repeated`` says that there were some."""

    repeated = False


class Repeated(Sequence[Any]):
    """The elements of an array that take no octets: one value, this many times, in little memory."""

    __slots__ = ("times", "value")

    def __init__(self, value: Any, times: int) -> None:
        self.value, self.times = value, times

    def __len__(self) -> int:
        return self.times

    @overload
    def __getitem__(self, at: int) -> Any: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[Any]: ...

    def __getitem__(self, at: int | slice) -> Any:
        places = range(self.times)[at]
        return Repeated(self.value, len(places)) if isinstance(places, range) else self.value

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Repeated):
            return (self.value, self.times) == (other.value, other.times)
        return isinstance(other, list) and len(other) == self.times and all(o == self.value for o in other)

    def __hash__(self) -> int:
        return hash((self.value, self.times))

    def __repr__(self) -> str:
        return f"[{self.value!r}] * {self.times}"


def each(change: Callable[[Any], Any], items: Sequence[Any]) -> Sequence[Any]:
    """What happens to every item; what is repeated stays so."""
    if isinstance(items, Repeated):
        return Repeated(change(items.value), items.times)
    return [change(item) for item in items]


def plain(value: Any) -> Any:
    """A value without its encodings, all the way down."""
    if isinstance(value, Described):
        return Described(plain(value.descriptor), plain(value.value))
    if isinstance(value, Array):
        return _described(value.descriptors, each(plain, value.items))
    if isinstance(value, Value):
        name = str(value.encoding)
        if name.startswith("map"):
            return map_of((plain(key), plain(item)) for key, item in _pairs(value.value))
        inner = plain(value.value)
        return bool(inner) if name == "boolean1" and isinstance(inner, int) else inner
    return each(plain, value) if isinstance(value, list | Repeated) else value


def map_of(pairs: Iterable[tuple[Any, Any]]) -> Map:
    """Pairs as a map; keys that Python cannot hash become tuples."""
    result = Map()
    for key, value in pairs:
        known = hashable(key)
        if known in result:
            result.repeated = True
        else:
            result[known] = value
    return result


def hashable(key: Any) -> Any:
    """A value as a key: lists as tuples, maps as tuples of pairs."""
    if isinstance(key, Mapping):
        return tuple((hashable(k), hashable(v)) for k, v in key.items())
    if isinstance(key, Described):
        return Described(hashable(key.descriptor), hashable(key.value))
    return tuple(map(hashable, key)) if isinstance(key, list) else key


def _pairs(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, Mapping) else value


def _described(descriptors: Sequence[Any], items: Sequence[Any]) -> Sequence[Any]:
    for descriptor in reversed(descriptors):
        items = each(partial(Described, plain(descriptor)), items)
    return items
