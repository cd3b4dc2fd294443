"""Runs of fields as they follow each other in a command or a message head, made into readers and writers.

Knows: types, and that adjacent bits share an octet. Must not know: commands, frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandField, WireType
from amqpspec.wire.amqp_fast_0_8.primitives import extent_at, number_at, to_octets, to_text
from amqpspec.wire.amqp_fast_0_8.tables import encode_table, table_between
from amqpspec.wire.errors import WireError, too_short, unreadable
from amqpspec.wire.numbers import pack_counted, pack_number
from amqpspec.wire.values import Raw

Reader = Callable[[bytes, int, dict[str, Any]], int]
"""Octets, where to begin, where to put the values → where it ended."""

Writer = Callable[[Mapping[str, Any]], bytes]

_BITS_PER_OCTET = 8
_TYPES = DIALECT.types_by_name


class FieldRun:
    """Fields one after the other, read and written as one."""

    def __init__(self, fields: Sequence[CommandField]) -> None:
        self.keys = frozenset(f.key for f in fields)
        self._readers = tuple(_readers(fields))
        self._writers = tuple(_writers(fields))

    def read(self, octets: bytes, at: int, args: dict[str, Any]) -> int:
        """Read from an offset on; returns where the fields end. After a WireError ``args`` has what was read."""
        for reader in self._readers:
            at = reader(octets, at, args)
        return at

    def write(self, args: Mapping[str, Any], what: str) -> bytes:
        """The fields as octets; what is left out is zero or empty. Raises EncodeError, TypeError for another name.

        ``Raw`` octets are written in place of any value; in place of a bit, they replace all bits of its octet.
        """
        if not args.keys() <= self.keys:
            args = self._by_key(args, what)
        return b"".join([writer(args) for writer in self._writers])

    def _by_key(self, args: Mapping[str, Any], what: str) -> dict[str, Any]:
        by_key = {key.replace("-", "_"): value for key, value in args.items()}
        for key in by_key.keys() - self.keys:
            raise TypeError(f"{what}: no field {key!r}")
        return by_key


def beyond(where: str, octets: bytes, at: int) -> WireError:
    """The error for octets after the last field."""
    return unreadable(where, octets, at, "the end of the fields", f"{len(octets) - at} octets more")


def _runs(fields: Sequence[CommandField]) -> Iterator[tuple[WireType, tuple[CommandField, ...]]]:
    """Bits that share octets together, any other field alone."""
    for are_bits, group in groupby(fields, lambda field: _TYPES[field.type].is_bit):
        run = tuple(group)
        if are_bits:
            yield _TYPES[run[0].type], run
        else:
            yield from ((_TYPES[field.type], (field,)) for field in run)


def _width(run: Sequence[CommandField]) -> int:
    return -(-len(run) // _BITS_PER_OCTET)


# --- reading


def _readers(fields: Sequence[CommandField]) -> Iterator[Reader]:
    for kind, run in _runs(fields):
        if kind.is_bit:
            yield _bits_reader(run)
        elif kind.octets:
            yield _number_reader(run[0], kind.octets)
        else:
            yield _counted_reader(run[0], kind)


def _bits_reader(run: Sequence[CommandField]) -> Reader:
    width, what = _width(run), ", ".join(field.name for field in run)
    places = tuple((field.key, place) for place, field in enumerate(run))

    def bits(octets: bytes, at: int, args: dict[str, Any]) -> int:
        if at + width > len(octets):
            raise too_short(what, octets, at, width, len(octets))
        # The first bit has the lowest place; what has no name is passed over.
        word = int.from_bytes(octets[at : at + width], "little")
        for key, place in places:
            args[key] = bool(word >> place & 1)
        return at + width

    return bits


def _number_reader(field: CommandField, width: int) -> Reader:
    key, name = field.key, field.name

    def number(octets: bytes, at: int, args: dict[str, Any]) -> int:
        args[key] = number_at(octets, at, width, len(octets), name)
        return at + width

    return number


def _counted_reader(field: CommandField, kind: WireType) -> Reader:
    key, name, width, made = field.key, field.name, kind.length_octets, _MADE[kind.name]

    def counted(octets: bytes, at: int, args: dict[str, Any]) -> int:
        start, stop = extent_at(octets, at, width, len(octets), name)
        args[key] = made(octets, start, stop, name)
        return stop

    return counted


_MADE: Mapping[str, Callable[[bytes, int, int, str], Any]] = {
    "shortstr": lambda octets, start, stop, _: to_text(octets[start:stop]),
    "longstr": lambda octets, start, stop, _: octets[start:stop],
    "table": table_between,
}


# --- writing


def _writers(fields: Sequence[CommandField]) -> Iterator[Writer]:
    for kind, run in _runs(fields):
        yield _bits_writer(run) if kind.is_bit else _value_writer(run[0], kind)


def _bits_writer(run: Sequence[CommandField]) -> Writer:
    width, keys = _width(run), tuple(field.key for field in run)

    def bits(args: Mapping[str, Any]) -> bytes:
        values = [args.get(key) for key in keys]
        for value in values:
            if isinstance(value, Raw):
                return value
        word = sum(1 << place for place, value in enumerate(values) if value)
        return word.to_bytes(width, "little")

    return bits


def _value_writer(field: CommandField, kind: WireType) -> Writer:
    key, name = field.key, field.name

    def value(args: Mapping[str, Any]) -> bytes:
        return encode_field(kind, args.get(key), name)

    return value


def encode_field(kind: WireType, value: Any, where: str) -> bytes:
    """One value that is no bit; None is zero or empty, ``Raw`` is written as it is. Raises EncodeError."""
    if isinstance(value, Raw):
        return bytes(value)
    if kind.octets:
        return pack_number(0 if value is None else value, kind.octets, where)
    if kind.name == "table":
        return encode_table({} if value is None else value, where)
    return pack_counted(to_octets(b"" if value is None else value, where), kind.length_octets, where)
