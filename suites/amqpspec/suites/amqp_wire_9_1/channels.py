"""Channels: how many there are, and that none of them keeps the others waiting (channel multiplexing, limitations)."""

from __future__ import annotations

import struct

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._wire import fetch_all

_HIGHEST, _AGREED = 65535, 5
_BACKLOG, _LARGE_OCTETS = 400, 64 * 1024
"""Far more than what sockets and servers keep in their buffers: about 26 million octets."""


@case("channels.support", covers=["channel-multiplexing/support"])
def more_channels_than_one(peer: Peer) -> Verdict:
    """Two channels of a connection work side by side, where the server offers more than one."""
    peer.open_channel()
    # Support is a MAY: a server without it says so by a channel-max of 1, and then has to keep to it.
    if peer.channel_max == 1:
        peer.send("channel.open", channel=2)
        verdict = rejects_violation(peer, 2, barrier=False)
        return observed_either_way(peer, "one channel") if verdict.outcome == "pass" else verdict
    peer.claim("a message of its own on each of two channels")
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
    """One channel more than were agreed on is refused: above the maximum by its number and by how many are open."""
    _open_all(peer)
    peer.send("channel.open", channel=_AGREED + 1)
    return rejects_violation(peer, _AGREED + 1, barrier=False)


@case("channels.maximum.all-open", covers=["channel-multiplexing/maximum"])
def channels_up_to_the_maximum(peer: Peer) -> Verdict:
    """As many channels as were agreed on can be open at once, and all of them work."""
    peer.connect()
    peer.claim(f"answers on {_AGREED} channels at once")
    _open_all(peer)
    for channel in range(1, _AGREED + 1):
        peer.barrier(channel)
    return holds(peer, True, f"answers on {_AGREED} channels")


@case("channels.down-to-one", covers=["channel-multiplexing/down-to-one"])
def a_single_channel(peer: Peer) -> Verdict:
    """A client that settles for one channel has channel 1, and nothing above it."""
    peer.open_connection(channel_max=1)
    peer.claim("an answer on channel 1")
    peer.call("channel.open", channel=1)
    peer.barrier(1)
    # The client's freedom binds the server: channel 1 works, and nothing above it does.
    peer.send("channel.open", channel=2)
    return rejects_violation(peer, 2, barrier=False)


@case(
    "channels.fairness",
    covers=["channel-multiplexing/fairness"],
    needs=["multiple-channels"],
    heavy=True,
)
def deliveries_are_balanced(peer: Peer) -> Verdict:
    """The few messages for one channel come before the last of very many for another."""
    busy = _backlog(peer)
    peer.call("channel.open", channel=2)
    quiet = peer.queue(channel=2)
    # A prerequisite: a server on which consuming fails is not unfair.
    _see_that_consume_works(peer)
    peer.publish(quiet, b"few", channel=2)
    peer.barrier(2, queue=quiet)
    peer.claim("the message for channel 2 before the last of those for channel 1")
    both = peer.method_frame("basic.consume", 1, queue=busy, consumer_tag="busy", no_ack=True)
    both += peer.method_frame("basic.consume", 2, queue=quiet, consumer_tag="quiet", no_ack=True)
    # Both in one write, the busy one first: the server knows of the second channel before it
    # has sent much on the first.
    peer.send_octets(both)
    return _comes_in_between(peer, "basic.deliver")


@case(
    "channels.starvation",
    covers=["channel-multiplexing/starvation"],
    needs=["multiple-channels"],
    heavy=True,
)
def busy_channel_starves_nobody(peer: Peer) -> Verdict:
    """A question on one channel is answered before the last of very many messages for another."""
    busy = _backlog(peer)
    peer.call("channel.open", channel=2)
    _see_that_consume_works(peer)
    peer.claim("the answer on channel 2 before the last message for channel 1")
    both = peer.method_frame("basic.consume", 1, queue=busy, consumer_tag="busy", no_ack=True)
    both += peer.method_frame("exchange.declare", 2, exchange="amq.direct", type="direct", passive=True)
    peer.send_octets(both)
    return _comes_in_between(peer, "exchange.declare-ok")


# limitations


@case("limits.channel-number", covers=["limitations/sixteen-bits"])
def highest_channel_number(peer: Peer) -> Verdict:
    """The highest channel number that was agreed on works: a short integer in full width where there is no limit."""
    peer.open_connection()
    # Zero in tune is no limit: then the whole width of a short integer.
    highest = peer.channel_max or _HIGHEST
    peer.claim(f"answers on channel {highest}")
    peer.call("channel.open", channel=highest)
    peer.queue(channel=highest)
    return equals(peer, peer.assembler.frames[-1].channel, highest, "channel of the answer")


@case("limits.class-id", covers=["limitations/sixteen-bits"])
def class_id_in_full_width(peer: Peer) -> Verdict:
    """A class-id whose low octet is that of a class there is, is not taken for it: it is refused."""
    peer.open_channel()
    # Read in eight bits, these are channel.flow, which is answered.
    ids = struct.pack(">HH", 0x0100 | peer.dialect.classes_by_name["channel"].index, 20)
    peer.send_frame("method", ids + b"\x01")
    return rejects_violation(peer)


@case("limits.method-id", covers=["limitations/sixteen-bits"])
def method_id_in_full_width(peer: Peer) -> Verdict:
    """A method-id whose low octet is that of a method there is, is not taken for it: it is refused."""
    peer.open_channel()
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


def _backlog(peer: Peer) -> str:
    """Very many octets in a queue of channel 1."""
    peer.open_channel()
    queue = peer.queue()
    for _ in range(_BACKLOG):
        peer.publish(queue, bytes(_LARGE_OCTETS))
    peer.barrier(queue=queue)
    return queue


def _see_that_consume_works(peer: Peer) -> None:
    """A prerequisite: a consumer is taken. Raises Unmet."""
    tag = peer.consume(peer.queue(), no_ack=True)
    peer.call("basic.cancel", consumer_tag=tag)


def _comes_in_between(peer: Peer, name: str) -> Verdict:
    """The method comes on channel 2 before the last delivery on channel 1 has come.

    How long anything takes decides nothing: what counts is the order of frames on the one socket.
    """
    before = 0
    while before < _BACKLOG:
        arrival = peer.read(peer.now() + peer.patience_s)
        if not isinstance(arrival, MethodArrived) or arrival.name.endswith(".close"):
            return holds(peer, False, arrival)
        if arrival.channel == 2 and arrival.name == name:
            return holds(peer, True, f"{name} after {before} of {_BACKLOG} messages")
        before += arrival.channel == 1 and arrival.name == "basic.deliver"
    return holds(peer, False, f"{name} after all {_BACKLOG} messages")
