"""Steps that cases about exchanges share: bound queues that listen, what reaches them, what exists.

Knows: how a client sees routing. Must not know: verdicts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.spec.dialects import load_ledger
from amqpspec.suites.amqp_0_9_1 import DIALECT

# A channel that no case uses for itself: a refusal there costs the case nothing.
_SPARE = 4
_PAUSE_S = 0.1
_END = b"end"


def optional_exchange(peer: Peer, type: str) -> str:
    """An exchange of a type that a server should have; raises OutOfReach if it says that it has none, and Unmet."""
    name = peer.name("x")
    peer.will_clean("exchange", name)
    peer.send("exchange.declare", exchange=name, type=type)
    answer = peer.arrival("exchange.declare-ok")
    if answer.refusal in load_ledger(DIALECT)["exchange/recommended-types"].tolerates:
        raise OutOfReach(f"no exchange type {type}: {answer.describe(peer.dialect)}")
    if not isinstance(answer, MethodArrived) or answer.refusal is not None:
        raise Unmet("exchange.declare-ok", answer.describe(peer.dialect), answer)
    return name


def listening(
    peer: Peer, exchange: str = "", routing_key: str = "", arguments: Mapping[str, Any] | None = None
) -> str:
    """A queue, bound to an exchange if one is named, with a consumer on channel 1 whose tag is its name."""
    queue = peer.queue()
    if exchange:
        peer.call(
            "queue.bind", queue=queue, exchange=exchange, routing_key=routing_key, arguments=arguments or {}
        )
    # The consumer is there before anything is published, and its tag is the queue's name: one delivery
    # tells which queue it came from.
    peer.consume(queue, no_ack=True, consumer_tag=queue)
    return queue


def reached(
    peer: Peer, queues: Sequence[str], routing_key: str = "", *, exchange: str = "", **args: Any
) -> list[int]:
    """Publish one message; returns how often each of the ``listening`` queues received it.

    A message sent after it straight to each queue tells that nothing more is to come.
    """
    # A body of this round's own: what an earlier round left behind is not counted.
    body = peer.name("message").encode()
    peer.publish(routing_key, body, exchange=exchange, **args)
    # PDF §4.7 keeps order on one path, and the mark takes the default exchange instead. A server that
    # routes a channel's contents one by one keeps it all the same: when the mark comes out of a queue,
    # the message has been routed.
    for queue in queues:
        peer.publish(queue, _END)
    received: Counter[str] = Counter()
    open_queues = set(queues)
    while open_queues:
        delivery = peer.delivery()
        if delivery.body == _END:
            open_queues.discard(delivery["consumer_tag"])
        received[delivery["consumer_tag"]] += delivery.body == body
    if exchange and not all(received[queue] for queue in queues):
        # PDF §4.7: the mark took another exchange, so it may have overtaken the message.
        peer.wait(lambda arrival: False, peer.context.patience.quiet_s)
        for late in peer.pending("basic.deliver"):
            received[late["consumer_tag"]] += late.body == body
    return [received[queue] for queue in queues]


def exists(peer: Peer, exchange: str, type: str = "direct", channel: int = _SPARE) -> bool:
    """Whether there is such an exchange, asked on a channel that is opened for it; raises Unmet without an answer.

    The type ought not to matter; it is named for those targets to which it does.
    """
    peer.open_channel(channel)
    peer.send("exchange.declare", channel=channel, exchange=exchange, type=type, passive=True)
    arrival = peer.arrival("exchange.declare-ok", channel=channel)
    if isinstance(arrival, MethodArrived) and arrival.name == "exchange.declare-ok":
        peer.call("channel.close", channel=channel, reply_code=200, reply_text="done")
        return True
    if isinstance(arrival, MethodArrived) and arrival.name == "channel.close":
        return False
    raise Unmet("an answer to a passive declare", arrival.describe(peer.dialect), arrival)


def vanishes(peer: Peer, exchange: str) -> bool:
    """Whether a fanout exchange goes away, at once or within the patience for endings: a server may take its time."""
    # amqp-0-9-1 exchange/declare/auto-delete/delay asks for a little time before an unused exchange goes:
    # the longer patience, that for endings, leaves room for it.
    until_s = peer.now() + peer.context.patience.ending_s
    while exists(peer, exchange, "fanout"):
        if peer.now() > until_s:
            return False
        peer.wait(lambda arrival: False, _PAUSE_S)
    return True


def abandoned(peer: Peer) -> str:
    """An auto-delete exchange that has lost its only binding; returns its name."""
    exchange = peer.exchange("fanout", auto_delete=True)
    queue = peer.queue()
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.call("queue.unbind", queue=queue, exchange=exchange)
    return exchange
