"""What faults do to a content header on its way out.

Knows: the values of properties and of the headers among them. Must not know: why a content goes out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from harness.reference.methods import wire
from harness.wire.methods import ContentHeader
from harness.wire.values import Table, Typed

if TYPE_CHECKING:
    from harness.reference.methods.session import Session

_LOW_HALF, _NO_SIGN, _PLACES = (1 << 32) - 1, (1 << 31) - 1, 127
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
    for fault, change in _CHANGES.items():
        if session.faulty(fault):
            octets = _changed(session, octets, change)
    return octets


def _changed(session: Session, octets: bytes, change: Callable[[str, Any], Any]) -> bytes:
    """The header with every value that has a tag, and the timestamp, put through a change."""
    header = session.link.codec.decode_header(octets)
    properties = dict(header.properties)
    if "timestamp" in properties:
        properties["timestamp"] = change("T", properties["timestamp"])
    if "headers" in properties:
        fields = properties["headers"]
        properties["headers"] = Table((n, Typed(v.tag, change(v.tag, v.value))) for n, v in fields)
    whole = ContentHeader(header.class_id, header.body_size_octets, properties, header.weight)
    return session.link.codec.encode_header(whole)


_CHANGES: dict[str, Callable[[str, Any], Any]] = {
    "timestamps-of-32-bits": lambda tag, value: value & _LOW_HALF if tag == "T" else value,
    "long-strings-end-at-zero": lambda tag, value: value.partition(b"\0")[0] if tag == "S" else value,
    "table-integers-unsigned": lambda tag, value: value & _NO_SIGN if tag == "I" else value,
    "decimals-have-signed-places": lambda tag, value: (value[0] & _PLACES, value[1]) if tag == "D" else value,
}
