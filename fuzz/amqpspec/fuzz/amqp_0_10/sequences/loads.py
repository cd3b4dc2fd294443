"""Loads of AMQP 0-10: subscriptions, sessions, queues, transactions, and clients that do not read.

Knows: the peer's verbs. Must not know: repetitions, what a target keeps.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from amqpspec.peer.amqp_0_10.peer import EXPLICIT, NONE, PRE_ACQUIRED, Peer

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


def _cancel(peer: Peer, place: Place) -> None:
    peer.send("message.cancel", destination=place[1])


def _unused(peer: Peer, places: Sequence[Place]) -> None:
    _remove(peer, places[0][0], 0)


def _names(peer: Peer, count: int) -> Sequence[str]:
    return [peer.name("load") for _ in range(count)]


def _declare(peer: Peer, name: str) -> None:
    peer.send("queue.declare", queue=name, exclusive=True)


def _delete(peer: Peer, name: str) -> None:
    peer.send("queue.delete", queue=name)


def _attach(peer: Peer, place: None, number: int) -> int:
    peer.open_session(1 + number)
    return 1 + number


def _transacted(peer: Peer) -> str:
    queue = peer.queue()
    peer.call("tx.select")
    return queue


def _brief(peer: Peer) -> str:
    queue = peer.queue(auto_delete=True)
    peer.call("tx.select")
    return queue


def _shared(peer: Peer) -> str:
    return peer.queue(exclusive=False)


def _publish(peer: Peer, queue: str, body: bytes) -> None:
    peer.publish(queue, body, accept_mode=NONE)


def _roll_back(peer: Peer) -> None:
    peer.call("tx.rollback")


def _remove(peer: Peer, queue: str, count: int) -> None:
    peer.call("queue.delete", queue=queue)


def _read(peer: Peer, queue: str, count: int) -> None:
    peer.subscribe(queue)


LOADS: dict[str, Load] = {
    "subscriptions cancelled": in_bulk(_CLIENT, _destinations, _subscribe, _cancel, _unused),
    "queues deleted": in_bulk(_CLIENT, _names, _declare, _delete),
    "sessions detached": in_groups(_CLIENT, _SESSIONS, nothing, _attach, Peer.detach),
    "transactions rolled back": rolled_back(
        _CLIENT, Sending(_transacted, _publish, _remove), _BODY, _roll_back
    ),
    "transactions cut off": cut_off(_CLIENT, Sending(_brief, _publish), _BODY),
    "one exchange for several": contended(_CLIENT, ASKING, EXCHANGE),
    "one queue for several": contended(_CLIENT, ASKING, QUEUE),
    "slow reader": slow_reader(_CLIENT, Sending(_shared, _publish, _remove), _LARGE, _read),
}
