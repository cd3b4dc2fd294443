"""The parts of a message that the broker reads: durability, priority, time to live, properties for selection.

Knows: where these are, and which faults misread a legal message. Must not know: links.

Only a fault changes the octets of a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Message
from amqpspec.wire.amqp_1_0.message import Message as Decoded
from amqpspec.wire.amqp_1_0.message import Section, decode_message, encode_message
from amqpspec.wire.amqp_1_0.reading import KEEPING
from amqpspec.wire.amqp_1_0.values import Repeated
from amqpspec.wire.errors import WireError

Faulty = Callable[[str], bool]
_PRIORITY = 4
_DATA = b"\x00\x53\x75"


def message_of(node: str, octets: bytes, publisher: object) -> Message:
    """Octets as a message for a node; an unreadable message is still forwarded."""
    header, headers = _read(octets)
    priority = _number(header, "priority")
    return Message(
        exchange="",
        routing_key=node,
        header=b"",
        body=octets,
        priority=_PRIORITY if priority is None else priority,
        persistent=header is not None and header["durable"] is True,
        headers=headers,
        publisher=publisher,
    )


def ttl_ms_of(octets: bytes) -> int | None:
    """The time to live of a message, None for no limit."""
    return _number(_read(octets)[0], "ttl")


def _number(header: Any, name: str) -> int | None:
    """A field of the header; a value that is not a natural number counts as absent."""
    value = header[name] if header is not None else None
    natural = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return value if natural else None


def read(octets: bytes | bytearray) -> Decoded | None:
    """The parts of a message, None if it is unreadable."""
    try:
        return decode_message(bytes(octets))
    except (WireError, ValueError, TypeError):
        return None


def _read(octets: bytes) -> tuple[Any, dict[str, Any]]:
    """Header and application properties, if they have the right types."""
    message = read(octets)
    if message is None:
        return None, {}
    header, properties = message.header, message.application_properties
    is_header = header is not None and header.name == "header"
    named = properties.items() if isinstance(properties, Mapping) else ()
    return header if is_header else None, {str(key): value for key, value in named}


def counted(octets: bytes, failures: int, faulty: Faulty) -> bytes:
    """A message with its delivery-count in the header, otherwise unchanged (1.0 §3.2.1)."""
    if failures <= 0 or faulty("failed-deliveries-not-counted"):
        return octets
    message = read(octets)
    if message is None:
        return octets
    header = message.header
    if header is None:
        return encode_message(header={"delivery_count": failures}) + octets
    section = _section(octets, "header")
    if section is None or header.name != "header":
        return octets
    fields = {key: header[key] for key in header.given}
    before = _number(header, "delivery_count") or 0
    return encode_message(header={**fields, "delivery_count": before + failures}) + octets[section.stop :]


# --- faults


def misunderstanding(octets: bytes | bytearray, faulty: Faulty) -> str:
    """A fault: the part of a legal message that is not understood; empty if there is none."""
    if faulty("delivery-annotations-unknown") and _section(octets, "delivery-annotations") is not None:
        return "an unexpected section"
    if faulty("list-values-taken-for-fields") and len(_list(octets)) > 1:
        return f"{len(_list(octets))} fields in a section of one"
    if faulty("map-values-taken-for-fields") and isinstance(_value(octets), Mapping):
        return "a map in place of fields"
    if faulty("arrays-of-no-width-refused") and isinstance(_value(octets), Repeated):
        return "an array that has not octets enough for its elements"
    return ""


def stored_octets(octets: bytes, faulty: Faulty) -> bytes:
    """The octets of a message, all of them; a fault loses some."""
    if faulty("delivery-annotations-end-the-message"):
        annotations = _section(octets, "delivery-annotations")
        return octets if annotations is None else octets[: annotations.stop]
    if faulty("properties-written-anew"):
        return _with_subject(octets)
    if faulty("data-sections-joined") and octets.count(_DATA) > 1:
        return encode_message(data=decode_message(octets).data)
    if faulty("list-values-cut") and _list(octets):
        return encode_message(value=_list(octets)[:1])
    return octets


def _with_subject(octets: bytes) -> bytes:
    """A fault: properties that lack a subject get one."""
    section = _section(octets, "properties")
    if section is None or "subject" in section.value.given:
        return octets
    fields = {key: section.value[key] for key in section.value.given}
    return encode_message(properties={**fields, "subject": "none"}) + octets[section.stop :]


def _list(octets: bytes | bytearray) -> list[Any]:
    """The items of a message whose value is a list; none if it is none, an array for one."""
    section = _section(octets, "amqp-value")
    if section is None or not isinstance(section.value, list):
        return []
    encoded = KEEPING.read(bytes(octets), section.start)[0].value
    return section.value if str(encoded.encoding).startswith("list") else []


def _value(octets: bytes | bytearray) -> Any:
    section = _section(octets, "amqp-value")
    return None if section is None else section.value


def _section(octets: bytes | bytearray, name: str) -> Section | None:
    message = read(octets)
    sections = () if message is None else message.sections
    return next((section for section in sections if section.name == name), None)


FAULTS = fault_table("""
failed-deliveries-not-counted: the delivery-count of a message stays, however often it failed
    [messaging/modified/delivery-failed]
properties-written-anew: a message without subject gets one [messaging/bare-message]
data-sections-joined: several data sections arrive as one [messaging/body-sections]
delivery-annotations-unknown: a message with delivery annotations ends the session [framing/payload]
delivery-annotations-end-the-message: everything after delivery annotations is lost [framing/payload]
list-values-taken-for-fields: a message whose value is a list of two or more ends the session [framing/payload]
map-values-taken-for-fields: a message whose value is a map ends the session [framing/payload]
list-values-cut: only the first item of a list value is delivered [framing/payload]
arrays-of-no-width-refused: a message whose value is an array with elements that take no octets ends the session
    [framing/payload]
""")
