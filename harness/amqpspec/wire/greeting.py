"""The octets with which a peer says what it speaks, before the first frame.

Knows: their shape. Must not know: which dialect they name, frames.
"""

from __future__ import annotations

from typing import NamedTuple

_NAME = b"AMQP"


class ProtocolHeader(NamedTuple):
    """The octets of a greeting: eight that begin with ``AMQP`` in most dialects, others in some."""

    octets: bytes
    offset: int = 0

    def __str__(self) -> str:
        if self.octets.startswith(_NAME):
            return f"protocol header AMQP {' '.join(map(str, self.octets[len(_NAME) :]))}"
        return f"protocol header {self.octets.hex(' ')}"
