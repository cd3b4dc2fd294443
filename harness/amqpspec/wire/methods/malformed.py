"""Octets that violate the grammar on request: wrong sizes, undefined flags, endless nesting, truncation.

Knows: the shapes of payloads, strings and tables. Must not know: which target takes offence at what.

What else can be bent stands with what it bends: ``encode_frame`` takes a size and an end octet that lie,
``Frame`` any type and channel, ``Typed`` any tag as long as its value is ``Raw``, and every argument, property or
table entry may be ``Raw``. What the functions here give is ``Raw``, so that it can replace any of them.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence

from amqpspec.wire.errors import EncodeError, shown
from amqpspec.wire.methods.primitives import NUMBERS, not_encodable
from amqpspec.wire.values import Raw


def cut(octets: bytes, count: int) -> Raw:
    """The first ``count`` octets; a negative count omits that many at the end."""
    return Raw(octets[:count])


def every_cut(octets: bytes) -> Iterator[Raw]:
    """Every beginning of the octets, from none to all but one."""
    return (cut(octets, count) for count in range(len(octets)))


def overwritten(octets: bytes, at: int, by: bytes) -> Raw:
    """The octets with others in place of those at ``at``; IndexError if they do not reach."""
    if not 0 <= at <= len(octets) - len(by):
        raise IndexError(f"{len(by)} octets at {at}, expected a place within {len(octets)} octets")
    return Raw(octets[:at] + by + octets[at + len(by) :])


def shortstr(text: bytes, size: int | None = None) -> Raw:
    """A short string whose length octet may be wrong."""
    return Raw(_packed("octet", len(text) if size is None else size) + text)


def longstr(octets: bytes, size: int | None = None) -> Raw:
    """A long string whose length may be wrong."""
    return Raw(_packed("long", len(octets) if size is None else size) + octets)


def table(fields: bytes = b"", size: int | None = None) -> Raw:
    """A table or an array of the field octets given, whose length may be wrong."""
    return longstr(fields, size)


def table_field(name: bytes, tag: int | str, value: bytes = b"") -> Raw:
    """One field of a table: a name, any tag, and the value's octets as they are."""
    octet = tag.encode("latin-1") if isinstance(tag, str) else _packed("octet", tag)
    return Raw(shortstr(name) + octet + value)


def nested_tables(depth: int, name: bytes = b"n", tag: str = "F") -> Raw:
    """A table in a table, ``depth`` of them, with right sizes all the way down."""
    return _nested(depth, table_field(name, tag))


def nested_arrays(depth: int, tag: str = "A") -> Raw:
    """An array in an array, ``depth`` of them; to be sent as ``Typed("A", nested_arrays(…))``."""
    return _nested(depth, tag.encode("latin-1"))


def method_payload(class_id: int, method_id: int, arguments: bytes = b"") -> Raw:
    """A method payload of any ids and any arguments."""
    ids = (_packed("short", number) for number in (class_id, method_id))
    return Raw(b"".join(ids) + arguments)


def header_payload(
    class_id: int,
    body_size_octets: int = 0,
    *,
    weight: int = 0,
    flags: Sequence[int] = (0,),
    properties: bytes = b"",
) -> Raw:
    """A content header's payload of any class and weight; ``flags`` are words, sent as they are.

    Bit 0 of a word announces another one (``flags=(0x0001,)`` announces what does not arrive), bits 15 to 1 are
    properties, defined or not.
    """
    start = (_packed("short", class_id), _packed("short", weight), _packed("longlong", body_size_octets))
    return Raw(b"".join((*start, *(_packed("short", word) for word in flags), properties)))


def _packed(primitive: str, number: int) -> bytes:
    try:
        return struct.pack(">" + NUMBERS[primitive], number)
    except struct.error as error:
        raise not_encodable(primitive, primitive, number) from error


def _nested(depth: int, opening: bytes) -> Raw:
    if depth < 1:
        raise EncodeError("nesting", "a depth of at least 1", shown(depth))
    step = len(opening) + 4
    sizes = (struct.pack(">I", level * step) for level in range(depth - 1, -1, -1))
    return Raw(opening.join(sizes))
