"""AMQP 1.0 with other tools.

Knows: frames, which of them belong to a handshake. Must not know: captures, boofuzz.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.interop.part import MAX_OCTETS, BoofuzzFacts, Piece
from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.wire.amqp_1_0.frames import RawFrame, RawReader

_OUTSIDE = frozenset({"begin", "end", "close"})


def pieces(octets: bytes) -> Iterator[Piece]:
    """Frames after the last protocol header, without open, SASL and empty frames."""
    names = {bytes((0, 0x53, row.code)): row.name for row in DIALECT.performatives}
    for item, _, _ in cut(RawReader(max_frame_octets=MAX_OCTETS), octets):
        if isinstance(item, RawFrame) and item.frame_type == DIALECT.layout.types["amqp"] and item.body:
            name = names.get(item.body[:3], "")
            if name != "open":
                yield Piece(item.channel, item.octets, inside=name not in _OUTSIDE)


def boofuzz() -> BoofuzzFacts:
    """Frames by the octet of a descriptor of the short form, in which servers write it."""
    names = {bytes((row.code,)): row.name for row in (*DIALECT.performatives, *DIALECT.sasl_frames)}
    return BoofuzzFacts((8, 0, 0), ((10, 11),), names, own_queue=False)
