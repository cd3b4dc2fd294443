"""AMQP 0-10 with other tools.

Knows: frames, which of them belong to a handshake. Must not know: captures, boofuzz.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.interop.part import MAX_OCTETS, BoofuzzFacts, Piece
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import FIRST_SEGMENT, Frame
from amqpspec.wire.amqp_0_10.reader import FrameReader

_OUTSIDE = frozenset({"session.attach", "session.command-point", "session.detach", "session.detached"})
_CONNECTION = 1


def pieces(octets: bytes) -> Iterator[Piece]:
    """Frames after the protocol header, without controls of class connection."""
    for item, begin, end in cut(FrameReader(max_octets=MAX_OCTETS), octets):
        if not isinstance(item, Frame):
            continue
        control = item.type == DIALECT.layout.types["control"] and item.flags & FIRST_SEGMENT
        codes = (item.payload[0], item.payload[1]) if control and len(item.payload) > 1 else (0, 0)
        row = DIALECT.controls_by_code.get(codes)
        if row is None or codes[0] != _CONNECTION:
            inside = row is None or row.name not in _OUTSIDE
            continues = not item.flags & FIRST_SEGMENT
            yield Piece(item.channel, octets[begin:end], continues, inside)


def boofuzz() -> BoofuzzFacts:
    """Frames by segment type and codes."""
    kinds = (("control", DIALECT.controls), ("command", DIALECT.commands))
    names = {
        bytes((DIALECT.layout.types[kind], row.class_code, row.code)): row.name
        for kind, rows in kinds
        for row in rows.values()
        if row.sent_by is not Side.CLIENT
    }
    before = DIALECT.layout.header_octets
    named_by = ((1, 2), (before, before + 2))
    return BoofuzzFacts((before, 2, 0), named_by, names, own_queue=True, size_octets=2)
