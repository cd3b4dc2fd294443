"""The 0-9 family with other tools.

Knows: frames, which of them belong to a handshake. Must not know: captures, boofuzz.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.interop.part import MAX_OCTETS, BoofuzzFacts, Piece
from amqpspec.spec.methods import MethodDialect
from amqpspec.spec.model import Side
from amqpspec.wire.methods.frames import Frame, FrameReader

_OUTSIDE = frozenset({"channel.open", "channel.close", "channel.close-ok"})


def pieces(dialect: MethodDialect, octets: bytes) -> Iterator[Piece]:
    """Frames after the protocol header, without class connection and heartbeats."""
    kinds = {code: name for name, code in dialect.layout.types.items()}
    for item, begin, end in cut(FrameReader(dialect.layout, max_payload_octets=MAX_OCTETS), octets):
        if not isinstance(item, Frame) or not item.channel:
            continue
        ids = (int.from_bytes(item.payload[:2], "big"), int.from_bytes(item.payload[2:4], "big"))
        method = dialect.methods_by_id.get(ids) if kinds.get(item.type) == "method" else None
        if method is None or method.class_name != "connection":
            name = method.name if method is not None else ""
            continues = kinds.get(item.type) in ("header", "body")
            yield Piece(item.channel, octets[begin:end], continues, name not in _OUTSIDE)


def boofuzz(dialect: MethodDialect) -> BoofuzzFacts:
    """Frames by type and ids of their methods."""
    places, before = dict[str, int](), 0
    for name, width in dialect.layout.header:
        places[name] = before
        before += width
    kind = bytes((dialect.layout.types["method"],))
    names = {
        kind + m.class_id.to_bytes(2, "big") + m.method_id.to_bytes(2, "big"): m.name
        for m in dialect.methods.values()
        if m.sent_by is not Side.CLIENT
    }
    named_by = ((places["type"], places["type"] + 1), (before, before + 4))
    return BoofuzzFacts((before, places["size"], before + 1), named_by, names, own_queue=True)
