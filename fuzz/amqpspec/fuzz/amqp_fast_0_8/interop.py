"""AMQP/Fast with other tools.

Knows: frames, which of them belong to a handshake. Must not know: captures, boofuzz.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.inputs.cursor import cut
from amqpspec.fuzz.interop.part import MAX_OCTETS, BoofuzzFacts, Piece
from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Tier
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader

_OUTSIDE = frozenset({"channel.open", "channel.close"})


def pieces(octets: bytes) -> Iterator[Piece]:
    """Commands after the greeting, without those on the connection; a handle's count for its channel."""
    channels: dict[int, int] = {}
    for item, begin, end in cut(CommandReader(greets=True, max_size=MAX_OCTETS), octets):
        if not isinstance(item, CommandFrame) or item.command is None or item.command.tier is Tier.CONNECTION:
            continue
        handle, channel = item.args.get("handle_id", 0), item.args.get("channel_id", 0)
        if item.name == "handle.open":
            channels[handle] = channel
        yield Piece(
            channel or channels.get(handle, 0),
            octets[begin:end],
            inside=item.name not in _OUTSIDE,
        )


def on_channel(octets: bytes, channel: int) -> bytes:
    """A command that names a channel, on another one; a handle stays what it is."""
    at = DIALECT.layout.header_octets
    command = DIALECT.commands_by_code.get(octets[at - 1])
    if command is None or command.fields[0].name != "channel-id":
        return octets
    return octets[:at] + channel.to_bytes(2, "big") + octets[at + 2 :]


def boofuzz() -> BoofuzzFacts:
    """Frames by their code."""
    at = DIALECT.layout.offset_of("code")
    names = {bytes((c.code,)): c.name for c in DIALECT.commands if c.sent_by is not Side.CLIENT}
    before = DIALECT.layout.header_octets
    return BoofuzzFacts(
        (before, 0, DIALECT.layout.size_octets), ((at, at + 1),), names, own_queue=True,
        size_octets=DIALECT.layout.size_octets,
    )  # fmt: skip
