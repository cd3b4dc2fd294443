"""AMQP 0-10 with other tools.

Knows: frames, which of them belong to a handshake. Must not know: captures, boofuzz.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.interop.part import MAX_OCTETS, BoofuzzFacts, Piece
from amqpspec.spec.assemblies import AssemblyDialect
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import FIRST_SEGMENT, Frame
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.errors import WireError

_OUTSIDE = frozenset({"session.attach", "session.command-point", "session.detach", "session.detached"})
_CONNECTION = 1


def pieces(dialect: AssemblyDialect, octets: bytes) -> Iterator[Piece]:
    """Frames after the protocol header, without controls of class connection."""
    reader = FrameReader(max_octets=MAX_OCTETS)
    reader.feed(octets)
    while True:
        begin = reader.offset
        try:
            item = reader.next()
        except WireError:
            return
        if item is None:
            return
        if not isinstance(item, Frame):
            continue
        control = item.type == dialect.layout.types["control"] and item.flags & FIRST_SEGMENT
        codes = (item.payload[0], item.payload[1]) if control and len(item.payload) > 1 else (0, 0)
        row = dialect.controls_by_code.get(codes)
        if row is None or codes[0] != _CONNECTION:
            inside = row is None or row.name not in _OUTSIDE
            continues = not item.flags & FIRST_SEGMENT
            yield Piece(item.channel, octets[begin : reader.offset], continues, inside)


def boofuzz(dialect: AssemblyDialect) -> BoofuzzFacts:
    """Frames by segment type and codes."""
    kinds = (("control", dialect.controls), ("command", dialect.commands))
    names = {
        bytes((dialect.layout.types[kind], row.class_code, row.code)): row.name
        for kind, rows in kinds
        for row in rows.values()
        if row.sent_by is not Side.CLIENT
    }
    before = dialect.layout.header_octets
    named_by = ((1, 2), (before, before + 2))
    return BoofuzzFacts((before, 2, 0), named_by, names, own_queue=True, size_octets=2)
