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


def _consume(peer: Peer, one: tuple[str, str]) -> None:
    peer.send("basic.consume", queue=one[0], consumer_tag=one[1], no_wait=True)


def _cancel(peer: Peer, one: tuple[str, str]) -> None:
    peer.send("basic.cancel", consumer_tag=one[1], no_wait=True)


def _names(peer: Peer, count: int) -> Sequence[str]:
    return [peer.name("load") for _ in range(count)]


def _declare(peer: Peer, name: str) -> None:
    peer.send("queue.declare", queue=name, exclusive=True, no_wait=True)


def _delete(peer: Peer, name: str) -> None:
    peer.send("queue.delete", queue=name, no_wait=True)


def _open(peer: Peer, place: None, number: int) -> int:
    peer.call("channel.open", _FIRST + number)
    return _FIRST + number


def _close(peer: Peer, channel: int) -> None:
    peer.call("channel.close", channel, reply_code=200, reply_text="done")


def _transacted(peer: Peer) -> str:
    queue = peer.queue()
    peer.call("tx.select")
    return queue


def _lasting(peer: Peer) -> str:
    queue = peer.queue(exclusive=False, auto_delete=False)
    return peer.will_clean("queue", queue)


def _publish(peer: Peer, queue: str, body: bytes) -> None:
    peer.publish(queue, body)


def _roll_back(peer: Peer) -> None:
    peer.call("tx.rollback")


def _remove(peer: Peer, queue: str, count: int) -> None:
    peer.call("queue.delete", queue=queue)


def _read(peer: Peer, queue: str, count: int) -> None:
    peer.send("basic.consume", queue=queue, consumer_tag="slow")


_WORK = Sending(_transacted, _publish)
LOADS: dict[str, Load] = {
    "consumers cancelled": in_bulk(_CLIENT, _tags, _consume, _cancel),
    "queues deleted": in_bulk(_CLIENT, _names, _declare, _delete),
    "channels closed": in_groups(_CLIENT, _CHANNELS, nothing, _open, _close),
    "transactions rolled back": rolled_back(_CLIENT, _WORK, _BODY, _roll_back),
    "transactions cut off": cut_off(_CLIENT, _WORK, _BODY),
    "one exchange for several": contended(_CLIENT, ASKING, EXCHANGE),
    "one queue for several": contended(_CLIENT, ASKING, QUEUE),
    "slow reader": slow_reader(_CLIENT, Sending(_lasting, _publish, _remove), _LARGE, _read),
}
