"""Loads of AMQP 0-10: subscriptions, sessions, queues, transactions, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from amqpspec.fuzz.amqp_0_10.sequences.contention import ASKING, EXCHANGE, QUEUE
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
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, PRE_ACQUIRED, Peer

_BODY, _LARGE, _SESSIONS = b"x" * 256, b"x" * (16 << 10), 16
Place = tuple[str, str]
"""A queue and a destination."""


def _ended(peer: Peer) -> None:
    peer.detach()
    peer.close()


_CLIENT = Client(Peer, Peer.open_session, Peer.barrier, _ended)


def _destinations(peer: Peer, count: int) -> Sequence[Place]:
    queue = peer.queue(auto_delete=False)
    return [(queue, f"d{number}") for number in range(count)]


def _subscribe(peer: Peer, place: Place) -> None:
    peer.send(
        "message.subscribe", queue=place[0], destination=place[1], accept_mode=EXPLICIT,
        acquire_mode=PRE_ACQUIRED,
    )  # fmt: skip


def _attach(peer: Peer, place: None, number: int) -> int:
    peer.open_session(1 + number)
    return 1 + number


def _transacted(peer: Peer, *, auto_delete: bool = False) -> str:
    queue = peer.queue(auto_delete=auto_delete)
    peer.call("tx.select")
    return queue


def _remove(peer: Peer, queue: str, count: int) -> None:
    peer.call("queue.delete", queue=queue)


LOADS: dict[str, Load] = {
    "subscriptions cancelled": in_bulk(
        _CLIENT,
        _destinations,
        _subscribe,
        lambda peer, place: peer.send("message.cancel", destination=place[1]),
        lambda peer, places: _remove(peer, places[0][0], 0),
    ),
    "queues deleted": in_bulk(
        _CLIENT,
        lambda peer, count: [peer.name("load") for _ in range(count)],
        lambda peer, name: peer.send("queue.declare", queue=name, exclusive=True),
        lambda peer, name: peer.send("queue.delete", queue=name),
    ),
    "sessions detached": in_groups(_CLIENT, _SESSIONS, nothing, _attach, Peer.detach),
    "transactions rolled back": rolled_back(
        _CLIENT, Sending(_transacted, Peer.publish, _remove), _BODY, lambda peer: peer.call("tx.rollback")
    ),
    "transactions cut off": cut_off(
        _CLIENT, Sending(partial(_transacted, auto_delete=True), Peer.publish), _BODY
    ),
    "one exchange for several": contended(_CLIENT, ASKING, EXCHANGE),
    "one queue for several": contended(_CLIENT, ASKING, QUEUE),
    "slow reader": slow_reader(
        _CLIENT,
        Sending(lambda peer: peer.queue(exclusive=False), Peer.publish, _remove),
        _LARGE,
        lambda peer, queue, count: peer.subscribe(queue),
    ),
}
