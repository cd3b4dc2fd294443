"""Octets of an input in words, as far as they are frames.

Knows: which reader a dialect has. Must not know: what the octets are for.
"""

from __future__ import annotations

from collections.abc import Callable

from amqpspec.fuzz.grammar import tables
from amqpspec.spec.dialects import widest
from amqpspec.spec.methods import MethodDialect
from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import codec_for
from amqpspec.wire.methods.describe import describe_frame
from amqpspec.wire.methods.frames import FrameReader

_MAX_OCTETS = 1 << 24
_MAX_FRAMES = 64


def in_words(dialect_id: str, octets: bytes) -> list[str]:
    """A line for each frame, then one for what cannot be read or is not complete."""
    take, pending = _methods(dialect_id, octets) if _is_methods(dialect_id) else _typed(octets)
    lines: list[str] = []
    try:
        while (text := take()) is not None:
            lines.append(text)
            if len(lines) == _MAX_FRAMES:
                return [*lines, "…"]
    except WireError as error:
        return [*lines, f"not readable: {error}"]
    return lines + ([f"{pending()} octets of a frame that is not complete"] if pending() else [])


Take = tuple[Callable[[], str | None], Callable[[], int]]


def _is_methods(dialect_id: str) -> bool:
    return isinstance(tables(dialect_id), MethodDialect)


def _methods(dialect_id: str, octets: bytes) -> Take:
    codec = codec_for(widest(dialect_id))
    reader = FrameReader(codec.dialect.layout, max_payload_octets=_MAX_OCTETS)
    reader.feed(octets)

    def take() -> str | None:
        item = reader.next()
        return None if item is None else str(describe_frame(codec, item)["text"])

    return take, lambda: reader.pending_octets


def _typed(octets: bytes) -> Take:
    from amqpspec.wire.amqp_1_0.describe import describe_frame as describe_typed
    from amqpspec.wire.amqp_1_0.frames import TypedReader

    reader = TypedReader(max_frame_octets=_MAX_OCTETS)
    reader.feed(octets)

    def take() -> str | None:
        item = reader.next()
        return None if item is None else str(describe_typed(item)["text"])

    return take, lambda: reader.pending_octets
