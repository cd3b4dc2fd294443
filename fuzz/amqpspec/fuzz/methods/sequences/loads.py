"""Loads of the 0-9 family: consumers, queues, channels, transactions, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Load
from amqpspec.peer.context import Context
from amqpspec.peer.methods.peer import Peer

_BODY, _LARGE, _CHANNELS = b"x" * 256, b"x" * (16 << 10), 64


@contextmanager
def _channel(context: Context, *, closes: bool = True) -> Iterator[Peer]:
    """A connection with a channel, closed in good order or hung up."""
    peer = Peer(context)
    try:
        peer.open_channel()
        yield peer
        if closes:
            peer.close()
    finally:
        peer.hang_up()


def _consumers(context: Context, count: int) -> None:
    """Consumers of one queue, each cancelled again."""
    with _channel(context) as peer:
        queue = peer.queue()
        for number in range(count):
            peer.send("basic.consume", queue=queue, consumer_tag=f"c{number}", no_wait=True)
        peer.barrier()
        for number in range(count):
            peer.send("basic.cancel", consumer_tag=f"c{number}", no_wait=True)
        peer.barrier()


def _queues(context: Context, count: int) -> None:
    """Queues, each deleted again."""
    with _channel(context) as peer:
        names = [context.name("load") for _ in range(count)]
        for name in names:
            peer.send("queue.declare", queue=name, exclusive=True, no_wait=True)
        peer.barrier()
        for name in names:
            peer.send("queue.delete", queue=name, no_wait=True)
        peer.barrier()


def _channels(context: Context, count: int) -> None:
    """Many channels at once, several times, each closed again."""
    with _channel(context) as peer:
        for _ in range(max(1, count // _CHANNELS)):
            for channel in range(2, 2 + _CHANNELS):
                peer.call("channel.open", channel)
            for channel in range(2, 2 + _CHANNELS):
                peer.call("channel.close", channel, reply_code=200, reply_text="done")


def _publish(peer: Peer, queue: str, count: int, body: bytes) -> None:
    for _ in range(count):
        peer.publish(queue, body)


def _rolled_back(context: Context, count: int) -> None:
    """A transaction of many messages that is rolled back."""
    with _channel(context) as peer:
        queue = peer.queue()
        peer.call("tx.select")
        _publish(peer, queue, count, _BODY)
        peer.call("tx.rollback")


def _cut_off(context: Context, count: int) -> None:
    """A transaction of many messages that ends with its connection."""
    with _channel(context, closes=False) as peer:
        queue = peer.queue()
        peer.call("tx.select")
        _publish(peer, queue, count, _BODY)
        peer.barrier()
        end_by_reset(peer.transport)


def _slow_reader(context: Context, count: int) -> None:
    """A consumer that never reads, its window shut, while the broker has messages for it; then it is gone."""
    with _channel(context) as source:
        queue = source.queue(exclusive=False, auto_delete=False)
        source.will_clean("queue", queue)
        with _channel(context, closes=False) as slow:
            slow.send("basic.consume", queue=queue, consumer_tag="slow")
            _publish(source, queue, max(1, count // 4), _LARGE)
            source.barrier()
            end_by_reset(slow.transport)
        source.call("queue.delete", queue=queue)


LOADS: dict[str, Load] = {
    "consumers cancelled": _consumers,
    "queues deleted": _queues,
    "channels closed": _channels,
    "transactions rolled back": _rolled_back,
    "transactions cut off": _cut_off,
    "slow reader": _slow_reader,
}
