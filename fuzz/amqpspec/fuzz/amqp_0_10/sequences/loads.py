"""Loads of AMQP 0-10: subscriptions, sessions, queues, transactions, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from amqpspec.fuzz.sequences.part import end_by_reset
from amqpspec.fuzz.sequences.step import Load
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NONE, PRE_ACQUIRED, Peer
from amqpspec.peer.context import Context

_BODY, _LARGE, _SESSIONS = b"x" * 256, b"x" * (16 << 10), 16


@contextmanager
def _session(context: Context, *, closes: bool = True) -> Iterator[Peer]:
    """A connection with a session, closed in good order or hung up."""
    peer = Peer(context)
    try:
        peer.open_session()
        yield peer
        if closes:
            peer.detach()
            peer.close()
    finally:
        peer.hang_up()


def _subscriptions(context: Context, count: int) -> None:
    """Subscriptions to one queue, each cancelled again."""
    with _session(context) as peer:
        queue = peer.queue(auto_delete=False)
        for number in range(count):
            peer.send(
                "message.subscribe", queue=queue, destination=f"d{number}", accept_mode=EXPLICIT,
                acquire_mode=PRE_ACQUIRED,
            )  # fmt: skip
        peer.barrier()
        for number in range(count):
            peer.send("message.cancel", destination=f"d{number}")
        peer.barrier()
        peer.call("queue.delete", queue=queue)


def _queues(context: Context, count: int) -> None:
    """Queues, each deleted again."""
    with _session(context) as peer:
        names = [context.name("load") for _ in range(count)]
        for name in names:
            peer.send("queue.declare", queue=name, exclusive=True)
        peer.barrier()
        for name in names:
            peer.send("queue.delete", queue=name)
        peer.barrier()


def _sessions(context: Context, count: int) -> None:
    """Sessions without a timeout, several at once, each detached again."""
    with _session(context) as peer:
        for _ in range(max(1, count // _SESSIONS)):
            for channel in range(1, 1 + _SESSIONS):
                peer.open_session(channel)
            for channel in range(1, 1 + _SESSIONS):
                peer.detach(channel)


def _publish(peer: Peer, queue: str, count: int, body: bytes) -> None:
    for _ in range(count):
        peer.publish(queue, body, accept_mode=NONE)


def _rolled_back(context: Context, count: int) -> None:
    """A transaction of many messages that is rolled back."""
    with _session(context) as peer:
        queue = peer.queue()
        peer.call("tx.select")
        _publish(peer, queue, count, _BODY)
        peer.call("tx.rollback")
        peer.call("queue.delete", queue=queue)


def _cut_off(context: Context, count: int) -> None:
    """A transaction of many messages that ends with its connection."""
    with _session(context, closes=False) as peer:
        queue = peer.queue(auto_delete=True)
        peer.call("tx.select")
        _publish(peer, queue, count, _BODY)
        peer.barrier()
        end_by_reset(peer.transport)


def _slow_reader(context: Context, count: int) -> None:
    """A subscriber that never reads, its window shut, while the broker has messages for it; then it is gone."""
    with _session(context) as source:
        queue = source.queue(exclusive=False)
        with _session(context, closes=False) as slow:
            slow.subscribe(queue)
            _publish(source, queue, max(1, count // 4), _LARGE)
            source.barrier()
            end_by_reset(slow.transport)
        source.call("queue.delete", queue=queue)


LOADS: dict[str, Load] = {
    "subscriptions cancelled": _subscriptions,
    "queues deleted": _queues,
    "sessions detached": _sessions,
    "transactions rolled back": _rolled_back,
    "transactions cut off": _cut_off,
    "slow reader": _slow_reader,
}
