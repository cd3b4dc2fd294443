"""What octets leave behind in AMQP 0-10, assembly by assembly.

Knows: frames and assemblies, whether one asks for an answer. Must not know: states, what may be said next.
"""

from __future__ import annotations

from amqpspec.fuzz.states.model import BROKEN, Sign, Traces, traces_of
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import LAYOUT, Frame
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.errors import WireError

_ASKING = frozenset({"session.flush", "session.completed", "session.detach"})
"""Controls that can be answered, in addition to those with a response."""


def traces(octets: bytes) -> Traces:
    """What the octets of an input leave behind."""
    if octets == DIALECT.protocol_header:
        return traces_of([Sign("header", 0, True, True, True)])
    reader = FrameReader(header_allowed=False)
    reader.feed(octets)
    signs, begun = [], 0
    try:
        while isinstance(item := reader.next(), Frame):
            signs.append(_of_frame(item))
            begun += item.assembly is None
            begun = 0 if item.assembly is not None else begun
    except WireError:
        return BROKEN
    return BROKEN if reader.pending_octets or not signs or begun else traces_of(signs)


def _of_frame(frame: Frame) -> Sign:
    assembly = frame.assembly
    plain = frame.error is None and not frame.problems and frame.size <= LAYOUT.min_max_frame_size
    if assembly is None:
        return Sign("part of an assembly", frame.channel, False, False, False)
    instruction = assembly.instruction
    row = instruction.row if instruction is not None else None
    if row is None or assembly.error is not None or instruction is None:
        return Sign(assembly.name, frame.channel, False, True, True)
    moves = row.class_name == "connection" and row.name != "connection.heartbeat"
    sound = plain and not assembly.problems and row.sent_by is not Side.SERVER and len(assembly.segments) == 1
    owes = bool(instruction.sync or row.responses or getattr(row, "result", "") or row.name in _ASKING)
    return Sign(row.name, frame.channel, sound, owes, moves)
