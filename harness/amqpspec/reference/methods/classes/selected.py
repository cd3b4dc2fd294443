"""Sender-selected distribution: the keys that the headers CC and BCC add to a message, and what consumers see of them.

Knows: the two headers. Must not know: how keys route.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.model.values import as_text
from amqpspec.wire.values import Table

CC, BCC = "CC", "BCC"


def more_keys(channel: Channel, headers: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys in both headers; what is no text is passed over."""
    names = (BCC,) if channel.faulty("cc-ignored") else (CC, BCC)
    values = [value for name in names for value in _listed(headers.get(name))]
    return tuple(text for value in values if (text := as_text(value)) is not None)


def unseen(channel: Channel, octets: bytes) -> bytes:
    """A content header without BCC."""
    codec = channel.connection.codec
    header = codec.decode_header(octets)
    headers = header.properties.get("headers")
    if headers is None or headers.get(BCC) is None or channel.faulty("bcc-shown"):
        return octets
    left = Table(field for field in headers if field[0] != BCC)
    return codec.encode_header(header._replace(properties={**header.properties, "headers": left}))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


FAULTS = fault_table("""
cc-ignored: the keys in CC route nothing [extension/sender-selected]
bcc-shown: the header BCC is delivered [extension/sender-selected]
""")
