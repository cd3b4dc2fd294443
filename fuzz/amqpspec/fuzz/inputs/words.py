"""Describes the octets of an input, as far as they are frames.

Knows: that a dialect's driver words frames. Must not know: what the octets are for.
"""

from __future__ import annotations

from amqpspec.fuzz.inputs.part import inputs_part
from amqpspec.wire.errors import WireError

_MAX_FRAMES = 64


def in_words(dialect_id: str, octets: bytes) -> list[str]:
    """A line for each frame, then one for what cannot be read or is not complete."""
    frames = inputs_part(dialect_id).words_of(octets)
    if frames is None:
        return [f"{len(octets)} octets"]
    lines: list[str] = []
    try:
        while (text := frames.next()) is not None:
            lines.append(text)
            if len(lines) == _MAX_FRAMES:
                return [*lines, "…"]
    except WireError as error:
        return [*lines, f"not readable: {error}"]
    left = frames.reader.pending_octets
    return lines + ([f"{left} octets of a frame that is not complete"] if left else [])
