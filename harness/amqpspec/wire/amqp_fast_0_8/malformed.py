"""Octets that violate the grammar on request: wrong lengths, and names and tags that no table may contain.

Knows: the shapes of strings and tables. Must not know: which target takes offence at what.

What else can be bent stands with what it bends: ``encode_frame`` takes any code, and a size and an end octet that
are false; ``command_frame`` takes a false ``fragment_size`` and octets after the last field; ``Typed`` takes any tag
as long as its value is ``Raw``. What the functions here give is ``Raw``, so that it can replace any value.
"""

from __future__ import annotations

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.wire.numbers import pack_number
from amqpspec.wire.values import Raw


def counted(kind: str, octets: bytes = b"", size: int | None = None) -> Raw:
    """A ``shortstr``, ``longstr`` or ``table`` of these octets, whose length may be wrong."""
    width = DIALECT.types_by_name[kind].length_octets
    return Raw(pack_number(len(octets) if size is None else size, width, kind) + octets)


def table_field(name: bytes, tag: int | str, value: bytes = b"", size: int | None = None) -> Raw:
    """One field of a table: a name whose length may be wrong, any tag, and the value's octets as they are."""
    octet = tag.encode("latin-1") if isinstance(tag, str) else pack_number(tag, 1, "tag")
    return Raw(counted("shortstr", name, size) + octet + value)
