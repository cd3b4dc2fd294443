"""Frames of AMQP 0-10: octets in, frames out, each with what it completes; segments to frames, legal or not.

Knows: the frame header and its flags, that segments and assemblies are cut into frames anywhere. Must not know: states.
Bounded: see ``Assembler``; a frame cannot announce more than its two octets of size can say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    HEADER,
    HeaderEntry,
    encode_header,
    encode_instruction,
    kind_of,
)
from amqpspec.wire.amqp_0_10.problems import Problem
from amqpspec.wire.amqp_0_10.segments import Assembly, Segment
from amqpspec.wire.amqp_0_10.values import Raw
from amqpspec.wire.errors import WireError
from amqpspec.wire.framing import encode

LAYOUT = DIALECT.layout
HEADER_OCTETS = LAYOUT.header_octets
MAX_FRAME_OCTETS = (1 << 8 * LAYOUT.size_octets) - 1
FIRST_SEGMENT, LAST_SEGMENT = LAYOUT.flags["first-segment"], LAYOUT.flags["last-segment"]
FIRST_FRAME, LAST_FRAME = LAYOUT.flags["first-frame"], LAYOUT.flags["last-frame"]
WHOLE = FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME | LAST_FRAME
"""An assembly of one segment in one frame."""


class Frame(NamedTuple):
    """One frame; ``offset`` is where it began in the stream.

    ``flags`` and ``track_octet`` are the octets as they stand, with what is reserved in them. ``segment`` and
    ``assembly`` are what the frame completes. Where ``error`` says why it cannot belong to any, it is left out.
    """

    flags: int
    type: int
    reserved_1: int
    track_octet: int
    channel: int
    reserved_2: int
    payload: bytes
    offset: int = 0
    segment: Segment | None = None
    assembly: Assembly | None = None
    error: WireError | None = None

    @property
    def track(self) -> int:
        """The track number."""
        return self.track_octet & LAYOUT.track_mask

    @property
    def size(self) -> int:
        """What the header's size says."""
        return HEADER_OCTETS + len(self.payload)

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the specification says against its header."""
        return tuple(_problems(self))


def _problems(frame: Frame) -> Iterator[Problem]:
    reserved = {
        "frame-format-version": frame.flags & LAYOUT.version_mask,
        "reserved flags": frame.flags & LAYOUT.reserved_flags,
        "octet 4": frame.reserved_1,
        "octet 5 before the track": frame.track_octet & ~LAYOUT.track_mask,
        "octets 8 to 11": frame.reserved_2,
    }
    for where, octets in reserved.items():
        if octets:
            yield Problem(f"frame header: {where}", "0", f"0x{octets:02X}")
    if frame.type not in LAYOUT.types.values():
        yield Problem("frame header: type", "a segment type", str(frame.type))
    if frame.track not in LAYOUT.tracks.values():
        yield Problem("frame header: track", "a track that is defined", str(frame.track))


# --- writing


def encode_frame(
    payload: bytes = b"",
    *,
    type: int,
    flags: int = WHOLE,
    channel: int = 0,
    track: int | None = None,
    size: int | None = None,
    reserved_1: int = 0,
    reserved_2: int = 0,
) -> bytes:
    """A frame as octets; ``flags`` and ``track`` are the whole of their octets, ``size`` may be wrong if it is given.

    The track is that of the type's controls or commands if none is given. EncodeError for what does not fit.
    """
    values = {
        "flags": flags,
        "type": type,
        "reserved-1": reserved_1,
        "track": track_of(type) if track is None else track,
        "channel": channel,
        "reserved-2": reserved_2,
    }
    return encode(LAYOUT, values, payload, size=size)


def track_of(kind: int) -> int:
    """The track on which segments of a type travel: controls have theirs, all else is part of a command."""
    return LAYOUT.tracks["control" if kind == LAYOUT.types["control"] else "command"]


def cut(
    segments: Sequence[tuple[int, bytes]],
    *,
    channel: int = 0,
    track: int | None = None,
    max_frame_octets: int = LAYOUT.min_max_frame_size,
) -> Iterator[bytes]:
    """The frames of an assembly, given as types and octets of its segments, none larger than the maximum."""
    most = max_frame_octets - HEADER_OCTETS
    for number, (kind, octets) in enumerate(segments):
        place = (FIRST_SEGMENT if number == 0 else 0) | (LAST_SEGMENT if number == len(segments) - 1 else 0)
        at = track_of(segments[0][0]) if track is None else track
        pieces = [octets[start : start + most] for start in range(0, len(octets), most)] or [b""]
        yield from _frames(pieces, kind, place, channel, at)


def encode_assembly(
    name: str,
    /,
    channel: int = 0,
    *,
    sync: bool = False,
    header: Iterable[HeaderEntry | Raw] | None = None,
    body: bytes | None = None,
    max_frame_octets: int = LAYOUT.min_max_frame_size,
    **args: Any,
) -> bytes:
    """The frames of a control or a command, with its header and body segments if they are given.

    What lies is made of the parts: ``encode_instruction``, ``encode_header``, ``cut`` and ``encode_frame``. Raises
    KeyError, TypeError, EncodeError.
    """
    segments = [(kind_of(name), encode_instruction(name, args, sync=sync))]
    if header is not None:
        segments.append((HEADER, encode_header(header)))
    if body is not None:
        segments.append((BODY, body))
    return b"".join(cut(segments, channel=channel, max_frame_octets=max_frame_octets))


def _frames(pieces: Sequence[bytes], kind: int, place: int, channel: int, track: int) -> Iterator[bytes]:
    for number, piece in enumerate(pieces):
        flags = place | (FIRST_FRAME if number == 0 else 0)
        flags |= LAST_FRAME if number == len(pieces) - 1 else 0
        yield encode_frame(piece, type=kind, flags=flags, channel=channel, track=track)
