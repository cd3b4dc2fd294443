"""Octets that the reference agent of AMQP 0-10 sends by mistake once it is connected.

Knows: frames and assemblies that break one rule each. Must not know: when they are sent, who judges them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.wire.amqp_0_10.frames import FIRST_FRAME, FIRST_SEGMENT, LAST_SEGMENT, WHOLE, cut, encode_frame
from amqpspec.wire.amqp_0_10.instructions import BODY, COMMAND, CONTROL, HEADER, encode_instruction

_HEARTBEAT = encode_instruction("connection.heartbeat", {})
_SYNC = encode_instruction("execution.sync", {})
_VERSION_1, _TRACK_7 = 0x40, 7


def _control(octets: bytes = _HEARTBEAT, **header: Any) -> Callable[[int], bytes]:
    return lambda channel: encode_frame(octets, type=CONTROL, channel=channel, **header)


def _command(octets: bytes = _SYNC, **header: Any) -> Callable[[int], bytes]:
    return lambda channel: encode_frame(octets, type=COMMAND, channel=channel, **header)


def _type_changes(channel: int) -> bytes:
    begun = encode_frame(
        _SYNC[:2], type=COMMAND, flags=FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME, channel=channel
    )
    rest = WHOLE & ~FIRST_FRAME
    return begun + encode_frame(_SYNC[2:], type=HEADER, flags=rest, track=1, channel=channel)


SLIPS: Mapping[str, Callable[[int], bytes]] = {
    "frame-version-set": _control(flags=_VERSION_1 | WHOLE),
    "reserved-octets-set": _control(reserved_1=1),
    "frames-of-type-77": lambda channel: encode_frame(b"", type=77, channel=channel, track=0),
    "type-changes-in-a-segment": _type_changes,
    "control-on-track-one": _control(track=1),
    "command-on-track-zero": _command(track=0),
    "frames-on-track-seven": _control(track=_TRACK_7),
    "flags-in-disorder": _control(flags=0),
    "size-below-header": _control(size=11),
    "unknown-class": _control(encode_instruction("connection.heartbeat", {}, code=(99, 1))),
    "unknown-control": _control(encode_instruction("connection.heartbeat", {}, code=(1, 99))),
    "octets-behind-a-control": _control(_HEARTBEAT + b"\0"),
    "octets-behind-a-command": _command(_SYNC + b"\0"),
    "control-of-servers": _control(encode_instruction("connection.open-ok", {})),
    "fields-missing": _control(encode_instruction("session.command-point", {"command_id": 5})),
    "ranges-that-touch": _control(encode_instruction("session.completed", {"commands": ((0, 0), (1, 1))})),
    "body-behind-a-control": lambda channel: b"".join(
        cut([(CONTROL, _HEARTBEAT), (BODY, b"x")], channel=channel)
    ),
}
"""What is sent by mistake, by its name: from the channel to octets."""
