"""AMQP/Fast with other tools.

Knows: frames, which of them belong to a handshake. Must not know: captures, boofuzz.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.interop.part import MAX_OCTETS, BoofuzzFacts, Piece
from amqpspec.spec.commands import CommandDialect, Tier
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.errors import WireError

_OUTSIDE = frozenset({"channel.open", "channel.close"})


def pieces(octets: bytes) -> Iterator[Piece]:
    """Commands after the greeting, without those on the connection; a handle's count for its channel."""
    reader = CommandReader(greets=True, max_size=MAX_OCTETS)
    reader.feed(octets)
    channels: dict[int, int] = {}
    while True:
        begin = reader.offset
        try:
            item = reader.next()
        except WireError:
            return
        if item is None:
            return
        if not isinstance(item, CommandFrame) or item.command is None or item.command.tier is Tier.CONNECTION:
            continue
        handle, channel = item.args.get("handle_id", 0), item.args.get("channel_id", 0)
        if item.name == "handle.open":
            channels[handle] = channel
        yield Piece(
            channel or channels.get(handle, 0),
            octets[begin : reader.offset],
            inside=item.name not in _OUTSIDE,
        )


def on_channel(dialect: CommandDialect, octets: bytes, channel: int) -> bytes:
    """A command that names a channel, on another one; a handle stays what it is."""
    at = dialect.layout.header_octets
    command = dialect.commands_by_code.get(octets[at - 1])
    if command is None or command.fields[0].name != "channel-id":
        return octets
    return octets[:at] + channel.to_bytes(2, "big") + octets[at + 2 :]


def boofuzz(dialect: CommandDialect) -> BoofuzzFacts:
    """Frames by their code."""
    at = dialect.layout.offset_of("code")
    names = {bytes((c.code,)): c.name for c in dialect.commands if c.sent_by is not Side.CLIENT}
    before = dialect.layout.header_octets
    return BoofuzzFacts(
        (before, 0, dialect.layout.size_octets), ((at, at + 1),), names, own_queue=True,
        size_octets=dialect.layout.size_octets,
    )  # fmt: skip
