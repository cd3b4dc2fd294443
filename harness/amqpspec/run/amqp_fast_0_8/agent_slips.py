"""Mistakes of the reference agent of AMQP/Fast that are one command if it is not allowed.

Knows: names of mistakes, points of a conversation, commands. Must not know: when a point is reached.
The points: ``tuned`` is before CONNECTION OPEN, ``open`` before CHANNEL OPEN, ``channel`` after that, ``handle``
after HANDLE OPEN, ``closing`` before the channels close, ``channel-closed`` and ``closed`` after a CLOSE.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.reference.fault import Fault, fault_table
from amqpspec.wire.amqp_fast_0_8.message import encode_message

_NOWHERE: Mapping[str, Any] = {"handle_id": 99}
_MESSAGE = encode_message(b"x")

SLIPS: tuple[tuple[str, str, str, Mapping[str, Any]], ...] = (
    ("pings-before-open", "tuned", "connection.ping", {}),
    ("tunes-behind-open", "open", "connection.tune", {}),
    ("handle-before-its-channel", "open", "handle.open", {"channel_id": 9, "producer": True}),
    ("channel-zero", "open", "channel.open", {"channel_id": 0}),
    ("opens-a-channel-twice", "channel", "channel.open", {}),
    ("handle-zero", "channel", "handle.open", {"handle_id": 0, "producer": True}),
    ("opens-a-handle-twice", "handle", "handle.open", {"producer": True}),
    (
        "sends-without-a-handle",
        "channel",
        "handle.send",
        {**_NOWHERE, "service_type": 1, "fragment": _MESSAGE},
    ),
    (
        "consumes-without-a-handle",
        "channel",
        "handle.consume",
        {**_NOWHERE, "service_type": 1, "prefetch": 1},
    ),
    ("pauses-without-a-handle", "channel", "handle.flow", {**_NOWHERE, "flow_pause": True}),
    ("gives-back-without-a-handle", "channel", "handle.unget", _NOWHERE),
    ("queries-without-a-handle", "channel", "handle.query", _NOWHERE),
    ("browses-without-a-handle", "channel", "handle.browse", {**_NOWHERE, "confirm_tag": 7}),
    ("prepares-without-a-handle", "channel", "handle.prepare", {**_NOWHERE, "fragment": _MESSAGE}),
    ("ready-without-a-handle", "channel", "handle.ready", _NOWHERE),
    ("closes-no-handle", "channel", "handle.close", _NOWHERE),
    ("acknowledges-without-a-channel", "channel", "channel.ack", {"channel_id": 9}),
    ("commits-without-a-channel", "channel", "channel.commit", {"channel_id": 9}),
    ("rolls-back-without-a-channel", "channel", "channel.rollback", {"channel_id": 9}),
    ("closes-no-channel", "channel", "channel.close", {"channel_id": 9}),
    ("commits-what-is-no-transaction", "closing", "channel.commit", {}),
    ("rolls-back-what-is-no-transaction", "closing", "channel.rollback", {}),
    ("sends-to-service-seven", "handle", "handle.send", {"service_type": 7, "fragment": _MESSAGE}),
    ("consumes-any-service", "handle", "handle.consume", {"service_type": 3, "prefetch": 1}),
    ("prefetch-zero", "handle", "handle.consume", {"service_type": 1, "dynamic": True}),
    ("prepares-without-the-mode", "handle", "handle.prepare", {"fragment": _MESSAGE}),
    ("gives-back-what-never-came", "handle", "handle.unget", {"message_nbr": 77}),
    ("works-on-a-closed-channel", "channel-closed", "channel.commit", {}),
    ("works-behind-its-close", "closed", "channel.open", {"channel_id": 5}),
    ("challenges-the-server", "channel", "connection.challenge", {"version": 1, "mechanisms": "PLAIN"}),
    ("confirms-a-connection", "channel", "connection.reply", {"confirm_tag": 1}),
    ("confirms-a-channel", "channel", "channel.reply", {"confirm_tag": 1}),
    ("creates-a-queue", "handle", "handle.created", {"dest_name": "x"}),
    ("notifies-the-server", "handle", "handle.notify", {"fragment": _MESSAGE}),
    ("lists-messages", "handle", "handle.index", {"message_list": b"1"}),
    ("confirms-a-handle", "handle", "handle.reply", {"confirm_tag": 1}),
)
"""Name, point, command, fields; channel 1 and handle 1 if none is named."""

SLIP_FAULTS: tuple[Fault, ...] = fault_table("""
pings-before-open: a PING is sent between TUNE and OPEN [connection/open/at-once]
tunes-behind-open: a TUNE is sent after OPEN [scenarios/preparing/open]
handle-before-its-channel: a handle is opened on a channel that is not open [scenarios/opening/order]
channel-zero: a channel 0 is opened [channel/open/channel-id]
opens-a-channel-twice: a channel that is open is opened [channel/open/open]
handle-zero: a handle 0 is opened [handle/open/not-zero]
opens-a-handle-twice: a handle that is open is opened [handle/open/handle-id]
sends-without-a-handle: a SEND names a handle that was never opened [handle/send/open ids/client]
consumes-without-a-handle: a CONSUME names a handle that was never opened [handle/consume/open ids/client]
pauses-without-a-handle: a FLOW names a handle that was never opened [handle/flow/open ids/client]
gives-back-without-a-handle: an UNGET names a handle that was never opened [handle/unget/open ids/client]
queries-without-a-handle: a QUERY names a handle that was never opened [handle/query/open ids/client]
browses-without-a-handle: a BROWSE names a handle that was never opened [handle/browse/open ids/client]
prepares-without-a-handle: a PREPARE names a handle that was never opened [handle/prepare/open ids/client]
ready-without-a-handle: a READY names a handle that was never opened [handle/ready/open ids/client]
closes-no-handle: a CLOSE names a handle that was never opened [handle/close/open ids/client]
acknowledges-without-a-channel: an ACK names a channel that was never opened [channel/ack/open ids/client]
commits-without-a-channel: a COMMIT names a channel that was never opened [channel/commit/open ids/client]
rolls-back-without-a-channel: a ROLLBACK names a channel that was never opened [channel/rollback/open ids/client]
closes-no-channel: a CLOSE names a channel that was never opened [channel/close/state ids/client]
commits-what-is-no-transaction: a channel without transactions is committed [channel/commit/transacted]
rolls-back-what-is-no-transaction: a channel without transactions is rolled back [channel/rollback/transacted]
sends-to-service-seven: the service type of a SEND is 7 [handle/send/service-type]
consumes-any-service: the service type of a CONSUME is any [handle/consume/service-type]
prefetch-zero: the prefetch of a CONSUME is 0 [handle/consume/prefetch-range]
prepares-without-the-mode: PREPARE is sent on a channel without restartable mode
    [restartable/option restartable/not-for-one-fragment]
gives-back-what-never-came: UNGET names a message that was never delivered [handle/unget/number]
works-on-a-closed-channel: a COMMIT is sent after the client's CHANNEL CLOSE [scenarios/errors/only-open]
works-behind-its-close: a channel is opened after the client's CONNECTION CLOSE [connection/close/repeated]
challenges-the-server: CHALLENGE is sent by the client [connection/summary/server/challenge]
confirms-a-connection: CONNECTION REPLY is sent by the client [connection/summary/server/reply]
confirms-a-channel: CHANNEL REPLY is sent by the client [channel/summary/server/reply]
creates-a-queue: CREATED is sent by the client [handle/summary/server/created]
notifies-the-server: NOTIFY is sent by the client [handle/summary/server/notify]
lists-messages: INDEX is sent by the client [handle/summary/server/index]
confirms-a-handle: HANDLE REPLY is sent by the client [handle/summary/server/reply]
""")
