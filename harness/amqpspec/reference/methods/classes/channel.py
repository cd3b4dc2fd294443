"""The channel class: open, flow, close.

Knows: when a channel number is taken and when it is free again.
Must not know: anything that happens on an open channel.
"""

from __future__ import annotations

import asyncio

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call

_LATER_S = 0.05


@handles("channel.open")
def open_(channel: Channel, call: Call) -> None:
    """A channel is opened."""
    if channel.opened:
        channel.refuse("channel/open/state", f"channel {channel.number} is open")
    elif channel.number > channel.connection.channel_max - channel.faulty("channel-max-is-one-less"):
        channel.refuse("connection/tune/channel-max", f"channel {channel.number}")
    if call.args.get("out_of_band"):
        channel.refuse("constant/not-implemented", "there is no out-of-band transport")
    channel.opened = True
    channel.active = not channel.faulty("channel-starts-paused")
    channel.connection.channels[channel.number] = channel
    channel.send("channel.open-ok")


@handles("channel.flow")
def flow(channel: Channel, call: Call) -> None:
    """The client pauses or resumes its deliveries."""
    active = call["active"]
    if not channel.faulty("flow-ignored"):
        channel.active = active
    if channel.faulty("flow-stops-whole-connection"):
        for other in channel.connection.channels.values():
            other.active = active
    if not channel.faulty("flow-not-confirmed"):
        _confirm_flow(channel, active)
    if active and not channel.faulty("flow-never-resumes"):
        channel.later(channel.pump)


def _confirm_flow(channel: Channel, active: bool) -> None:
    busy = any(consumer.queue.ready_count for consumer in channel.consumers.values())
    if busy and channel.faulty("flow-answered-after-the-contents"):
        asyncio.get_running_loop().call_later(_LATER_S, _confirm_flow, channel, active)
        return
    channel.send("channel.flow-ok", active=not active if channel.faulty("flow-ok-inverted") else active)
    channel.connection.core.flush()


@handles("channel.flow-ok")
def flow_ok(channel: Channel, call: Call) -> None:
    """The client has paused or resumed its contents, as it was asked to."""
    if channel.flow_asked:
        channel.flow_asked.pop(0)
    else:
        channel.refuse("constant/command-invalid", "flow-ok without flow")


@handles("channel.close")
def close(channel: Channel, call: Call) -> None:
    """The client closes the channel; where both do, the broker still waits for its close-ok (0-9-1 §2.3.7)."""
    crossing = channel.closing
    if crossing and channel.faulty("crossing-channel-close-ignored"):
        return
    channel.closing = True
    channel.release()
    if not channel.faulty("channel-close-not-confirmed"):
        channel.send("channel.close-ok")
    if not crossing and not channel.faulty("closed-channel-number-stays-taken"):
        channel.connection.channels.pop(channel.number, None)


@handles("channel.close-ok")
def close_ok(channel: Channel, call: Call) -> None:
    """The client has read why the channel was closed: its number is free."""
    if not channel.closing:
        channel.refuse("constant/command-invalid", "close-ok without close")
    elif not channel.faulty("closed-channel-number-stays-taken"):
        channel.connection.channels.pop(channel.number, None)


FAULTS = fault_table("""
channel-max-is-one-less: the highest channel number that was agreed is refused [connection/tune/channel-max]
channel-starts-paused: a new channel delivers nothing until flow starts it [channel/flow/initial-state]
flow-ignored: deliveries continue although flow stopped them [channel/flow/active channel/flow/initial-state-paused]
flow-never-resumes: what waited is not delivered when flow starts again [channel/flow/active]
flow-not-confirmed: flow is not answered [channel/flow/bidirectional channel/flow-ok]
flow-ok-inverted: flow-ok contains the opposite of flow [channel/flow-ok]
flow-stops-whole-connection: flow pauses and resumes every channel of the connection [channel/flow/active]
flow-answered-after-the-contents: flow is answered once there is nothing left to deliver [channel/flow/bidirectional]
crossing-channel-close-ignored: a close that crosses the server's own is not answered
    [channel/close/stability-crossing]
channel-close-not-confirmed: channel.close is not answered [channel/close-ok]
closed-channel-number-stays-taken: the number of a closed channel cannot be opened again
    [channel/grammar channel/close-ok]
""")
