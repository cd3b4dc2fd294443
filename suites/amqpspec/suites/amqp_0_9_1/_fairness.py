"""Two channels of one connection, one of them very busy: what arrives on the other in between.

Knows: how much is more than sockets and servers keep in their buffers. Must not know: single cases.
How long anything takes decides nothing: what counts is the order of frames on the one socket.
"""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._queues import arrive

_BACKLOG, _LARGE_OCTETS = 400, 64 * 1024
"""Far more than what sockets and servers keep in their buffers: about 26 million octets."""


def delivered_in_between(peer: Peer) -> Verdict:
    """The one message for channel 2 is delivered before the last of very many for channel 1."""
    busy = _backlog(peer)
    peer.call("channel.open", channel=2)
    quiet = peer.queue(channel=2)
    # A prerequisite: a server on which consuming fails is not unfair.
    _see_that_consume_works(peer)
    peer.publish(quiet, b"few", channel=2)
    arrive(peer, quiet, 1, 2)
    peer.claim("the message for channel 2 before the last of those for channel 1")
    both = peer.method_frame("basic.consume", 1, queue=busy, consumer_tag="busy", no_ack=True)
    both += peer.method_frame("basic.consume", 2, queue=quiet, consumer_tag="quiet", no_ack=True)
    # Both in one write, the busy one first: the server knows of the second channel before it
    # has sent much on the first.
    peer.send_octets(both)
    return _comes_in_between(peer, "basic.deliver")


def answered_in_between(peer: Peer) -> Verdict:
    """A question on channel 2 is answered before the last of very many messages for channel 1."""
    busy = _backlog(peer)
    peer.call("channel.open", channel=2)
    _see_that_consume_works(peer)
    peer.claim("the answer on channel 2 before the last message for channel 1")
    both = peer.method_frame("basic.consume", 1, queue=busy, consumer_tag="busy", no_ack=True)
    both += peer.method_frame("exchange.declare", 2, exchange="amq.direct", type="direct", passive=True)
    peer.send_octets(both)
    return _comes_in_between(peer, "exchange.declare-ok")


# --- steps of this module


def _backlog(peer: Peer) -> str:
    """Very many octets in a queue of channel 1."""
    peer.open_channel()
    queue = peer.queue()
    for _ in range(_BACKLOG):
        peer.publish(queue, bytes(_LARGE_OCTETS))
    arrive(peer, queue, _BACKLOG)
    return queue


def _see_that_consume_works(peer: Peer) -> None:
    """A prerequisite: a consumer is taken. Raises Unmet."""
    tag = peer.consume(peer.queue(), no_ack=True)
    peer.call("basic.cancel", consumer_tag=tag)


def _comes_in_between(peer: Peer, name: str) -> Verdict:
    """The method comes on channel 2 before the last delivery on channel 1 has arrived."""
    before = 0
    while before < _BACKLOG:
        arrival = peer.read(peer.now() + peer.patience_s)
        if not isinstance(arrival, MethodArrived) or arrival.name.endswith(".close"):
            return holds(peer, False, arrival)
        if arrival.channel == 2 and arrival.name == name:
            return holds(peer, True, f"{name} after {before} of {_BACKLOG} messages")
        before += arrival.channel == 1 and arrival.name == "basic.deliver"
    return holds(peer, False, f"{name} after all {_BACKLOG} messages")
