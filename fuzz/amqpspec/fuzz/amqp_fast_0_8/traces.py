"""What octets leave behind in AMQP/Fast, command by command.

Knows: commands, whether one asks for an answer. Must not know: states, what may be said next.
"""

from __future__ import annotations

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.states.model import BROKEN, Sign, Traces, traces_of
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Payload, Tier
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader

_MAX_OCTETS = 1 << 32


def traces(octets: bytes) -> Traces:
    """What the octets of an input leave behind."""
    if octets == DIALECT.protocol_header:
        return traces_of([Sign("greeting", 0, True, True, True)])
    reader = CommandReader(max_size=_MAX_OCTETS)
    frames = [item for item, _, _ in cut(reader, octets) if isinstance(item, CommandFrame)]
    if reader.is_broken or reader.pending_octets or reader.pending is not None or not frames:
        return BROKEN
    found = traces_of([_sign(frame) for frame in frames])
    return Traces(found.whole, found.sound, found.owes, found.moves, found.names, _places(frames))


def _sign(frame: CommandFrame) -> Sign:
    row = frame.command
    if row is None or frame.error is not None:
        return Sign(frame.name, 0, False, True, True)
    plain = row.sent_by is not Side.SERVER and row.payload is Payload.NONE
    asks = bool(frame.args.get("confirm_tag") or frame.args.get("respond") or row.answers)
    moves = row.tier is Tier.CONNECTION and row.name != "connection.ping"
    return Sign(row.name, 0, plain, asks, moves)


def _places(frames: list[CommandFrame]) -> frozenset[int]:
    """Channels and handles that commands name, as answers on either count."""
    named = (frame.args.get(key) for frame in frames for key in ("channel_id", "handle_id"))
    return frozenset(number for number in named if number)
