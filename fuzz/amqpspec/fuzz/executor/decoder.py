"""Decoders of what a target says: frames cut and named as they come, refusals and offered limits taken out.

Knows: which driver has the decoder. Must not know: sockets, what was sent.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.executor.heard import UNREADABLE, Decode, Heard
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.wire.errors import WireError


def decoder(dialect_id: str) -> Decode:
    """Return a decoder for one connection: it takes octets, returns what they complete, and never raises."""
    decode = executor_part(dialect_id).decoder()

    def safely(octets: bytes) -> Iterator[Heard]:
        try:
            yield from decode(octets)
        except WireError:
            yield Heard(UNREADABLE)

    return safely
