"""What a target of AMQP/Fast says.

Knows: commands, which of them refuse. Must not know: sockets, what was sent.

Where a channel is wanted, a command on a handle has the handle's number: states give both the same one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from amqpspec.fuzz.executor.heard import Decode, Heard
from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader
from amqpspec.wire.amqp_fast_0_8.message import decode_opening
from amqpspec.wire.amqp_fast_0_8.primitives import to_octets
from amqpspec.wire.errors import WireError

_MAX_OCTETS = 2 << 20
_CHANNELS, _FRAME_MAX_OCTETS = 65_535, 131_072
"""The value for no limit, or for one that is not specified."""


def decoder() -> Decode:
    """A decoder for one connection."""
    reader = CommandReader(max_size=_MAX_OCTETS)

    def decode(octets: bytes) -> Iterator[Heard]:
        reader.feed(octets)
        while (item := reader.next()) is not None:
            if isinstance(item, CommandFrame):
                yield _command(item)

    return decode


def _command(frame: CommandFrame) -> Heard:
    refusal = CommandArrived(frame).refusal
    limits = _offered(frame.args["options"].plain()) if frame.name == "connection.tune" else None
    mechanisms: tuple[str, ...] = ()
    if frame.name == "connection.challenge" and frame.error is None:
        mechanisms = tuple(str(frame.args["mechanisms"]).split())
    return Heard(frame.name, refusal, limits, _payload(frame), place_of(frame.args), mechanisms=mechanisms)


def _payload(frame: CommandFrame) -> bytes:
    """The body of a message of one fragment, the fragment if it has no head; the name of a queue that was made."""
    if frame.name == "handle.created":
        return to_octets(frame.args.get("dest_name", ""), "dest-name")
    try:
        return decode_opening(frame.fragment).body if frame.fragment else b""
    except WireError:
        return frame.fragment


def place_of(args: Mapping[str, int]) -> int:
    """The channel or the handle that a command names; zero for one on the connection."""
    return args.get("channel_id") or args.get("handle_id") or 0


def _offered(options: Mapping[str, object]) -> tuple[int, int]:
    """Channels and octets of a frame, as a TUNE offers them."""
    channels, octets = (options.get(name) for name in ("CHANNEL_MAX", "FRAME_MAX"))
    return _positive(channels, _CHANNELS), _positive(octets, _FRAME_MAX_OCTETS)


def _positive(value: object, usual: int) -> int:
    return value if isinstance(value, int) and value > 0 else usual
