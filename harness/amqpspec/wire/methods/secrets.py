"""Which arguments of methods carry secrets.

Knows: their names. Must not know: how they are found in octets or hidden in text.
"""

from __future__ import annotations

SECRETS = {
    "connection.start-ok": "response",
    "connection.secure-ok": "response",
    "connection.update-secret": "new-secret",
}


def is_secret(method: str, field: str) -> bool:
    """Whether a method's argument is never to be shown."""
    return SECRETS.get(method) == field
