"""Violations of the specification by decoded values: types, mandatory fields, choices, archetypes, keys, texts.

Knows: what the tables permit in each place. Must not know: frames, states, how octets are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, zip_longest
from typing import Any, NamedTuple

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.spec.typed import ANY, Composite, Restricted, TypedField
from amqpspec.wire.amqp_1_0.values import Array, Described, Repeated, Value, hashable, plain
from amqpspec.wire.errors import Kind, shown

MAX_PROBLEMS = 32
_KIND = {e.name: p.name for p in DIALECT.primitives for e in p.encodings}
_MISSING = object()


class Problem(NamedTuple):
    """A value that its place does not permit."""

    where: str
    expected: str
    actual: str
    kind: Kind = Kind.OTHER

    def __str__(self) -> str:
        return f"{self.where}: {self.actual}, expected {self.expected}"


def problems_of(row: Composite | Restricted, value: Any) -> tuple[Problem, ...]:
    """What is wrong with a described value, read with its encodings, that is to be of a row's type."""
    return tuple(islice(_described(row, value, row.name), MAX_PROBLEMS))


def kind_of(value: Any) -> str:
    """The primitive type of a value read with its encoding, or what it is else."""
    if isinstance(value, Described):
        row = row_of(value)
        return row.name if row else f"a value described by {shown(plain(value.descriptor))}"
    return _KIND.get(str(value.encoding), "undefined") if isinstance(value, Value) else "undefined"


def row_of(value: Any) -> Composite | Restricted | None:
    """The row of a described value's descriptor if it is one of the tables."""
    if not isinstance(value, Described) or not isinstance(value.descriptor, Value):
        return None
    if kind_of(value.descriptor) not in ("ulong", "symbol"):
        return None
    return DIALECT.described.get(value.descriptor.value)


# --- composites


def _described(row: Composite | Restricted, value: Any, where: str) -> Iterator[Problem]:
    if not isinstance(value, Described) or row_of(value) is not row:
        yield Problem(where, f"{row.name} ({row.symbol})", _in_words(value))
    elif isinstance(row, Restricted):
        yield from _typed(row.source, "", value.value, where)
        yield from _keys(row.keys, value.value, where)
    elif kind_of(value.value) != "list":
        yield Problem(where, "a list", _in_words(value.value))
    else:
        yield from _fields(row, value.value.value, where)


def _fields(row: Composite, items: Sequence[Any], where: str) -> Iterator[Problem]:
    if len(items) > len(row.fields):
        yield Problem(where, f"at most {len(row.fields)} fields", f"{len(items)} fields", Kind.COUNT)
    for field, item in zip_longest(row.fields, items[: len(row.fields)], fillvalue=_MISSING):
        assert isinstance(field, TypedField)
        place = f"{where} {field.name}"
        if item is _MISSING or kind_of(item) == "null":
            if field.mandatory:
                actual = "none" if item is _MISSING else "null"
                yield Problem(place, "a value, for it is mandatory", actual, Kind.MANDATORY)
        else:
            yield from _field(field, item, place)


def _field(field: TypedField, item: Any, where: str) -> Iterator[Problem]:
    if not field.multiple or kind_of(item) != "array":
        yield from _typed(field.type, field.requires, item, where)
        return
    array: Array = item.value
    for element in islice(_elements(array), MAX_PROBLEMS if isinstance(array.items, Repeated) else None):
        yield from _typed(field.type, field.requires, element, where)


def _elements(array: Array) -> Iterator[Any]:
    for item in array.items:
        element: Any = Value(array.encoding, item)
        for descriptor in reversed(array.descriptors):
            element = Described(descriptor, element)
        yield element


# --- types


def _typed(name: str, requires: str, item: Any, where: str) -> Iterator[Problem]:
    if name == ANY:
        yield from _archetype(requires, item, where)
    elif name in DIALECT.composites:
        yield from _described(DIALECT.composites[name], item, where)
    elif kind_of(item) != DIALECT.base(name):
        wanted = DIALECT.base(name)
        yield Problem(where, f"{name} ({wanted})" if name != wanted else name, _in_words(item))
    else:
        yield from _choice(name, item, where)
        yield from _keys(DIALECT.keys(name), item, where)
        yield from _readable(item, where)


def _archetype(requires: str, item: Any, where: str) -> Iterator[Problem]:
    """Values that other specifications describe are allowed for any archetype."""
    rows = DIALECT.providing(requires)
    row = row_of(item)
    if row is not None and row in rows:
        yield from _described(row, item, where)
    elif rows and (row is not None or not isinstance(item, Described)):
        bare = {DIALECT.base(r.name) for r in rows if isinstance(r, Restricted)}
        if kind_of(item) not in bare:
            yield Problem(
                where, f"one that provides {requires}: {', '.join(r.name for r in rows)}", _in_words(item)
            )
        else:
            yield from _readable(item, where)
    else:
        yield from _readable(item, where)


def _choice(name: str, item: Value, where: str) -> Iterator[Problem]:
    choices = DIALECT.choices(name)
    if choices and item.value not in [c.value for c in choices]:
        permitted = ", ".join(f"{c.name} ({c.value})" if c.name != c.value else c.name for c in choices)
        yield Problem(where, f"one of {permitted}", shown(item.value))


def _keys(kinds: Sequence[str], item: Any, where: str) -> Iterator[Problem]:
    if not kinds or kind_of(item) != "map":
        return
    for key, _ in item.value:
        if kind_of(key) not in kinds:
            kind = Kind.SYMBOL_KEY if tuple(kinds) == ("symbol",) else Kind.OTHER
            yield Problem(f"{where} key", " or ".join(kinds), _in_words(key), kind)


def _readable(item: Any, where: str) -> Iterator[Problem]:
    """What no value may hold, whatever its place: invalid texts, booleans that are neither true nor false, equal
    keys.
    """
    kind = kind_of(item)
    if isinstance(item, Described):
        yield from _readable(item.descriptor, f"{where} descriptor")
        yield from _readable(item.value, where)
    elif kind in ("string", "symbol"):
        if not item.value.isascii() and _has_surrogates(item.value):
            encoding, what = ("UTF-8", Kind.TEXT) if kind == "string" else ("ASCII", Kind.OTHER)
            yield Problem(where, encoding, shown(item.value), what)
    elif kind == "boolean" and not isinstance(item.value, bool):
        yield Problem(where, "octet 0x00 or 0x01", f"octet 0x{item.value:02X}")
    elif kind == "char" and not isinstance(item.value, str):
        yield Problem(where, "a Unicode scalar value", f"0x{item.value:X}")
    elif kind == "map":
        yield from _map(item.value, where)
    elif kind == "list":
        yield from _each(item.value, where)
    elif kind == "array" and not isinstance(item.value.items, Repeated):
        yield from _each(_elements(item.value), where)


def _each(items: Iterable[Any], where: str) -> Iterator[Problem]:
    for item in items:
        yield from _readable(item, where)


def _map(pairs: Sequence[tuple[Any, Any]], where: str) -> Iterator[Problem]:
    seen = set()
    for key, item in pairs:
        known = (kind_of(key), hashable(plain(key)))
        if known in seen:
            yield Problem(f"{where} key", "keys that differ", f"{shown(plain(key))} again")
        seen.add(known)
        yield from _readable(key, f"{where} key")
        yield from _readable(item, f"{where} {shown(plain(key))}")


def _has_surrogates(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


def _in_words(item: Any) -> str:
    return f"{kind_of(item)} {shown(plain(item))}" if isinstance(item, Value) else kind_of(item)
