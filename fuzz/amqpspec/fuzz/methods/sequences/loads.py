"""Loads of the 0-9 family: consumers, queues, channels, transactions, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.fuzz.methods.sequences.contention import ASKING, EXCHANGE, QUEUE
from amqpspec.fuzz.sequences.contention import contended
from amqpspec.fuzz.sequences.shapes import (
    Client,
    Sending,
    cut_off,
    in_bulk,
    in_groups,
    nothing,
    rolled_back,
    slow_reader,
)
from amqpspec.fuzz.sequences.step import Load
from amqpspec.peer.methods.peer import Peer

_BODY, _LARGE, _CHANNELS = b"x" * 256, b"x" * (16 << 10), 64
_FIRST = 2
"""The first channel other than the one of the load."""
_CLIENT = Client(Peer, Peer.open_channel, Peer.barrier, Peer.close)


def _tags(peer: Peer, count: int) -> Sequence[tuple[str, str]]:
    queue = peer.queue()
    return [(queue, f"c{number}") for number in range(count)]


def _open(peer: Peer, place: None, number: int) -> int:
    peer.call("channel.open", _FIRST + number)
    return _FIRST + number


def _transacted(peer: Peer) -> str:
    queue = peer.queue()
    peer.call("tx.select")
    return queue


_WORK = Sending(_transacted, Peer.publish)
_LASTING = Sending(
    lambda peer: peer.queue(exclusive=False, auto_delete=False),
    Peer.publish,
    lambda peer, queue, count: peer.call("queue.delete", queue=queue),
)
LOADS: dict[str, Load] = {
    "consumers cancelled": in_bulk(
        _CLIENT,
        _tags,
        lambda peer, one: peer.send("basic.consume", queue=one[0], consumer_tag=one[1], no_wait=True),
        lambda peer, one: peer.send("basic.cancel", consumer_tag=one[1], no_wait=True),
    ),
    "queues deleted": in_bulk(
        _CLIENT,
        lambda peer, count: [peer.name("load") for _ in range(count)],
        lambda peer, name: peer.send("queue.declare", queue=name, exclusive=True, no_wait=True),
        lambda peer, name: peer.send("queue.delete", queue=name, no_wait=True),
    ),
    "channels closed": in_groups(
        _CLIENT,
        _CHANNELS,
        nothing,
        _open,
        lambda peer, channel: peer.call("channel.close", channel, reply_code=200, reply_text="done"),
    ),
    "transactions rolled back": rolled_back(_CLIENT, _WORK, _BODY, lambda peer: peer.call("tx.rollback")),
    "transactions cut off": cut_off(_CLIENT, _WORK, _BODY),
    "one exchange for several": contended(_CLIENT, ASKING, EXCHANGE),
    "one queue for several": contended(_CLIENT, ASKING, QUEUE),
    "slow reader": slow_reader(
        _CLIENT,
        _LASTING,
        _LARGE,
        lambda peer, queue, count: peer.send("basic.consume", queue=queue, consumer_tag="slow"),
    ),
}
