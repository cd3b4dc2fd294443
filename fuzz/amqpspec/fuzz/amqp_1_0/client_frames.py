"""Frames of a client of AMQP 1.0, by name.

Knows: frames and performatives. Must not know: defects, brokers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

from amqpspec.fuzz.selftest.frames import ClientFrame
from amqpspec.spec.amqp_1_0 import LAYOUT
from amqpspec.wire.amqp_1_0.composites import Composed
from amqpspec.wire.amqp_1_0.types import decode
from amqpspec.wire.errors import WireError

_HEAD = struct.Struct(">IBBH")
_HEADER_OCTETS = 8


def typed_frame(channel: int, body: bytes) -> ClientFrame:
    """One frame as the broker has cut it."""
    composed = _composed(body)
    name = composed.name if composed is not None else ""
    return ClientFrame(name, channel, body, lambda: _given(composed) if composed is not None else {})


def _composed(body: bytes) -> Composed | None:
    try:
        value = decode(body)[0] if body else None
    except WireError:
        return None
    return value if isinstance(value, Composed) else None


def _given(composed: Composed) -> dict[str, Any]:
    return {field.key: composed[field.key] for field in composed.row.fields if field.key in composed.given}


def frames_in(octets: bytes) -> Iterator[ClientFrame]:
    """The whole frames in a client's octets."""
    at = _HEADER_OCTETS if octets.startswith(b"AMQP") else 0
    while len(octets) - at >= LAYOUT.header_octets:
        size, doff, _, channel = _HEAD.unpack_from(octets, at)
        start = doff * LAYOUT.doff_word_octets
        if not LAYOUT.header_octets <= start <= size <= len(octets) - at:
            return
        yield typed_frame(channel, octets[at + start : at + size])
        at += size
