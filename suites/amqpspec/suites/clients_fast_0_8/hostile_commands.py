"""Servers that send commands of clients, unrequested commands, and commands for closed channels and handles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.run.clients.provoking import behind
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_MESSAGE = encode_message(b"x")
_HERE: Mapping[str, Any] = {"handle_id": 1}
_NEVER: Mapping[str, Mapping[str, Any]] = {
    "connection.response": {"mechanism": "PLAIN"},
    "connection.open": {"virtual_path": "/"},
    "channel.open": {"channel_id": 7},
    "channel.ack": {"channel_id": 1, "message_nbr": 1},
    "channel.commit": {"channel_id": 1},
    "channel.rollback": {"channel_id": 1},
    "handle.open": {"channel_id": 1, "handle_id": 7},
    "handle.send": {**_HERE, "service_type": 1, "fragment": _MESSAGE},
    "handle.consume": {**_HERE, "service_type": 1, "prefetch": 1},
    "handle.flow": {**_HERE, "flow_pause": True},
    "handle.unget": {**_HERE, "message_nbr": 1},
    "handle.query": _HERE,
    "handle.browse": _HERE,
}
"""What only clients send, and with which fields."""

for _point in ("channel", "handle", "notify"):
    for _name, _fields in _NEVER.items():
        _tier, _, _command = _name.partition(".")
        of.hostile(
            globals(), f"never.{_name}.{_point}", f"{_tier}/summary/client/{_command}", of.POINTS[_point],
            behind(command_frame(_name, **_fields)),
            f"A client rejects {_name.replace('.', ' ').upper()} after {of.POINTS[_point][0]}",
        )  # fmt: skip

_OPEN = {"channel": of.POINTS["channel"], "handle": of.POINTS["handle"], "closed": of.FURTHER["handle-close"]}
_ON_HANDLES = {"handle": of.POINTS["handle"], "closed": of.FURTHER["handle-close"]}
_TUNE = command_frame("connection.tune", options={"FRAME_MAX": 4096})
_CHALLENGE = command_frame("connection.challenge", version=1, mechanisms="PLAIN")
_TAG: Mapping[str, Any] = {"confirm_tag": 0x7777, "reply_code": 200}
_UNASKED: tuple[tuple[str, str, bytes, str], ...] = (
    ("tune-twice", "violated/connection/tune/exchange", _TUNE, "a second TUNE"),
    ("challenge-late", "violated/scenarios/preparing/challenge", _CHALLENGE, "a CHALLENGE after the login"),
    ("reply-unasked", "connection/summary/client/reply",
     command_frame("connection.reply", **_TAG), "an unrequested CONNECTION REPLY"),
    ("channel-reply-unasked", "channel/summary/client/reply",
     command_frame("channel.reply", channel_id=1, **_TAG), "an unrequested CHANNEL REPLY"),
    ("channel-reply-elsewhere", "violated/channel/reply/channel",
     command_frame("channel.reply", channel_id=77, **_TAG), "a CHANNEL REPLY for a channel that is not open"),
    ("channel-close-elsewhere", "violated/channel/close/state",
     command_frame("channel.close", channel_id=77, reply_code=200), "a CHANNEL CLOSE for a channel that is not open"),
    ("handle-close-elsewhere", "violated/handle/close/open",
     command_frame("handle.close", handle_id=77, reply_code=200), "a HANDLE CLOSE for a handle that is not open"),
    ("notify-elsewhere", "violated/handle/notify/handle",
     command_frame("handle.notify", handle_id=77, message_nbr=1, delivered=True, fragment=_MESSAGE),
     "a message for a handle that is not open"),
)  # fmt: skip
_UNASKED_ON_HANDLES: tuple[tuple[str, str, bytes, str], ...] = (
    ("handle-reply-unasked", "handle/summary/client/reply",
     command_frame("handle.reply", **_HERE, **_TAG), "an unrequested HANDLE REPLY"),
    ("created-unasked", "handle/summary/client/created",
     command_frame("handle.created", **_HERE, dest_name="x"), "an unrequested CREATED"),
    ("index-unasked", "handle/summary/client/index",
     command_frame("handle.index", **_HERE, message_list=b"1"), "an unrequested INDEX"),
    ("ready-unasked", "violated/handle/ready/answer",
     command_frame("handle.ready", **_HERE), "a READY without PREPARE"),
    ("prepare-unasked", "violated/restartable/not-unasked",
     command_frame("handle.prepare", **_HERE, fragment=encode_message(b"", body_size=1 << 20)),
     "a PREPARE on a channel that is not restartable"),
    ("notify-unasked", "violated/scenarios/receiving/consume-first",
     command_frame("handle.notify", **_HERE, message_nbr=1, delivered=True, fragment=_MESSAGE),
     "a message without CONSUME"),
    ("shown-unasked", "violated/handle/browse/available",
     command_frame("handle.notify", **_HERE, message_nbr=1, fragment=_MESSAGE), "a browsed message without BROWSE"),
)  # fmt: skip
for _where, _group in ((_OPEN, _UNASKED), (_ON_HANDLES, _UNASKED_ON_HANDLES)):
    for _name, _row, _octets, _what in _group:
        for _point, _at in _where.items():
            of.hostile(
                globals(), f"{_name}.{_point}", _row, _at, behind(_octets),
                f"A client rejects {_what} after {_at[0]}",
            )  # fmt: skip
