"""Faults in outgoing content headers.

Knows: the values of properties and of the headers among them. Must not know: why a content goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.wire.methods.codec import Codec
from amqpspec.wire.values import Table, Typed

Faulty: TypeAlias = Callable[[str], bool]
Change: TypeAlias = Callable[[str, Any], Any]
"""The tag of a value and the value → what it becomes."""

_LOW_HALF, _NO_SIGN, _SEVEN_BITS = (1 << 32) - 1, (1 << 31) - 1, 127
_FLAGS_AT = 12


def damaged_header(codec: Codec, faulty: Faulty, octets: bytes) -> bytes:
    """The octets of a content header, as the faults that are on leave them."""
    if faulty("properties-dropped"):
        octets = octets[:_FLAGS_AT] + b"\x00\x00"
    if faulty("property-flags-one-place-off"):
        flags = int.from_bytes(octets[_FLAGS_AT : _FLAGS_AT + 2], "big") >> 1
        octets = octets[:_FLAGS_AT] + flags.to_bytes(2, "big") + octets[_FLAGS_AT + 2 :]
    if faulty("arrays-dropped-from-headers"):
        octets = wire.without_arrays(codec, octets)
    if faulty("octets-have-a-sign"):
        octets = _without_high_bit_of_priority(codec, octets)
    if faulty("octet-behind-the-properties"):
        octets += b"\x00"
    if faulty("content-header-of-another-class"):
        octets = b"\x00\x32" + octets[2:]
    if faulty("simple-contents-weigh-one"):
        octets = octets[:2] + b"\x00\x01" + octets[4:]
    for change in _changes(faulty):
        octets = _changed(codec, octets, change)
    return octets


def _changes(faulty: Faulty) -> Iterator[Change]:
    if faulty("timestamps-of-32-bits"):
        yield lambda tag, value: value & _LOW_HALF if tag == "T" else value
    if faulty("long-strings-end-at-zero"):
        yield lambda tag, value: value.partition(b"\0")[0] if tag == "S" else value
    if faulty("table-integers-unsigned"):
        yield lambda tag, value: value & _NO_SIGN if tag == "I" else value
    if faulty("decimals-have-signed-places"):
        yield lambda tag, value: (value[0] & _SEVEN_BITS, value[1]) if tag == "D" else value


def _without_high_bit_of_priority(codec: Codec, octets: bytes) -> bytes:
    header = codec.decode_header(octets)
    properties = dict(header.properties)
    if "priority" in properties:
        properties["priority"] &= _SEVEN_BITS
    return codec.encode_header(header._replace(properties=properties))


def _changed(codec: Codec, octets: bytes, change: Change) -> bytes:
    """The header with every value that has a tag, and the timestamp, put through a change."""
    header = codec.decode_header(octets)
    properties = dict(header.properties)
    if "timestamp" in properties:
        properties["timestamp"] = change("T", properties["timestamp"])
    if "headers" in properties:
        fields = properties["headers"]
        properties["headers"] = Table((n, Typed(v.tag, change(v.tag, v.value))) for n, v in fields)
    return codec.encode_header(header._replace(properties=properties))


FAULTS = fault_table("""
properties-dropped: the properties of a message are lost [wire/content/unmodified wire/content/property-flags]
arrays-dropped-from-headers: arrays are missing from the headers of a delivered message
    [wire/table/all-types-round-trip]
property-flags-one-place-off: the flags of a delivered message are one place too low [wire/content/property-flags]
octets-have-a-sign: the highest bit of a message's priority is lost
long-strings-end-at-zero: a long string ends at its first zero
timestamps-of-32-bits: only the low 32 bits of a timestamp are kept
table-integers-unsigned: integers of tables lose their sign
decimals-have-signed-places: the places of a decimal lose their highest bit
octet-behind-the-properties: the header of a delivered content has octets after its properties
content-header-of-another-class: the header of a delivered content names the class queue
simple-contents-weigh-one: a delivered content has a weight of one
""")
