"""What octets leave behind in AMQP 1.0, frame by frame.

Knows: frames and performatives, whether one asks for an answer. Must not know: states, what may be said next.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.states.model import BROKEN, Sign, Traces, traces_of
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import ProtocolHeader, TypedFrame, TypedReader

_SAFE_OCTETS = 512
_KEPT = 1024
_SIZE_OCTETS, _LEAST_OCTETS, _HEADER_OCTETS = 4, 8, 8


def traces(octets: bytes) -> Traces:
    """What the octets of an input leave behind."""
    signs: list[Sign] = []
    for piece in _pieces(octets):
        found = _signs_once(piece) if len(piece) <= _SAFE_OCTETS else _signs(piece)
        if not found:
            return BROKEN
        signs += found
    return traces_of(signs) if signs else BROKEN


def _pieces(octets: bytes) -> Iterator[bytes]:
    """The octets of each frame or header; what cannot be cut remains one piece."""
    at = 0
    while at < len(octets):
        size = int.from_bytes(octets[at : at + _SIZE_OCTETS], "big")
        if octets.startswith(b"AMQP", at):
            size = _HEADER_OCTETS
        if not _LEAST_OCTETS <= size <= len(octets) - at:
            size = len(octets) - at
        yield octets[at : at + size]
        at += size


def _signs(octets: bytes) -> tuple[Sign, ...]:
    """What one piece leaves behind; nothing if it cannot be cut into frames."""
    reader = TypedReader(max_frame_octets=1 << 32)
    signs = tuple(
        _of_header(item) if isinstance(item, ProtocolHeader) else _of_performative(item)
        for item, _, _ in cut(reader, octets)
    )
    return () if reader.is_broken or reader.pending_octets else signs


# An input may repeat one frame many thousands of times: it is read once.
_signs_once = lru_cache(_KEPT)(_signs)


def _of_header(header: ProtocolHeader) -> Sign:
    return Sign("header", 0, header.octets in HEADERS.values(), True, True)


def _of_performative(frame: TypedFrame) -> Sign:
    name, performative = frame.name, frame.performative
    if performative is None:
        return Sign(name, frame.channel, name == "empty" and frame.doff == 2, name != "empty")
    moves = name in ("open", "close") or "sasl-frame" in performative.row.provides
    plain = not frame.problems and len(frame.octets) <= _SAFE_OCTETS and frame.doff == 2
    if name == "open":
        plain = plain and performative["max_frame_size"] >= _SAFE_OCTETS
    asks = name not in ("flow", "disposition") or bool(name == "flow" and performative["echo"])
    return Sign(name, frame.channel, plain and name != "transfer", asks, moves)
