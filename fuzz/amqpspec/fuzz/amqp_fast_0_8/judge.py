"""What the ledger of AMQP/Fast says of octets sent in a state: the one rule that they break, if it is one.

Knows: which rule each breach is, and where the text leaves no doubt. Must not know: families, targets.

Careful by intent, for a wrong claim is worse than none: only the first command is judged, only if it breaks one
rule, and only if that does not depend on the target's destinations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from amqpspec.fuzz.inputs.cursor import Cursor, Unreadable
from amqpspec.fuzz.states.model import State
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.amqp_fast_0_8.types import PROTOCOL_ID, PROTOCOL_IDS
from amqpspec.spec.commands import Command, Payload, Tier
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.errors import WireError

_LAYOUT = DIALECT.layout
_SAFE_OCTETS = _LAYOUT.min_frame_max_octets
"""What every server takes; whether it takes more is for it to say."""
_NEGOTIATION = {
    "login": ("connection.response", "connection.ping", "connection.close"),
    "tuning": ("connection.tune", "connection.open", "connection.ping", "connection.close"),
}
"""What may be said before a connection is open, by state."""
_NEGOTIATION_ROW = "connection/errors/kinds"
_UNKNOWN = (
    (19, "syntax/connection-commands"),
    (29, "syntax/channel-commands"),
    (255, "syntax/handle-commands"),
)
"""Codes go by levels, in tens."""


def judge(state: State, steps: tuple[bytes, ...]) -> str:
    """The requirement that the octets break in a state, or nothing if that is not beyond doubt."""
    if not state.judged:
        return ""
    octets = b"".join(steps)
    if state.name == "raw":
        return _of_greeting(octets)
    found = _of_frame(state, octets)
    return _NEGOTIATION_ROW if found and state.name in _NEGOTIATION else found


def _of_greeting(octets: bytes) -> str:
    """Letters begin another protocol, and some ids are for whatever is being tried out."""
    if len(octets) < len(DIALECT.protocol_header):
        return ""
    id, version = octets[:2]
    if id == PROTOCOL_ID:
        return "" if version else "syntax/initiation"
    if id in PROTOCOL_IDS["reserved"][0]:
        return "initiation/protocol-ids"
    return (
        "" if any(id in ids for ranges in PROTOCOL_IDS.values() for ids in ranges) else "initiation/invalid"
    )


def _of_frame(state: State, octets: bytes) -> str:
    size = int.from_bytes(octets[: _LAYOUT.size_octets], "big")
    if len(octets) < _LAYOUT.header_octets or size > _SAFE_OCTETS:
        return ""
    if size < _LAYOUT.least_size:
        return "frames/size-first"
    reader = CommandReader()
    reader.feed(octets)
    try:
        item = reader.next()
    except WireError:
        return _of_lost(octets, size)
    # What carries a fragment is judged by its contents and its destination; what follows, even in part, may be refused
    # earlier: a target may read on while it judges.
    if not isinstance(item, CommandFrame) or reader.pending_octets:
        return ""
    return next(_breaches(state, item), "")


def _of_lost(octets: bytes, size: int) -> str:
    """A wrong end octet, unless the code is unknown as well."""
    end = octets[_LAYOUT.size_octets + size - 1 :][:1]
    known = octets[_LAYOUT.size_octets] in DIALECT.commands_by_code
    return "syntax/command-end" if known and end and end[0] != _LAYOUT.end else ""


def _breaches(state: State, frame: CommandFrame) -> Iterator[str]:
    row = frame.command
    if row is None:
        yield next(name for last, name in _UNKNOWN if frame.code <= last)
        return
    if frame.error is not None:
        yield from _of_error(row, frame.fields)
        return
    if state.name in _NEGOTIATION:
        if row.name not in _NEGOTIATION[state.name]:
            yield _NEGOTIATION_ROW
        return
    if row.sent_by is Side.SERVER:
        yield f"{row.tier}/summary/server/{row.name.partition('.')[2]}"
    elif row.tier is Tier.CHANNEL:
        yield from _of_channel(state, frame)
    elif row.tier is Tier.HANDLE:
        yield from _of_handle(state, frame)


def _of_error(row: Command, octets: bytes) -> Iterator[str]:
    """Too few fields, or too many: what is wrong inside of a table or a text has rows of its own."""
    if row.payload is Payload.NONE and not _fits(row, Cursor(octets)):
        yield "frames/fixed-fields"


def _fits(row: Command, cursor: Cursor) -> bool:
    """Whether the octets are as many as the fields of a command take, whatever their values are."""
    try:
        for is_bit, found in groupby(row.fields, lambda field: field.type == "bit"):
            for field in found if not is_bit else ():
                kind = DIALECT.types_by_name[field.type]
                cursor.take(kind.octets or cursor.number(kind.length_octets))
            if is_bit:
                cursor.take(-(-len(list(found)) // 8))
    except Unreadable:
        return False
    return not cursor.left


def _of_channel(state: State, frame: CommandFrame) -> Iterator[str]:
    name, channel = frame.name, frame.args["channel_id"]
    is_open = channel in state.channels
    if name == "channel.open":
        if not channel:
            yield "channel/open/channel-id"
        elif is_open:
            yield "channel/open/open"
    elif not is_open:
        yield "channel/close/state" if name == "channel.close" else f"{name.replace('.', '/')}/open"
    elif name in ("channel.commit", "channel.rollback") and state.name != "transacted":
        yield f"{name.replace('.', '/')}/transacted"


def _of_handle(state: State, frame: CommandFrame) -> Iterator[str]:
    name, handle = frame.name, frame.args["handle_id"]
    if name == "handle.open":
        if frame.args["channel_id"] not in state.channels:
            # A handle that cannot be either may be refused for that.
            yield "scenarios/opening/order" if handle and handle not in state.handles else ""
        elif not handle:
            yield "handle/open/not-zero"
        elif handle in state.handles:
            yield "handle/open/handle-id"
    elif handle not in state.handles:
        yield f"{name.replace('.', '/')}/open"
    elif name == "handle.consume":
        if frame.args["service_type"] not in (1, 2):
            yield "handle/consume/service-type" if frame.args["prefetch"] else ""
        elif not frame.args["prefetch"]:
            yield "handle/consume/prefetch-range"
