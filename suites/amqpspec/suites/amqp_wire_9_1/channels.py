"""Channels: how many there are, and that none of them keeps the others waiting (channel multiplexing, limitations)."""

from __future__ import annotations

import struct

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way, outlived
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._fairness import answered_in_between, delivered_in_between
from amqpspec.suites.amqp_0_9_1._limits import limit_of_its_own
from amqpspec.suites.amqp_0_9_1._wire import sent_method
from amqpspec.suites.amqp_wire_9_1._wire import fetch_all

_HIGHEST, _AGREED = 65535, 5


@on_channel("channels.support", covers=["channel-multiplexing/support"])
def more_channels_than_one(peer: Peer) -> Verdict:
    """Two channels of a connection work in parallel if the server offers more than one."""
    # Support is a MAY: a server without it announces a channel-max of 1, and then has to enforce it.
    if peer.channel_max == 1:
        peer.send("channel.open", channel=2)
        verdict = rejects_violation(peer, 2, barrier=False)
        return observed_either_way(peer, "one channel") if verdict.outcome == "pass" else verdict
    peer.claim("a different message on each of two channels")
    peer.call("channel.open", channel=2)
    queues = {channel: peer.queue(channel=channel) for channel in (1, 2)}
    for channel, queue in queues.items():
        peer.publish(queue, b"on channel %d" % channel, channel=channel)
    got = [fetch_all(peer, queue, channel) for channel, queue in queues.items()]
    if got == [[b"on channel 1"], [b"on channel 2"]]:
        return observed_either_way(peer, "more than one channel")
    return holds(peer, False, f"messages {got}")


@case("channels.maximum", covers=["channel-multiplexing/maximum"])
def channel_above_the_maximum(peer: Peer) -> Verdict:
    """A channel beyond the agreed maximum is refused, both by its number and by the number of open channels."""
    _open_all(peer)
    peer.send("channel.open", channel=_AGREED + 1)
    return outlived(peer, rejects_violation(peer, _AGREED + 1, barrier=False))


@case("channels.maximum.all-open", covers=["channel-multiplexing/maximum"])
def channels_up_to_the_maximum(peer: Peer) -> Verdict:
    """The agreed number of channels can be open at the same time, and all of them work."""
    peer.connect()
    peer.claim(f"answers on {_AGREED} channels at once")
    _open_all(peer)
    for channel in range(1, _AGREED + 1):
        peer.barrier(channel)
    return holds(peer, True, f"answers on {_AGREED} channels")


@case("channels.down-to-one", covers=["channel-multiplexing/down-to-one"])
def a_single_channel(peer: Peer) -> Verdict:
    """A client that agrees on one channel can use only channel 1."""
    peer.open_connection(channel_max=1)
    peer.claim("an answer on channel 1")
    peer.call("channel.open", channel=1)
    peer.barrier(1)
    # The client's freedom binds the server: channel 1 works, and nothing above it does.
    peer.send("channel.open", channel=2)
    return outlived(peer, rejects_violation(peer, 2, barrier=False))


@case(
    "channels.fairness",
    covers=["channel-multiplexing/fairness"],
    needs=["multiple-channels"],
    heavy=True,
)
def deliveries_are_balanced(peer: Peer) -> Verdict:
    """The few messages for one channel are delivered before the last of very many for another."""
    return delivered_in_between(peer)


@case(
    "channels.starvation",
    covers=["channel-multiplexing/starvation"],
    needs=["multiple-channels"],
    heavy=True,
)
def busy_channel_starves_nobody(peer: Peer) -> Verdict:
    """A request on one channel is answered before the last of very many messages for another."""
    return answered_in_between(peer)


# limitations


@case("limits.channel-number", covers=["limitations/sixteen-bits"])
def highest_channel_number(peer: Peer) -> Verdict:
    """The highest agreed channel number works, and without a limit it uses the full width of a short integer."""
    peer.open_connection()
    # Zero in tune is no limit: then the whole width of a short integer.
    highest = peer.channel_max or _HIGHEST
    peer.claim(f"answers on channel {highest}")
    if (limited := limit_of_its_own(peer, highest, offered=peer.channel_max)) is not None:
        return limited
    peer.queue(channel=highest)
    return equals(peer, sent_method(peer, "queue.declare-ok").channel, highest, "channel of the answer")


@on_channel("limits.class-id", covers=["limitations/sixteen-bits"])
def class_id_in_full_width(peer: Peer) -> Verdict:
    """An undefined class-id whose low octet is that of a defined class is refused."""
    # Read in eight bits, these are channel.flow, which is answered.
    ids = struct.pack(">HH", 0x0100 | peer.dialect.classes_by_name["channel"].index, 20)
    peer.send_frame("method", ids + b"\x01")
    return rejects_violation(peer)


@on_channel("limits.method-id", covers=["limitations/sixteen-bits"])
def method_id_in_full_width(peer: Peer) -> Verdict:
    """An undefined method-id whose low octet is that of a defined method is refused."""
    # 20 is flow; with the high octet read, there is no such method.
    ids = struct.pack(">HH", peer.dialect.classes_by_name["channel"].index, 0x0100 | 20)
    peer.send_frame("method", ids + b"\x01")
    return rejects_violation(peer)


# --- steps of this module


def _open_all(peer: Peer) -> None:
    """A connection for a few channels, and all of these."""
    peer.open_connection(channel_max=_AGREED)
    for channel in range(1, _AGREED + 1):
        peer.call("channel.open", channel=channel)
