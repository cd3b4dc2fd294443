"""Violations of the specification by decoded values: where, what is expected, what is there.

Knows: required fields, permitted values, orders. Must not know: states, which requirement that is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command, Content, PackedField
from amqpspec.wire.amqp_0_10.instructions import HeaderEntry, Instruction
from amqpspec.wire.amqp_0_10.serial import disorder
from amqpspec.wire.amqp_0_10.values import NO_ARRAY, Array, Map, Packed, UnknownStruct, Value
from amqpspec.wire.errors import shown

MAX_PROBLEMS = 64
"""How many are reported of one segment: the first ones are enough, and a hostile map has any number of them."""
_ASCENDING = "ranges in ascending order that do not touch"
_STRINGS = {Content.UTF8: "UTF-8", Content.UTF16: "UTF-16", Content.UTF32: "a Unicode scalar value"}


class Problem(NamedTuple):
    """A value that its place does not permit."""

    where: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.where}: {self.actual}, expected {self.expected}"


def instruction_problems(instruction: Instruction) -> tuple[Problem, ...]:
    """What is wrong with the arguments of a control or a command that could be read."""
    if instruction.row is None or instruction.error is not None:
        return ()
    return tuple(islice(_fields(instruction.name, instruction.row.fields, instruction.args), MAX_PROBLEMS))


def header_problems(command: Command | None, entries: Sequence[HeaderEntry]) -> tuple[Problem, ...]:
    """What is wrong with the structs of a header segment; unknown ones are to be passed on (5.9.1)."""
    return tuple(islice(_header(command, entries), MAX_PROBLEMS))


def _header(command: Command | None, entries: Sequence[HeaderEntry]) -> Iterator[Problem]:
    names = Counter(e.name if isinstance(e, Packed) else "struct-{}.{}".format(*e.code) for e in entries)
    permitted = command.segments.header if command is not None and command.segments is not None else ()
    for name, times in names.items():
        if times > 1:
            yield Problem("header", "each struct once at most", f"{name} {times} times")
        if name in DIALECT.structs and command is not None and name not in permitted:
            yield Problem("header", f"structs of {command.name}", name)
    for entry in entries:
        if isinstance(entry, Packed):
            yield from _value(entry.name, "struct32", entry)


def _fields(where: str, rows: Sequence[PackedField], args: Mapping[str, Any]) -> Iterator[Problem]:
    for row in rows:
        place = f"{where} {row.name}"
        if row.key in args:
            yield from _field(place, row, args[row.key])
        elif row.required:
            # A reader should treat the whole struct as malformed (5.3).
            yield Problem(place, "the field, which is required", "no packing flag")


def _field(where: str, row: PackedField, value: Any) -> Iterator[Problem]:
    choices = [choice.value for choice in DIALECT.choices(row.type)]
    if choices and value not in choices:
        yield Problem(where, f"one of {', '.join(map(str, choices))}", shown(value))
    element = DIALECT.base(DIALECT.element(row))
    foreign = isinstance(value, Array) and element in DIALECT.types_by_name and value.type != element
    if foreign and value != NO_ARRAY:
        yield Problem(where, f"an array of {element}", f"an array of {value.type}")
    yield from _value(where, DIALECT.base(row.type), value)


def _value(where: str, kind: str | int, value: Any) -> Iterator[Problem]:
    """What is wrong with a value of a type, and with those in it."""
    if isinstance(value, Map):
        yield from (Problem(where, "each key once", f"{shown(key)} again") for key in value.repeated)
        for key, entry in value:
            yield from _text(f"{where} key", "str8", key)
            yield from _value(f"{where} › {shown(key)}", *entry)
    elif value == NO_ARRAY:
        yield Problem(where, "type code and count of an array", "neither")
    elif isinstance(value, Array):
        for item in value.items:
            yield from _value(where, value.type, item)
    elif isinstance(value, Packed):
        yield from _fields(where, DIALECT.structs[value.name].fields, value.fields)
    elif not isinstance(value, UnknownStruct):
        yield from _simple(where, kind, value)


def _simple(where: str, kind: str | int, value: Any) -> Iterator[Problem]:
    row = DIALECT.types_by_name.get(kind) if isinstance(kind, str) else None
    if row is None:
        return
    if row.content is Content.LIST:
        for item in value:
            yield from _value(where, *_typed(item))
    elif row.content is Content.SEQUENCE_SET:
        wrong = disorder(value)
        yield from [Problem(where, _ASCENDING, wrong)] if wrong else []
    elif row.content is Content.BYTE_RANGES:
        yield from _byte_ranges(where, value)
    else:
        yield from _text(where, row.name, value)


def _typed(item: Value) -> tuple[str | int, Any]:
    return item.type, item.value


def _byte_ranges(where: str, ranges: Sequence[tuple[int, int]]) -> Iterator[Problem]:
    least = 0
    for lower, upper in ranges:
        if lower < least or upper < lower:
            yield Problem(where, _ASCENDING, f"{lower}-{upper}")
            return
        # Those that touch are one range (type byte-ranges).
        least = upper + 2


def _text(where: str, kind: str, value: Any) -> Iterator[Problem]:
    charset = _STRINGS.get(DIALECT.types_by_name[kind].content)
    if charset and not (isinstance(value, str) and value.isprintable()) and not _is_unicode(value):
        yield Problem(where, charset, shown(value))


def _is_unicode(value: Any) -> bool:
    """Whether a string has nothing in it that was no character."""
    return isinstance(value, str) and not any(0xD800 <= ord(character) < 0xE000 for character in value)
