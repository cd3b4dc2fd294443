"""Echo on the wire: frames by the layout alone, and what evidence says of them.

Knows: frames. Must not know: sockets, cases.
"""

from __future__ import annotations

from typing import Any

from amqpspec.wire.direction import FrameDecoder, reader_name
from amqpspec.wire.framing import CutFrame, PlainReader, encode
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.words import first_octets
from tests.toy.tables import DIALECT

LAYOUT = DIALECT.layout


def frame(name: str | int, payload: bytes = b"") -> bytes:
    """A frame as octets; a type that is none by its number."""
    return encode(LAYOUT, {"type": name if isinstance(name, int) else LAYOUT.types[name]}, payload)


def name_of(item: CutFrame) -> str:
    """What a frame is."""
    return LAYOUT.type_name(item.values[1])


class EchoDirection(FrameDecoder[CutFrame]):
    """A direction, ``out`` or ``in``."""

    def __init__(self, direction: str) -> None:
        super().__init__(PlainReader(LAYOUT, name=reader_name(direction)))

    def _describe(self, item: CutFrame | ProtocolHeader) -> dict[str, Any]:
        if isinstance(item, ProtocolHeader):
            return {"type": "protocol-header", "text": str(item)}
        return {"type": name_of(item), "text": f"{name_of(item)} of {first_octets(item.payload)}"}

    def _starred(self, octets: bytes) -> bytes:
        return octets
