"""Deliveries by consumers and by get: what they say, how often they come (amqp-0-9-1 class basic)."""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import (
    bodies,
    fetched,
    found,
    gathered,
    left_unacknowledged,
    plain,
    reopened,
    send,
    taken,
)

# Above 20, the limit that brokers in use set by themselves.
_DELIVERIES = 30


@on_channel("basic.deliver.origin", covers=["basic/deliver/origin"])
def delivery_names_its_origin(peer: Peer) -> Verdict:
    """A delivery contains the exchange and routing key of its publication, not those of the binding."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    # Fanout ignores keys, so the binding can have another one than the message.
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="of.the.binding")
    peer.consume(queue, no_ack=True)
    peer.claim("exchange and routing key of the publication")
    peer.publish("a.b", b"routed", exchange=exchange)
    peer.publish(queue, b"straight")
    # Sorted: PDF §4.7 keeps no order between two exchanges.
    got = sorted((m["exchange"], m["routing_key"]) for m in peer.deliveries(2))
    return equals(peer, got, [("", queue), (exchange, "a.b")], "exchange and routing key of two deliveries")


@on_shared_queue("basic.deliver.count", covers=["basic/deliver/count"])
def deliveries_are_counted(peer: Peer, queue: str) -> Verdict:
    """A server that counts deliveries shows it by a count, or by ending repeated deliveries."""
    peer.publish(queue, b"poison")
    peer.claim("a sign that deliveries are counted within 30 of them")
    for number in range(_DELIVERIES):
        message = _delivered_in_vain(peer, queue)
        if message is None:
            return holds(peer, True, f"no more deliveries after {number}")
        if message["redelivered"] and "x-delivery-count" in plain(message).get("headers", {}):
            return holds(peer, True, "the message bears the count")
    return holds(peer, False, f"{_DELIVERIES} deliveries of one message, none of which shows a count")


@on_channel("basic.deliver.poison", covers=["basic/deliver/poison"])
def poison_becomes_a_dead_letter(peer: Peer) -> Verdict:
    """A message that is repeatedly requeued unacknowledged is dead-lettered."""
    letters, exchange = peer.queue(), peer.exchange("fanout")
    peer.call("queue.bind", queue=letters, exchange=exchange)
    queue = peer.queue(arguments={"x-dead-letter-exchange": exchange})
    peer.publish(queue, b"poison")
    peer.claim("the message among the dead letters")
    for _ in range(_DELIVERIES):
        if _delivered_in_vain(peer, queue) is None:
            return equals(peer, bodies(gathered(peer, letters, 1)), [b"poison"], "dead letters")
    return holds(peer, False, f"{_DELIVERIES} deliveries of one message, with no end")


@on_queue("basic.get.unacknowledged", covers=["basic/get-ok"])
def fetched_and_unacknowledged_comes_again(peer: Peer, queue: str) -> Verdict:
    """Messages that basic.get fetched are redelivered if they were not acknowledged."""
    send(peer, queue, (b"acknowledged", b"forgotten"))
    peer.claim("the message that was not acknowledged, and no other one")
    first, _ = taken(peer, queue, 2)
    peer.send("basic.ack", delivery_tag=first["delivery_tag"])
    reopened(peer)
    return equals(peer, bodies(gathered(peer, queue, 1)), [b"forgotten"], "messages delivered again")


@on_queue("basic.get.no-ack", covers=["basic/get-ok", "basic/no-ack"])
def fetched_without_acknowledgement_is_gone(peer: Peer, queue: str) -> Verdict:
    """Messages fetched with no-ack are not redelivered."""
    send(peer, queue, (b"once",))
    peer.claim("the message once")
    got = peer.get(queue, no_ack=True)
    kept = left_unacknowledged(peer, queue)
    reopened(peer)
    again = bodies(gathered(peer, queue, 1))
    return equals(
        peer, (got and got.body, again), (b"once", [kept]), "fetched body, messages delivered again"
    )


@on_queue("basic.get.left", covers=["domain/message-count", "basic/get-ok"])
def get_tells_how_many_are_left(peer: Peer, queue: str) -> Verdict:
    """Each get-ok reports the number of messages that remain in the queue."""
    send(peer, queue, (b"1", b"2", b"3"))
    peer.claim("2, 1 and 0 messages left")
    return equals(peer, [m["message_count"] for m in taken(peer, queue, 3)], [2, 1, 0], "messages left")


@on_queue("basic.get.empty", covers=["basic/get-empty"])
def get_on_an_empty_queue(peer: Peer, queue: str) -> Verdict:
    """Get on a queue without ready messages is answered with get-empty, even if all are unacknowledged."""
    peer.claim("get-empty at first, and while the only message is unacknowledged")
    first = peer.call("basic.get", queue=queue)
    fetched(peer, queue, (b"only",))
    second = peer.call("basic.get", queue=queue)
    return equals(peer, [first.name, second.name], ["basic.get-empty"] * 2, "answers")


def _delivered_in_vain(peer: Peer, queue: str) -> MethodArrived | None:
    """Fetch a message and hand it back by recover; None if there is none, and none returns."""
    # By recover, not by reject: that would be the client's own decision about the message. Its return to the queue
    # may take time, and nothing can be sent after it: the case waits.
    message = found(peer, queue)
    if message is not None:
        peer.call("basic.recover", requeue=True)
    return message
