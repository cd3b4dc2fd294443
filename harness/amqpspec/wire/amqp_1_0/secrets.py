"""Which fields of composites carry secrets, and what may be shown next to them.

Knows: their names, the alphabet of mechanisms' names. Must not know: how they are found in octets.
"""

from __future__ import annotations

import re
from typing import Any

SECRETS = {"sasl-init": "initial-response", "sasl-response": "response"}
"""The field that is never to be shown, by composite."""

MECHANISM_OCTETS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")
"""What names of mechanisms are made of; with a size that is wrong, the field may reach into the secret after it."""

_MECHANISM = re.compile("[A-Z0-9_-]*")


def instead_of(composite: str, field: str, value: Any) -> str | None:
    """What to show in place of a field's value, None if the value itself may be shown."""
    if composite not in SECRETS:
        return None
    harmless = field == "mechanism" and (
        value is None or (isinstance(value, str) and _MECHANISM.fullmatch(value))
    )
    if harmless or field not in (SECRETS[composite], "mechanism"):
        return None
    return f"<redacted, {len(value)} octets>" if isinstance(value, bytes | str) else "<redacted>"
