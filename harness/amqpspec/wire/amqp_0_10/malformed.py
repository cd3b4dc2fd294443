"""Octets that violate the grammar on request: wrong sizes, counts and packing flags, endless nesting.

Knows: the shapes of values. Must not know: which target takes offence at what.

What else can be bent stands with what it bends: ``encode_frame`` takes any flags, type, track and size, ``cut`` any
segments, ``encode_instruction`` codes and flags that lie, ``Value`` any type code as long as its value is ``Raw``, and
sets take ranges in any order. What the functions here give is ``Raw``, so that it can replace any value.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.reading import COUNT_OCTETS
from amqpspec.wire.amqp_0_10.values import Raw
from amqpspec.wire.amqp_0_10.writing import encode_struct
from amqpspec.wire.numbers import pack_number


def sized(type_name: str, octets: bytes = b"", size: int | None = None) -> Raw:
    """A value of any variable type with these octets, whose size may be wrong."""
    width = DIALECT.types_by_name[type_name].width_octets
    return Raw(pack_number(len(octets) if size is None else size, width, type_name) + octets)


def counted(
    type_name: str, octets: bytes, count: int, *, size: int | None = None, item_code: int | None = None
) -> Raw:
    """A map, list or array of these entries, items or values; size, count and the values' type code may be wrong."""
    code = b"" if item_code is None else pack_number(item_code, 1, type_name)
    return sized(type_name, code + pack_number(count, COUNT_OCTETS, type_name) + octets, size)


def struct(
    name: str,
    fields: Mapping[str, Any],
    *,
    flags: int | None = None,
    code: tuple[int, int] | None = None,
    size: int | None = None,
    extra: bytes = b"",
) -> Raw:
    """A struct whose packing flags, code and size may be wrong: see ``encode_struct``."""
    return Raw(encode_struct(DIALECT.structs[name], fields, flags=flags, code=code, size=size, extra=extra))


def nested(depth: int, type_name: str = "list", key: bytes = b"\x01n") -> Raw:
    """A list in a list, or a map in a map, ``depth`` of them below the first, with right sizes all the way down."""
    entry = (key if type_name == "map" else b"") + bytes((DIALECT.types_by_name[type_name].code or 0,))
    levels = [counted(type_name, b"", 0)]
    octets = len(levels[0])
    # Only the sizes grow from the inside out: copying each level into the next one would take quadratic time.
    for _ in range(depth):
        levels.append(counted(type_name, entry, 1, size=COUNT_OCTETS + len(entry) + octets))
        octets += len(levels[-1])
    return Raw(b"".join(reversed(levels)))
