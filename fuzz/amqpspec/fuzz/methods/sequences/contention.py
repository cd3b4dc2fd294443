"""What several connections of the 0-9 family contend for: an exchange, or a queue, that is deleted with its last use.

Knows: the peer's verbs. Must not know: whose turn it is.
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.fuzz.sequences.contention import Asking
from amqpspec.fuzz.sequences.declared import Request, exchange, queue
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.spec.model import Refusal, Scope

_GONE = Refusal(Scope.CHANNEL, 404)


def _send(peer: Peer, turn: Request) -> Sequence[str]:
    method, fields = turn
    peer.send(method, **fields)
    return peer.dialect.methods[method].replies


def _reply(peer: Peer, replies: Sequence[str]) -> bool:
    arrival = peer.arrival(*replies)
    if isinstance(arrival, MethodArrived) and arrival.refusal == _GONE:
        return False
    peer.expected(arrival, *replies)
    return True


def _consumer(queue: str, tag: str) -> Sequence[Request]:
    consumer = {"queue": queue, "consumer_tag": tag}
    return (("basic.consume", consumer), ("basic.cancel", {"consumer_tag": tag}))


ASKING: Asking[Peer, Request, Sequence[str]] = Asking(_send, _reply, lambda peer: peer.call("channel.open"))
EXCHANGE = exchange("queue.bind", "queue.unbind", "routing_key")
QUEUE = queue(_consumer)
