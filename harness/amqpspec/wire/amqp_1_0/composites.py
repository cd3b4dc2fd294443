"""Decoding composites: described lists as fields by name, with defaults, their encoding, and their errors.

Knows: rows of composites. Must not know: frames, states.
Reading is tolerant: whatever can be read is given, and ``problems`` tells what the specification says against it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, cast

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import Composite
from amqpspec.wire.amqp_1_0.problems import Problem, problems_of
from amqpspec.wire.amqp_1_0.reading import KEEPING, Readers
from amqpspec.wire.amqp_1_0.secrets import instead_of
from amqpspec.wire.amqp_1_0.values import Array, Described, Symbol, Value
from amqpspec.wire.errors import Kind, WireError, shown, unreadable


class Composed:
    """A composite value as it was read.

    ``c["container_id"]``, or ``c["container-id"]``, is a field as plain Python: its default if it was left out or
    null, a tuple if it may have several values, another ``Composed`` if it is a composite.
    """

    __slots__ = ("_fields", "_items", "_problems", "_source", "_start", "_stop", "_values", "row")

    def __init__(self, row: Composite, items: list[Any], source: bytes, start: int, stop: int) -> None:
        self.row, self._items = row, items
        self._source, self._start, self._stop = source, start, stop
        self._fields: dict[str, Any] | None = None
        self._values: Mapping[str, Any] | None = None
        self._problems: tuple[Problem, ...] | None = None

    @property
    def name(self) -> str:
        """The composite's name."""
        return self.row.name

    @property
    def fields(self) -> Mapping[str, Any]:
        """Every field by key, plain, defaults filled in."""
        if self._fields is None:
            self._fields = self._filled()
        return self._fields

    def __getitem__(self, key: str) -> Any:
        fields = self._fields
        if fields is None:
            fields = self._fields = self._filled()
        try:
            return fields[key]
        except KeyError:
            return fields[key.replace("-", "_")]

    def get(self, key: str, default: Any = None) -> Any:
        """A field, or ``default`` if there is none of that name or it has no value."""
        value = self.fields.get(key.replace("-", "_"))
        return default if value is None else value

    @property
    def given(self) -> frozenset[str]:
        """The keys of the fields that were sent and are not null."""
        pairs = zip(self.row.fields, self._items, strict=False)
        return frozenset(field.key for field, item in pairs if item is not None)

    @property
    def values(self) -> Mapping[str, Any]:
        """The fields that were sent, nulls too, by key, with their encodings: ``Value`` or ``Described``."""
        if self._values is None:
            pairs = zip(self.row.fields, _sent(_kept(self.octets).value.value), strict=False)
            self._values = MappingProxyType({field.key: item for field, item in pairs})
        return self._values

    @property
    def described(self) -> Described:
        """The whole value with its encodings: the descriptor, and the list with what is too much in it."""
        return _kept(self.octets)

    @property
    def octets(self) -> bytes:
        """The value as it was sent, descriptor included."""
        return self._source[self._start : self._stop]

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the specification says against this value; empty for a correct one."""
        if self._problems is None:
            self._problems = problems_of(self.row, _kept(self.octets))
        return self._problems

    def describe(self) -> str:
        """Name and given fields on one line; secrets are left out."""
        given = self.given
        texts = (f"{f.name}={self._shown(f.name, self[f.key])}" for f in self.row.fields if f.key in given)
        return " ".join((self.name, *texts))

    def _shown(self, name: str, value: Any) -> str:
        return instead_of(self.name, name, value) or shown(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Composed) and (self.row, self.fields) == (other.row, other.fields)

    def __hash__(self) -> int:
        return hash(self.octets)

    def __repr__(self) -> str:
        return f"<{self.describe()}>"

    def _filled(self) -> dict[str, Any]:
        keys, defaults, multiple = _PLANS[self.row.name]
        fields = defaults.copy()
        for key, item in zip(keys, self._items, strict=False):
            if item is not None:
                fields[key] = item
        for key in multiple:
            fields[key] = _several(fields[key])
        return fields


class Performative(Composed):
    """What a frame carries."""

    __slots__ = ()

    @property
    def handle(self) -> Any:
        """The link handle, None if the performative has none."""
        return self.fields.get("handle")


def decode_composite(octets: bytes, at: int = 0) -> tuple[Composed, int]:
    """One composite of the tables, and where it ends; raises WireError."""
    value, end = READERS.read(octets, at)
    if isinstance(value, Composed):
        return value, end
    raise not_composed(value, octets, at)


def not_composed(value: Any, octets: bytes, at: int) -> WireError:
    """The complaint about a value that is no composite of the tables."""
    if isinstance(value, Described):
        row = DIALECT.described.get(value.descriptor) if _is_descriptor(value.descriptor) else None
        actual = f"descriptor {shown(value.descriptor)}" + (f", {row.name}, of no list" if row else "")
    else:
        actual = f"{type(value).__name__} {shown(value)}"
    return unreadable("composite", octets, at, "a described list of a known type", actual, Kind.BODY)


def _several(value: Any) -> Any:
    if value is None:
        return ()
    return tuple(value) if type(value) is list else (value,)


def _kept(octets: bytes) -> Described:
    value = KEEPING.read(octets)[0]
    assert isinstance(value, Described)
    return value


def _sent(held: Any) -> Iterable[Any]:
    """The items with their encodings; those of an array, which a peer may send for a list, have one constructor."""
    if not isinstance(held, Array):
        return cast(Iterable[Any], held)
    items: list[Any] = [Value(held.encoding, item) for item in held.items]
    for descriptor in reversed(held.descriptors):
        items = [Described(descriptor, item) for item in items]
    return items


def _is_descriptor(descriptor: Any) -> bool:
    return type(descriptor) is int or type(descriptor) is Symbol


def _compose(descriptor: Any, value: Any, octets: bytes, start: int, stop: int) -> Any:
    if type(value) is list and _is_descriptor(descriptor):
        known = _COMPOSED.get(descriptor)
        if known is not None:
            return known[0](known[1], value, octets, start, stop)
    return Described(descriptor, value)


def _plan(row: Composite) -> tuple[tuple[str, ...], dict[str, Any], tuple[str, ...]]:
    defaults = {f.key: _plain_default(DIALECT.default(f)) for f in row.fields}
    return tuple(defaults), defaults, tuple(f.key for f in row.fields if f.multiple)


def _plain_default(value: Any) -> Any:
    return Symbol(value) if isinstance(value, str) else value


def _class_of(row: Composite) -> type[Composed]:
    return Performative if {"frame", "sasl-frame"} & set(row.provides) else Composed


_PLANS = {row.name: _plan(row) for row in DIALECT.composites.values()}
_COMPOSED = {key: (_class_of(r), r) for r in DIALECT.composites.values() for key in (r.code, r.symbol)}
READERS = Readers(keep=False, compose=_compose)

__all__ = ["READERS", "Composed", "Performative", "Problem", "Value", "decode_composite", "not_composed"]
