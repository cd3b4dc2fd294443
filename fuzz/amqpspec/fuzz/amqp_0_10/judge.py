"""What the ledger of AMQP 0-10 says of octets sent in a state: the one rule that they break, if it is one.

Knows: which rule each breach is, and where the text leaves no doubt. Must not know: families, targets.

Careful by intent, for a wrong claim is worse than none: only the first frame is judged, only if it breaks one rule,
and only if that does not depend on the target's entities.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.judge.headers import known_headers
from amqpspec.fuzz.states.model import State
from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    LAYOUT,
    WHOLE,
    Frame,
)
from amqpspec.wire.amqp_0_10.instructions import Instruction
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.errors import WireError

_SAFE_OCTETS = LAYOUT.min_max_frame_size
"""What every peer takes; whether it takes more is for it to say."""
_CONTROL, _COMMAND = LAYOUT.types["control"], LAYOUT.types["command"]
_END = LAST_FRAME | LAST_SEGMENT
_WITHOUT_SESSION = frozenset({"session.attach", "session.attached", "session.detach", "session.detached"})


def judge(state: State, steps: tuple[bytes, ...]) -> str:
    """The requirement that the octets break in a state, or nothing if that is not beyond doubt."""
    if not state.judged:
        return ""
    octets = b"".join(steps)
    return _of_header(octets) if state.name == "raw" else _of_frame(state, octets)


def _of_header(octets: bytes) -> str:
    """Only a header of the right form whose version no one has defined: other octets may be another protocol."""
    begins = octets[:8]
    odd = begins[:4] == b"AMQP" and len(begins) == 8 and begins not in known_headers()
    return "transport/negotiation/unsupported" if odd else ""


def _of_frame(state: State, octets: bytes) -> str:
    if len(octets) < LAYOUT.header_octets:
        return ""
    size = int.from_bytes(octets[2:4], "big")
    if size < LAYOUT.header_octets:
        # A target that reads the flags first may report them.
        return "" if _odd_bits(octets) else "transport/frame/size-below-header"
    reader = FrameReader(header_allowed=False)
    reader.feed(octets)
    try:
        frame = reader.next()
    except WireError:
        return ""
    # What follows, even in part, may be refused earlier: a target may read on while it judges.
    if not isinstance(frame, Frame) or size > _SAFE_OCTETS or reader.pending_octets:
        return ""
    broken = list(_of_bits(octets, frame))
    if broken:
        return broken[0] if len(broken) == 1 else ""
    return next(_of_content(state, frame), "") if frame.flags == WHOLE else ""


def _odd_bits(octets: bytes) -> bool:
    return octets[0] != WHOLE or octets[1] > _COMMAND or any(octets[at] for at in (4, 8, 9, 10, 11))


def _of_bits(octets: bytes, frame: Frame) -> Iterator[str]:
    """What is wrong with a header by itself, if nothing is in progress."""
    if frame.flags & LAYOUT.version_mask:
        yield "transport/frame/version"
    reserved = frame.flags & LAYOUT.reserved_flags or frame.track_octet & ~LAYOUT.track_mask
    if reserved or frame.reserved_1 or frame.reserved_2:
        yield "transport/frame/reserved-bits"
    if frame.track not in LAYOUT.tracks.values():
        yield "transport/tracks/reserved"
    elif frame.type in (_CONTROL, _COMMAND) and frame.track != frame.type:
        yield _once_complete(frame, "track/command/one" if frame.type == _COMMAND else "track/control/zero")
    if frame.type not in LAYOUT.types.values():
        yield _once_complete(frame, "segment-type/values")
    elif frame.type not in (_CONTROL, _COMMAND):
        yield ""
    if frame.flags & (FIRST_FRAME | FIRST_SEGMENT) != FIRST_FRAME | FIRST_SEGMENT:
        yield "transport/assemblies/flags"


def _once_complete(frame: Frame, rule: str) -> str:
    """A rule about a segment that a target may read only when its assembly is complete; nothing before that."""
    return rule if frame.flags & _END == _END else ""


def _of_content(state: State, frame: Frame) -> Iterator[str]:
    assembly = frame.assembly
    if assembly is None or assembly.instruction is None:
        return
    instruction, here = assembly.instruction, frame.channel in state.channels
    row = instruction.row
    if not here:
        yield from _elsewhere(state, frame, instruction)
        return
    if row is None:
        known = any(c.code == instruction.code[0] for c in DIALECT.classes) if instruction.code else False
        # A control of class connection is for the connection, whatever its channel.
        if len(instruction.code) == 2 and state.name != "attached":
            yield "encoding/command/unknown-command" if known else "encoding/command/unknown-class"
    elif row.class_name == "connection":
        return
    elif frame.type == _COMMAND and state.name == "attached":
        yield (
            "session/command-point/before-commands"
            if assembly.error is None and not assembly.problems
            else ""
        )
    elif assembly.error is not None:
        return
    elif row.sent_by is Side.SERVER:
        yield "encoding/command/wrong-side" if not assembly.problems else ""
    elif any(f.required and f.key not in instruction.args for f in row.fields):
        yield "encoding/struct/required-field"


def _elsewhere(state: State, frame: Frame, instruction: Instruction) -> Iterator[str]:
    """On a channel without a session, within the limits that were agreed on or are usual."""
    row = instruction.row
    limit = 1 if state.channel_max is None else state.channel_max
    if row is None or instruction.error is not None or frame.channel > limit or row.sent_by is Side.SERVER:
        return
    if frame.type == _COMMAND:
        yield "session/attachment/commands"
    elif row.class_name == "session" and row.name not in _WITHOUT_SESSION:
        missing = any(f.required and f.key not in instruction.args for f in row.fields)
        yield "" if missing else "session/attachment/discarded"
