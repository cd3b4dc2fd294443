"""Segments and assemblies: the layer between frames and instructions.

Knows: which segments an assembly has, and in which order. Must not know: frames, their flags, sessions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Command
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    COMMAND,
    CONTROL,
    HEADER,
    HeaderEntry,
    Instruction,
    decode_header,
    decode_instruction,
)
from amqpspec.wire.amqp_0_10.problems import Problem, header_problems, instruction_problems
from amqpspec.wire.errors import WireError

_name = DIALECT.layout.type_name


class Segment(NamedTuple):
    """One segment, put together from its frames; ``offset`` is where the payload of its first one began."""

    type: int
    octets: bytes
    offset: int = 0


class Assembly(NamedTuple):
    """One control or command with what belongs to it; ``offset`` is where its first frame began.

    ``instruction`` is None if it does not begin with one. ``header`` and ``body`` are None if there are none.
    ``error`` says what cannot be read, in a segment or in their order. ``rest``: what came before it was sent earlier,
    on another channel.
    """

    channel: int
    track: int
    segments: tuple[Segment, ...]
    offset: int = 0
    instruction: Instruction | None = None
    header: tuple[HeaderEntry, ...] | None = None
    body: bytes | None = None
    error: WireError | None = None
    rest: bool = False

    @property
    def name(self) -> str:
        """The control's or command's name, or what the first segment is."""
        return self.instruction.name if self.instruction else f"rest from {_name(self.segments[0].type)}"

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What the specification says against what could be read."""
        return tuple(_problems(self))


def made(
    channel: int, track: int, segments: Sequence[Segment], offset: int, *, rest: bool = False
) -> Assembly:
    """An assembly with what its segments hold; never raises: what cannot be read is reported by ``error``."""
    assembly = Assembly(channel, track, tuple(segments), offset, rest=rest)
    error = None if rest else _disorder(assembly.segments)
    first = assembly.segments[0]
    if first.type in (CONTROL, COMMAND) and not rest:
        instruction = read_instruction(first)
        assembly = assembly._replace(instruction=instruction)
        error = instruction.error or error
    for segment in assembly.segments:
        if segment.type == BODY:
            assembly = assembly._replace(body=(assembly.body or b"") + segment.octets)
        elif segment.type == HEADER and not rest:
            header, wrong = read_header(segment)
            assembly = assembly._replace(header=header)
            error = error or wrong
    return assembly._replace(error=error)


def read_instruction(segment: Segment) -> Instruction:
    """What a control or command segment holds; its error has its place in the stream, as ``placed`` says."""
    found = decode_instruction(segment.type, segment.octets)
    if found.error is None:
        return found
    return found._replace(error=placed(found.error, segment, found.name))


def read_header(segment: Segment) -> tuple[tuple[HeaderEntry, ...] | None, WireError | None]:
    """The structs of a header segment, or why they cannot be read."""
    try:
        return decode_header(segment.octets), None
    except WireError as error:
        return None, placed(error, segment, "header")


def placed(error: WireError, segment: Segment, what: str) -> WireError:
    """The error as seen from the stream; exact where the segment is one frame, for headers lie between others."""
    return error.moved(f"{what} {error.where}", segment.offset)


def _disorder(segments: tuple[Segment, ...]) -> WireError | None:
    """The first segment whose type is not allowed at its position: command, then a header, then a body (12.2)."""
    allowed: tuple[int, ...] = (CONTROL, COMMAND)
    for segment in segments:
        if segment.type not in allowed:
            expected = " or ".join(map(_name, allowed)) or "the end of the assembly"
            return WireError("assembly", segment.offset, expected, f"a segment of type {_name(segment.type)}")
        allowed = {COMMAND: (HEADER, BODY), HEADER: (BODY,)}.get(segment.type, ())
    return None


def _problems(assembly: Assembly) -> Iterator[Problem]:
    instruction = assembly.instruction
    if instruction is None:
        return
    yield from instruction_problems(instruction)
    row = instruction.row if isinstance(instruction.row, Command) else None
    segments = row.segments if row is not None else None
    if row is not None and segments is None and len(assembly.segments) > 1:
        yield Problem(row.name, "no segment after it", f"{len(assembly.segments) - 1} more")
    if row is not None and segments is not None and segments.header_required and assembly.header is None:
        yield Problem(row.name, "a header segment", "none")
    yield from header_problems(row, assembly.header or ())
    if DIALECT.layout.tracks.get(_name(instruction.kind)) != assembly.track:
        yield Problem(instruction.name, f"the track of a {_name(instruction.kind)}", str(assembly.track))
