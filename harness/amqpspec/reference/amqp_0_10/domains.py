"""Readable arguments that violate a rule: unordered ranges, numbers outside their domain.

Knows: the types of fields. Must not know: the effects of controls and commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command, Control, PackedField
from amqpspec.wire.amqp_0_10.serial import disorder
from amqpspec.wire.amqp_0_10.values import Array, Packed


class Breach(NamedTuple):
    """The rule that an argument violates, the description, and the argument."""

    rule: str
    text: str
    field: str


def breaches(row: Control, args: Mapping[str, Any]) -> Iterator[Breach]:
    """Errors in readable arguments, in the order of their fields."""
    for field in row.fields:
        if field.key in args:
            yield from _of_field(row, field, args[field.key])


def _of_field(row: Control, field: PackedField, value: Any) -> Iterator[Breach]:
    base = DIALECT.base(field.type)
    if base == "sequence-set" and (wrong := disorder(value)):
        yield Breach("type/sequence-set/disjoint", wrong, field.key)
    elif isinstance(value, Array):
        structs = (item for item in value.items if isinstance(item, Packed))
        yield from (breach for item in structs for breach in _of_ranges(item.fields.get("byte_ranges", ())))
    elif isinstance(row, Command) and _is_foreign(field, value):
        yield Breach("execution/error-code/illegal-argument", f"{field.name} {value}", field.key)


def _of_ranges(ranges: Sequence[tuple[int, int]]) -> Iterator[Breach]:
    start, least = -1, 0
    for lower, upper in ranges:
        if upper < lower or lower <= start:
            yield Breach("byte-ranges/ascending", f"{lower}-{upper}", "fragments")
            return
        if lower < least:
            yield Breach("byte-ranges/disjoint", f"{lower}-{upper}", "fragments")
            return
        # Those that touch are one range (type byte-ranges).
        start, least = lower, upper + 2


def _is_foreign(field: PackedField, value: Any) -> bool:
    choices = [choice.value for choice in DIALECT.choices(field.type)]
    return bool(choices) and value not in choices
