"""Frames as cases cut them by hand."""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    encode_frame,
    track_of,
)


def cut_up(
    kind: int, pieces: Sequence[bytes], channel: int = 0, place: int = FIRST_SEGMENT | LAST_SEGMENT
) -> bytes:
    """One segment with these pieces as its frames."""
    frames = []
    for at, piece in enumerate(pieces):
        flags = place | (FIRST_FRAME if at == 0 else 0) | (LAST_FRAME if at == len(pieces) - 1 else 0)
        frames.append(
            encode_frame(piece, type=kind, flags=flags, channel=channel, track=track_of(min(kind, 1)))
        )
    return b"".join(frames)


def in_pieces(kind: int, octets: bytes, channel: int = 0) -> bytes:
    """One segment of one octet in each frame, with an empty frame before, between and behind them."""
    singles = [octets[at : at + 1] for at in range(len(octets))]
    middle = len(singles) // 2
    return cut_up(kind, [b"", *singles[:middle], b"", *singles[middle:], b""], channel)
