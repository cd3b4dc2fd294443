"""What the broker looks up in a message: durability, priority, time to live, properties to select by.

Knows: where these stand. Must not know: links; the octets of a message are never changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.reference.model import Message
from harness.wire.amqp_1_0.message import decode_message
from harness.wire.errors import WireError


def message_of(node: str, octets: bytes, publisher: object) -> Message:
    """Octets as a message for a node; what cannot be read is carried all the same."""
    header, headers = _read(octets)
    return Message(
        exchange="",
        routing_key=node,
        header=b"",
        body=octets,
        priority=header["priority"] if header is not None else 4,
        persistent=bool(header["durable"]) if header is not None else False,
        headers=headers,
        publisher=publisher,
    )


def ttl_ms_of(octets: bytes) -> int | None:
    """How long a message lives, None for as long as it takes."""
    header, _ = _read(octets)
    value = header.get("ttl") if header is not None else None
    return value if isinstance(value, int) else None


def _read(octets: bytes) -> tuple[Any, dict[str, Any]]:
    """Header and application properties as far as they are what they are to be; a message may hold anything there."""
    try:
        message = decode_message(octets)
    except (WireError, ValueError, TypeError):
        return None, {}
    header, properties = message.header, message.application_properties
    is_header = header is not None and header.name == "header"
    named = properties.items() if isinstance(properties, Mapping) else ()
    return header if is_header else None, {str(key): value for key, value in named}
