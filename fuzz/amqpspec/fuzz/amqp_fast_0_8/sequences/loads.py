"""Loads of AMQP/Fast: handles, channels, temporary queues, transactions, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.

A connection has few channels and handles, and a transaction few messages, so that loads take several groups.
"""

from __future__ import annotations

from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.shapes import (
    Client,
    Sending,
    cut_off,
    in_groups,
    nothing,
    rolled_back,
    slow_reader,
)
from amqpspec.fuzz.sequences.step import Hold, Load
from amqpspec.peer.amqp_fast_0_8.peer import TOPIC, Peer
from amqpspec.peer.context import Context

_BODY, _LARGE = b"x" * 256, b"x" * (16 << 10)
_CHANNELS, _HANDLES, _MESSAGES, _QUEUES = 16, 32, 20, 8
"""How many at once: fewer than any target is likely to limit them to."""
_FIRST = 2
"""The first channel, and the first handle, besides those on which the load works."""


_CLIENT = Client(Peer, lambda peer: peer.open_handle(1), Peer.barrier, Peer.close)
_PLACE = Sending(Peer.queue, lambda peer, queue, body: peer.publish(queue, body))


def _channel(peer: Peer, place: None, number: int) -> int:
    peer.open_channel(_FIRST + number)
    return _FIRST + number


def _handle(peer: Peer, place: None, number: int) -> int:
    peer.open_handle(_FIRST + number)
    return _FIRST + number


def _subscribe(peer: Peer, topic: str, number: int) -> int:
    peer.reader(topic, _FIRST + number, service_type=TOPIC)
    return _FIRST + number


def _queues(context: Context, count: int, hold: Hold) -> None:
    """Temporary queues with messages, which go with their connection."""
    for _ in range(max(1, count // 4 // _QUEUES)):
        with _CLIENT.at_work(context) as peer:
            queues = [peer.queue() for _ in range(_QUEUES)]
            octets = sum(_PLACE.burst(peer, queue, 1, _BODY) for queue in queues)
            peer.barrier()
            hold(octets)


def _select(peer: Peer) -> str:
    """A queue, and the channel of the handle again, now with transactions."""
    queue = peer.queue()
    peer.close_channel(1)
    peer.open_channel(1, transacted=True)
    peer.open_handle(1)
    return queue


def _unacknowledged(context: Context, count: int, hold: Hold) -> None:
    """Deliveries that no one acknowledges when the connection is reset; the queue goes with its own."""
    held = max(1, count // 4)
    with _CLIENT.at_work(context) as source:
        queue = source.queue()
        octets = _PLACE.burst(source, queue, held, _BODY)
        with _CLIENT.at_work(context, closes=False) as holder:
            holder.consume(queue, prefetch=held)
            holder.deliveries(held)
            hold(octets)
            end_by_reset(holder.transport)


_WORK = Sending(_select, _PLACE.send)
LOADS: dict[str, Load] = {
    "handles closed": in_groups(_CLIENT, _HANDLES, nothing, _handle, Peer.close_handle, share=4),
    "subscriptions closed": in_groups(
        _CLIENT, _HANDLES, lambda peer: peer.name("load"), _subscribe, Peer.close_handle, share=4
    ),
    "channels closed": in_groups(_CLIENT, _CHANNELS, nothing, _channel, Peer.close_channel, share=4),
    "temporary queues": _queues,
    "deliveries not acknowledged": _unacknowledged,
    "transactions rolled back": rolled_back(
        _CLIENT, _WORK, _BODY, lambda peer: peer.call("channel.rollback", channel_id=1), _MESSAGES
    ),
    "transactions cut off": cut_off(_CLIENT, _WORK, _BODY, _MESSAGES),
    "slow reader": slow_reader(
        _CLIENT, _PLACE, _LARGE, lambda peer, queue, count: peer.consume(queue, prefetch=0xFFFF)
    ),
}
