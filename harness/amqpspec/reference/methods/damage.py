"""What faults do to a content header on its way out.

Knows: the values of properties and of the headers among them. Must not know: why a content goes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

from amqpspec.reference.methods import wire
from amqpspec.wire.values import Table, Typed

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session

Change: TypeAlias = Callable[[str, Any], Any]
"""The tag of a value and the value → what it becomes."""

_LOW_HALF, _NO_SIGN, _SEVEN_BITS = (1 << 32) - 1, (1 << 31) - 1, 127
_FLAGS_AT = 12


def damaged_header(session: Session, octets: bytes) -> bytes:
    """The octets of a content header, as the faults that are on leave them."""
    if session.faulty("properties-dropped"):
        octets = octets[:_FLAGS_AT] + b"\x00\x00"
    if session.faulty("property-flags-one-place-off"):
        flags = int.from_bytes(octets[_FLAGS_AT : _FLAGS_AT + 2], "big") >> 1
        octets = octets[:_FLAGS_AT] + flags.to_bytes(2, "big") + octets[_FLAGS_AT + 2 :]
    if session.faulty("arrays-dropped-from-headers"):
        octets = wire.without_arrays(session.link.codec, octets)
    if session.faulty("octets-have-a-sign"):
        octets = _without_high_bit_of_priority(session, octets)
    if session.faulty("octet-behind-the-properties"):
        octets += b"\x00"
    if session.faulty("content-header-of-another-class"):
        octets = b"\x00\x32" + octets[2:]
    if session.faulty("simple-contents-weigh-one"):
        octets = octets[:2] + b"\x00\x01" + octets[4:]
    for change in _changes(session):
        octets = _changed(session, octets, change)
    return octets


def _changes(session: Session) -> Iterator[Change]:
    if session.faulty("timestamps-of-32-bits"):
        yield lambda tag, value: value & _LOW_HALF if tag == "T" else value
    if session.faulty("long-strings-end-at-zero"):
        yield lambda tag, value: value.partition(b"\0")[0] if tag == "S" else value
    if session.faulty("table-integers-unsigned"):
        yield lambda tag, value: value & _NO_SIGN if tag == "I" else value
    if session.faulty("decimals-have-signed-places"):
        yield lambda tag, value: (value[0] & _SEVEN_BITS, value[1]) if tag == "D" else value


def _without_high_bit_of_priority(session: Session, octets: bytes) -> bytes:
    header = session.link.codec.decode_header(octets)
    properties = dict(header.properties)
    if "priority" in properties:
        properties["priority"] &= _SEVEN_BITS
    return session.link.codec.encode_header(header._replace(properties=properties))


def _changed(session: Session, octets: bytes, change: Change) -> bytes:
    """The header with every value that has a tag, and the timestamp, put through a change."""
    header = session.link.codec.decode_header(octets)
    properties = dict(header.properties)
    if "timestamp" in properties:
        properties["timestamp"] = change("T", properties["timestamp"])
    if "headers" in properties:
        fields = properties["headers"]
        properties["headers"] = Table((n, Typed(v.tag, change(v.tag, v.value))) for n, v in fields)
    return session.link.codec.encode_header(header._replace(properties=properties))
