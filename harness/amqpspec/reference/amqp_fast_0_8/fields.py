"""Reads the fields of a command, and names the rule that unreadable fields violate.

Knows: types, bits, tables, names. Must not know: frames, commands by name, what a field means. They are read here
and not by the codec, so that the two sides of a conversation are implemented independently.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandField

Refuse = Callable[[str, str], None]
Faulty = Callable[[str], bool]
Values = dict[str, tuple[str, Any]]
"""The fields of a table: tag and value by name."""

_WIDTHS = {"I": 4, "T": 4, "D": 5}
# Names with hyphens occur in examples of the text, against its own rule: no one is faulted for them.
_NAME = re.compile(rb"[A-Za-z$#][A-Za-z0-9_$#-]{0,127}")


class CutShortError(Exception):
    """Octets end before a value does."""


class UnknownTypeError(Exception):
    """A value has a type that no one can read, and that was tolerated."""


class FieldReader:
    """Reads one run of fields; ``at`` is how far it came."""

    def __init__(self, octets: bytes, refuse: Refuse, faulty: Faulty) -> None:
        self.octets, self.at = octets, 0
        self._refuse, self._faulty = refuse, faulty

    def read(self, fields: Sequence[CommandField]) -> dict[str, Any]:
        """The fields by their keys; raises CutShortError, and what ``refuse`` raises."""
        values: dict[str, Any] = {}
        for run in _runs(fields):
            if run[0].type == "bit":
                self._bits(run, values)
            else:
                values[run[0].key] = self._value(run[0])
        return values

    def take(self, count: int) -> bytes:
        """The next octets; raises CutShortError."""
        if self.at + count > len(self.octets):
            raise CutShortError
        self.at += count
        return self.octets[self.at - count : self.at]

    def number(self, width: int) -> int:
        """The next number; raises CutShortError."""
        return int.from_bytes(self.take(width), "big")

    def _bits(self, run: Sequence[CommandField], values: dict[str, Any]) -> None:
        word = self.number(1)
        if self._faulty("first-bit-in-the-highest-place"):
            word = int(f"{word:08b}"[::-1], 2)
        for place, field in enumerate(run):
            values[field.key] = bool(word >> place & 1)

    def _value(self, field: CommandField) -> Any:
        kind = DIALECT.types_by_name[field.type]
        if kind.octets:
            return self.number(kind.octets)
        octets = self.take(self.number(kind.length_octets))
        if field.type == "shortstr":
            return self._text(octets)
        if not octets and field.type == "longstr" and self._faulty("empty-long-strings-refused"):
            self._refuse("tables/layout", "an empty long string")
        if field.type == "table":
            return read_table(octets, self._refuse, self._faulty)
        return octets

    def _text(self, octets: bytes) -> str:
        if b"\0" in octets:
            self._refuse("syntax/notes/zero-octet", "a zero octet in a short string")
        if self._faulty("short-strings-in-latin-1"):
            return octets.decode("latin-1")
        return octets.decode("utf-8", "surrogateescape")


def _runs(fields: Sequence[CommandField]) -> Iterator[list[CommandField]]:
    run: list[CommandField] = []
    for field in fields:
        if field.type == "bit":
            run.append(field)
            continue
        if run:
            yield run
            run = []
        yield [field]
    if run:
        yield run


def read_table(octets: bytes, refuse: Refuse, faulty: Faulty) -> Values:
    """The fields of a table; of two by one name the first counts."""
    values: Values = {}
    reader = FieldReader(octets, refuse, faulty)
    while reader.at < len(octets):
        try:
            name, tag, value = _entry(reader, refuse, faulty)
        except CutShortError:
            refuse("tables/layout", f"a table of {len(octets)} octets ends within a field")
            break
        except UnknownTypeError:
            break
        if name not in values or faulty("last-of-equal-names-counts"):
            values[name] = tag, value
    return values


def _entry(reader: FieldReader, refuse: Refuse, faulty: Faulty) -> tuple[str, str, Any]:
    name = reader.take(reader.number(1))
    if not _NAME.fullmatch(name):
        refuse("tables/names", f"a field by the name {name!r}")
    tag = chr(reader.number(1))
    if tag == "S":
        value: Any = reader.take(reader.number(2))
        return name.decode("latin-1"), tag, value.split(b"\0")[0] if faulty("strings-end-at-zero") else value
    if tag not in _WIDTHS:
        refuse("tables/types", f"a value of type {tag!r}")
        raise UnknownTypeError
    value = _plain(tag, reader.take(_WIDTHS[tag]))
    if _disliked(tag, value, faulty):
        refuse("tables/types", f"{tag} {value}")
    return name.decode("latin-1"), tag, value


def _plain(tag: str, octets: bytes) -> Any:
    if tag == "D":
        return octets[0], int.from_bytes(octets[1:], "big", signed=True)
    return int.from_bytes(octets, "big", signed=tag == "I")


def _disliked(tag: str, value: Any, faulty: Faulty) -> bool:
    """Whether a fault takes a sound value for an unsound one."""
    if tag == "D":
        negative = value[1] < 0 and faulty("negative-decimals-refused")
        return negative or (value[0] > 127 and faulty("many-decimals-refused"))
    if tag == "T":
        return value > 0x7FFFFFFF and faulty("late-times-refused")
    return value < 0 and faulty("negative-integers-refused")


def numbers(table: Mapping[str, tuple[str, Any]]) -> dict[str, int]:
    """The integers of a table."""
    return {name: value for name, (tag, value) in table.items() if tag == "I"}


FAULTS = fault_table("""
first-bit-in-the-highest-place: the first of adjacent bits is sought in the highest place [syntax/notes/bits]
strings-end-at-zero: a string in a table ends at its first zero octet [syntax/notes/long-strings tables/strings]
empty-long-strings-refused: a long string without octets is refused [syntax/notes/empty-strings]
short-strings-in-latin-1: short strings are not read as UTF-8 [syntax/notes/short-strings]
last-of-equal-names-counts: of two fields by one name the last counts [tables/duplicates]
negative-integers-refused: a negative integer in a table is refused [tables/integers tables/types]
negative-decimals-refused: a negative decimal in a table is refused [tables/decimals tables/types]
many-decimals-refused: a decimal with more than 127 decimals is refused [tables/decimals]
late-times-refused: a time after 2038 in a table is refused [tables/times tables/types]
""")
