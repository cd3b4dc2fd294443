"""The octets with which a peer says what it speaks, before the first frame.

Knows: their shape. Must not know: which dialect they name, frames.
"""

from __future__ import annotations

from typing import NamedTuple

HEADER_OCTETS = 8


class ProtocolHeader(NamedTuple):
    """Eight octets that begin with ``AMQP``."""

    octets: bytes
    offset: int = 0

    def __str__(self) -> str:
        return f"protocol header AMQP {' '.join(str(octet) for octet in self.octets[4:])}"
