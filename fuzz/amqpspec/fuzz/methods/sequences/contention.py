"""What several connections of the 0-9 family contend for: an exchange, or a queue, that is deleted with its last use.

Knows: the peer's verbs. Must not know: whose turn it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from amqpspec.fuzz.sequences.contention import Asking, Contended
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.spec.model import Refusal, Scope

_GONE = Refusal(Scope.CHANNEL, 404)

Turn = tuple[str, Mapping[str, Any]]
"""A method and its fields."""


def _send(peer: Peer, turn: Turn) -> Sequence[str]:
    method, fields = turn
    peer.send(method, **fields)
    return peer.dialect.methods[method].replies


def _reply(peer: Peer, replies: Sequence[str]) -> bool:
    arrival = peer.arrival(*replies)
    if isinstance(arrival, MethodArrived) and arrival.refusal == _GONE:
        return False
    peer.expected(arrival, *replies)
    return True


def _again(peer: Peer) -> None:
    peer.call("channel.open")


def _contended(peer: Peer) -> str:
    return peer.name("contended")


def _create_exchange(name: str) -> Turn:
    return ("exchange.declare", {"exchange": name, "type": "direct", "auto_delete": True})


def _exchange(peer: Peer, name: str) -> Sequence[Turn]:
    queue = peer.queue()
    binding = {"queue": queue, "exchange": name, "routing_key": queue}
    return (_create_exchange(name), ("queue.bind", binding), ("queue.unbind", binding))


def _end_exchange(peer: Peer, name: str) -> Sequence[Turn]:
    return (_create_exchange(name), ("exchange.delete", {"exchange": name}))


def _create_queue(name: str) -> Turn:
    return ("queue.declare", {"queue": name, "auto_delete": True})


def _queue(peer: Peer, name: str) -> Sequence[Turn]:
    tag = peer.name("consumer")
    consumer = {"queue": name, "consumer_tag": tag}
    return (_create_queue(name), ("basic.consume", consumer), ("basic.cancel", {"consumer_tag": tag}))


def _end_queue(peer: Peer, name: str) -> Sequence[Turn]:
    return (_create_queue(name), ("queue.delete", {"queue": name}))


ASKING: Asking[Peer, Turn, Sequence[str]] = Asking(_send, _reply, _again)
EXCHANGE: Contended[Peer, Turn] = Contended(_contended, _exchange, _end_exchange)
QUEUE: Contended[Peer, Turn] = Contended(_contended, _queue, _end_queue)
