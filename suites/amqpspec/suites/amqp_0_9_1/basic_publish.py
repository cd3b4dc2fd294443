"""Publishing: where to, and what returns (amqp-0-9-1 class basic, methods publish and return)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.events import Arrival, Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds, judge_arrival, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._absence import returned, settled
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_9_1._messages import altered, bodies, gathered, plain, send

# More than two frames of the usual 128 KiB: the return has to put the body together again.
_LARGE_OCTETS = 300_000
_MANDATORY, _IMMEDIATE = "basic/publish/mandatory/return", "basic/publish/immediate/return"
_OPTIONAL = {
    _MANDATORY: "basic/publish/mandatory/implemented",
    _IMMEDIATE: "basic/publish/immediate/implemented",
}


@on_shared_queue("basic.publish.transaction", covers=["basic/publish/transaction"], needs=["tx"])
def publication_waits_for_commit(peer: Peer, queue: str) -> Verdict:
    """Messages published in a transaction reach a consumer after commit, not before it."""
    reader = peer.another().open_channel()
    reader.consume(queue, no_ack=True)
    peer.call("tx.select")
    peer.claim("no delivery before commit, one after it")
    send(peer, queue, (b"in a transaction",), transacted=True)
    peer.open_channel(2)
    before = len(settled(queue, (reader, 1), sender=(peer, 2))[0])
    peer.call("tx.commit")
    after = reader.delivery().body
    return equals(peer, (before, after), (0, b"in a transaction"), "deliveries before, body after commit")


@on_channel("basic.publish.exchange.missing", covers=["basic/publish/exchange/must-exist"])
def exchange_has_to_exist(peer: Peer) -> Verdict:
    """Publishing to a missing exchange is refused."""
    peer.publish("key", b"lost", exchange=peer.name("no-exchange"))
    return rejects_violation(peer)


@on_channel("basic.publish.exchange.default", covers=["basic/publish/exchange/default-exchange"])
def blank_exchange_is_the_default_one(peer: Peer) -> Verdict:
    """With an empty exchange name, a message is routed only to the queue whose name is the routing key."""
    queue, other = peer.queue(), peer.queue()
    peer.claim("the message in the queue that the routing key names")
    send(peer, queue, (b"by name",))
    got = bodies(gathered(peer, queue, 1)), bodies(gathered(peer, other, 0))
    return equals(peer, got, ([b"by name"], []), "messages in this queue and in another one")


@on_channel(
    "basic.publish.exchange.internal", covers=["basic/publish/exchange/internal"], needs=["exchange-internal"]
)
def internal_exchange_is_closed(peer: Peer) -> Verdict:
    """Publishing to an internal exchange is refused."""
    exchange = peer.exchange("fanout", internal=True)
    peer.publish("key", b"from outside", exchange=exchange)
    return rejects_violation(peer)


@on_channel("basic.publish.mandatory.unroutable", covers=[_MANDATORY, _OPTIONAL[_MANDATORY]])
def mandatory_unroutable_comes_back(peer: Peer) -> Verdict:
    """A mandatory message that reaches no queue is returned."""
    exchange = peer.exchange("direct")
    peer.claim("basic.return with the message")
    peer.publish("nowhere", b"unroutable", exchange=exchange, mandatory=True)
    return _comes_back(peer, b"unroutable", _MANDATORY)


@on_channel("basic.publish.mandatory.queue-gone", covers=[_MANDATORY])
def mandatory_for_a_deleted_queue_comes_back(peer: Peer) -> Verdict:
    """A mandatory message is returned under each key with which a deleted queue was bound."""
    exchange, queue, keys = peer.exchange("direct"), peer.queue(), ("one", "two")
    for key in keys:
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=key)
    peer.call("queue.delete", queue=queue)
    peer.claim("basic.return with each message")
    return worst([_published_comes_back(peer, exchange, key) for key in keys])


def _published_comes_back(peer: Peer, exchange: str, key: str) -> Verdict:
    peer.publish(key, key.encode(), exchange=exchange, mandatory=True)
    return _comes_back(peer, key.encode(), _MANDATORY)


@on_queue("basic.publish.mandatory.routable", covers=[_MANDATORY])
def mandatory_routable_stays(peer: Peer, queue: str) -> Verdict:
    """A mandatory message that reaches a queue is not returned, even without a consumer."""
    peer.claim("the message in its queue and no basic.return")
    peer.publish(queue, b"routable", mandatory=True)
    got = bodies(gathered(peer, queue, 1))
    return equals(
        peer, (got, returned(peer)), ([b"routable"], []), "messages in the queue, returned messages"
    )


@on_channel("basic.publish.mandatory.not-set", covers=[_MANDATORY])
def other_unroutable_vanishes(peer: Peer) -> Verdict:
    """A message that is not mandatory and reaches no queue is dropped silently."""
    exchange = peer.exchange("direct")
    peer.claim("neither a return nor an exception")
    peer.publish("nowhere", b"unroutable", exchange=exchange)
    return equals(peer, returned(peer), [], "returned messages")


@on_channel("basic.publish.mandatory.implemented", covers=[_OPTIONAL[_MANDATORY], _MANDATORY])
def mandatory_has_its_effect(peer: Peer) -> Verdict:
    """Of two messages for a missing queue, only the mandatory one is returned."""
    nowhere = peer.name("no-queue")
    peer.claim("basic.return for the mandatory message only")
    peer.publish(nowhere, b"optional")
    peer.publish(nowhere, b"mandatory", mandatory=True)
    return _comes_back(peer, b"mandatory", _MANDATORY)


@on_queue("basic.publish.immediate.no-consumer", covers=[_IMMEDIATE, _OPTIONAL[_IMMEDIATE]])
def immediate_without_a_consumer_comes_back(peer: Peer, queue: str) -> Verdict:
    """An immediate message for a queue without a consumer is returned and not queued."""
    peer.claim("basic.return with the message, which is not in the queue")
    peer.publish(queue, b"immediate", immediate=True)
    if (verdict := _not_returned(peer, arrival := peer.arrival("basic.return"), _IMMEDIATE)) is not None:
        return verdict
    assert isinstance(arrival, MethodArrived)
    left = bodies(gathered(peer, queue, 0))
    return equals(peer, (arrival.body, left), (b"immediate", []), "returned body, messages in the queue")


@on_queue("basic.publish.immediate.consumer", covers=[_IMMEDIATE])
def immediate_with_a_consumer_is_delivered(peer: Peer, queue: str) -> Verdict:
    """An immediate message for a queue with a ready consumer is delivered and not returned."""
    peer.consume(queue, no_ack=True)
    peer.claim("the delivery and no basic.return")
    peer.publish(queue, b"immediate", immediate=True)
    arrival = peer.arrival("basic.deliver", "basic.return")
    if isinstance(arrival, MethodArrived) and arrival.name == "basic.deliver":
        return equals(peer, returned(peer), [], "returned messages")
    return judge_arrival(peer, arrival)


@on_queue("basic.publish.immediate.not-set", covers=[_IMMEDIATE])
def other_message_waits(peer: Peer, queue: str) -> Verdict:
    """A message that is not immediate waits in its queue for a consumer."""
    peer.claim("the message for a later consumer, and no basic.return")
    send(peer, queue, (b"patient",))
    got = bodies(gathered(peer, queue, 1))
    return equals(peer, (got, returned(peer)), ([b"patient"], []), "delivered later, returned messages")


@on_queue("basic.publish.immediate.implemented", covers=[_OPTIONAL[_IMMEDIATE], _IMMEDIATE])
def immediate_has_its_effect(peer: Peer, queue: str) -> Verdict:
    """Of two messages for a queue whose consumer has a full window, only the immediate one is returned."""
    # A window of one, taken up by the first message: the consumer is there but not ready.
    peer.call("basic.qos", prefetch_count=1)
    peer.consume(queue)
    send(peer, queue, (b"first",))
    peer.delivery()
    peer.claim("basic.return for the immediate message only")
    peer.publish(queue, b"second")
    peer.publish(queue, b"immediate", immediate=True)
    return _comes_back(peer, b"immediate", _IMMEDIATE)


@on_channel("basic.return.whole", covers=["basic/return", _MANDATORY])
def return_is_complete(peer: Peer) -> Verdict:
    """A returned message contains a code, exchange, routing key, all its properties and its complete body."""
    exchange, body = peer.exchange("direct"), b"whole" * (_LARGE_OCTETS // 5)
    properties = _all_properties(peer)
    peer.claim("the message unchanged")
    peer.publish("a.b", body, exchange=exchange, properties=properties, mandatory=True)
    back = peer.arrival("basic.return")
    if not isinstance(back, MethodArrived) or back.name != "basic.return":
        return judge_arrival(peer, back, _MANDATORY)
    actual = (back["exchange"], back["routing_key"], back.body == body, plain(back))
    # Any code above zero: which one it is belongs to the rows on constants.
    fine = actual[:3] == (exchange, "a.b", True) and back["reply_code"] > 0
    return holds(
        peer,
        fine and not altered(plain(back), properties),
        f"code {back['reply_code']}, {actual}",
        f"a code, {(exchange, 'a.b', True, properties)}",
    )


def _comes_back(peer: Peer, body: bytes, flag: str) -> Verdict:
    """The next return has a body, and is the only one."""
    arrival = peer.arrival("basic.return")
    if (verdict := _not_returned(peer, arrival, flag)) is not None:
        return verdict
    assert isinstance(arrival, MethodArrived)
    return equals(peer, [arrival.body, *returned(peer)], [body], "returned messages")


def _not_returned(peer: Peer, arrival: Arrival, flag: str) -> Verdict | None:
    """The verdict on what came instead of a return; None if it is one.

    That there is such a flag is a SHOULD: a server may say that it has none. One that takes the flag and does not send
    the message back breaks what the flag means.
    """
    if isinstance(arrival, MethodArrived) and arrival.name == "basic.return":
        return None
    return judge_arrival(peer, arrival, flag if isinstance(arrival, Quiet) else "")


def _all_properties(peer: Peer) -> dict[str, Any]:
    return {
        "content_type": "text/plain",
        "content_encoding": "identity",
        "headers": {"number": 7},
        "delivery_mode": 1,
        "priority": 3,
        "correlation_id": "correlation",
        "reply_to": "reply",
        "expiration": "600000",
        "message_id": "message",
        "timestamp": 1_700_000_000,
        "type": "kind",
        "user_id": peer.login.user,
        "app_id": "application",
    }
