"""Frames of a client of the 0-9 family, by name.

Knows: frames and methods. Must not know: defects, brokers.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.selftest.frames import ClientFrame
from amqpspec.spec.dialects import widest
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader


def method_frame(dialect: str, kind: str, channel: int, payload: bytes) -> ClientFrame:
    """One frame as the broker has cut it."""
    codec, by_ids = _codec(dialect)
    name = by_ids.get((payload[:2], payload[2:4])) if kind == "method" else kind
    return ClientFrame(
        name or "", channel, payload, lambda: codec.decode_method(payload).args if kind == "method" else {}
    )


@cache
def _codec(dialect: str) -> tuple[Codec, dict[tuple[bytes, bytes], str]]:
    codec = codec_for(widest(dialect))
    ids = codec.dialect.methods_by_id.items()
    return codec, {(c.to_bytes(2, "big"), m.to_bytes(2, "big")): method.name for (c, m), method in ids}


def frames_in(dialect: str, octets: bytes) -> Iterator[ClientFrame]:
    """The whole frames in a client's octets."""
    layout = _codec(dialect)[0].dialect.layout
    kinds = {code: name for name, code in layout.types.items()}
    for item, _, _ in cut(FrameReader(layout), octets):
        if isinstance(item, Frame):
            yield method_frame(dialect, kinds.get(item.type, ""), item.channel, item.payload)
