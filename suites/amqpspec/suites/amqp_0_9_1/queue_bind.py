"""Queues: binding them to exchanges and unbinding them again (amqp-0-9-1 queue.bind, queue.unbind)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import allows, rejects_violation
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import routed

# --- bind


@on_channel("queue.bind.not-before", covers=["queue/bind/unbound"])
def nothing_before_the_binding(peer: Peer) -> Verdict:
    """A queue receives from an exchange only messages published after it was bound."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    peer.publish(queue, b"before", exchange=exchange)
    peer.claim("only what was published after the binding was made")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=queue)
    peer.publish(queue, b"after", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"after"], "messages")


@on_channel("queue.bind.duplicate-allowed", covers=["queue/bind/duplicates"])
def binding_made_twice(peer: Peer) -> Verdict:
    """A duplicate binding is not an error."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    peer.claim("bind-ok for the repeated binding")
    peer.send("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    return allows(peer)


@on_channel("queue.bind.duplicate-is-one", covers=["queue/bind/duplicates"])
def duplicate_is_undone_once(peer: Peer) -> Verdict:
    """One unbind removes a duplicate binding."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    binding: dict[str, Any] = {"queue": queue, "exchange": exchange, "routing_key": "key"}
    peer.claim("one copy while bound, none after one unbind")
    peer.call("queue.bind", **binding)
    peer.call("queue.bind", **binding)
    peer.publish("key", b"bound", exchange=exchange)
    peer.call("queue.unbind", **binding)
    peer.publish("key", b"unbound", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"bound"], "messages")


@on_channel("queue.bind.unique-topic", covers=["queue/bind/unique"])
def overlapping_patterns(peer: Peer) -> Verdict:
    """A message that matches several topic patterns of two queues reaches each queue once."""
    queues, exchange = [peer.queue(), peer.queue()], peer.exchange("topic")
    for pattern in ("a.b", "a.*", "*.b", "a.#", "#"):
        for queue in queues:
            peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=pattern)
    peer.claim("the message once in each queue")
    peer.publish("a.b", b"once", exchange=exchange)
    return equals(peer, [routed(peer, queue) for queue in queues], [[b"once"]] * 2, "messages")


@on_channel("queue.bind.unique-fanout", covers=["queue/bind/unique"])
def several_keys_at_a_fanout_exchange(peer: Peer) -> Verdict:
    """A queue bound to a fanout exchange with several keys receives each message once."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    for key in ("one", "two", "three"):
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=key)
    peer.claim("each message once")
    peer.publish("one", b"first", exchange=exchange)
    peer.publish("other", b"second", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"first", b"second"], "messages")


@on_channel("queue.bind.transient-exchange", covers=["queue/bind/transient-exchange"])
def durable_queue_at_transient_exchange(peer: Peer) -> Verdict:
    """A durable queue can be bound to a transient exchange and receives its messages."""
    queue, exchange = peer.queue(durable=True), peer.exchange("direct", durable=False)
    peer.claim("bind-ok, and the message")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    peer.publish("key", b"through", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"through"], "messages")


@on_channel(
    "queue.bind.durable-exchange", covers=["queue/bind/durable-exchange"], restarts=True, budget_s=180
)
def durable_binding_outlives_restart(peer: Peer) -> Verdict:
    """A durable queue is still bound to a durable exchange after a restart of the server."""
    queue, exchange = peer.queue(durable=True), peer.exchange("direct", durable=True)
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    peer.context.restart()
    peer.claim("a message through the binding")
    late = peer.another().open_channel()
    late.publish("key", b"through", exchange=exchange)
    return equals(late, routed(late, queue), [b"through"], "messages")


@on_queue("queue.bind.binding-count", covers=["queue/bind/binding-count"])
def four_bindings(peer: Peer, queue: str) -> Verdict:
    """A queue can be bound to four exchanges at the same time and receives messages from each."""
    exchanges = [peer.exchange("direct") for _ in range(4)]
    peer.claim("a message through each of the bindings")
    for exchange in exchanges:
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    for exchange in exchanges:
        peer.publish("key", exchange.encode(), exchange=exchange)
    return equals(peer, sorted(routed(peer, queue)), sorted(x.encode() for x in exchanges), "messages")


@on_channel("queue.bind.binding-count-keys", covers=["queue/bind/binding-count"])
def four_bindings_at_one_exchange(peer: Peer) -> Verdict:
    """A queue can be bound to one exchange with four keys at the same time and receives the messages of each."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    keys = ["one", "two", "three", "four"]
    peer.claim("a message through each of the bindings")
    for key in keys:
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=key)
    for key in keys:
        peer.publish(key, key.encode(), exchange=exchange)
    return equals(peer, routed(peer, queue), [key.encode() for key in keys], "messages")


# --- bind: queue


@on_channel("queue.bind.queue.unnamed", covers=["queue/bind/queue/queue-known"])
def bind_without_a_queue(peer: Peer) -> Verdict:
    """A bind without a queue name is refused on a channel that has declared no queue."""
    peer.send("queue.bind", exchange="amq.direct", routing_key=peer.name("key"))
    return rejects_violation(peer)


@on_channel("queue.bind.queue.missing", covers=["queue/bind/queue/must-exist"])
def bind_a_missing_queue(peer: Peer) -> Verdict:
    """Binding a missing queue is refused."""
    peer.send("queue.bind", queue=peer.name("q"), exchange="amq.direct", routing_key="key")
    return rejects_violation(peer)


# --- bind: exchange


@on_queue("queue.bind.exchange.missing", covers=["queue/bind/exchange/exchange-existence"])
def bind_to_a_missing_exchange(peer: Peer, queue: str) -> Verdict:
    """Binding a queue to a missing exchange is refused."""
    peer.send("queue.bind", queue=queue, exchange=peer.name("x"), routing_key="key")
    return rejects_violation(peer)


@on_channel("queue.bind.exchange.default", covers=["queue/bind/exchange/default-exchange"])
def bind_to_the_default_exchange(peer: Peer) -> Verdict:
    """A bind with an empty exchange name creates a binding to the default exchange."""
    queue, key = peer.queue(), peer.name("key")
    peer.claim("bind-ok, and the message that was sent to the default exchange")
    peer.call("queue.bind", queue=queue, exchange="", routing_key=key)
    peer.publish(key, b"through")
    return equals(peer, routed(peer, queue), [b"through"], "messages")


# --- bind: routing key


@on_channel("queue.bind.routing-key.equal", covers=["queue/bind/routing-key/direct-exchange-key-matching"])
def direct_exchange_matches_keys(peer: Peer) -> Verdict:
    """A direct exchange routes only messages with exactly the binding's key to the queue."""
    queue, exchange = peer.queue(), peer.exchange("direct")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="a.Key")
    peer.claim("the messages with the same key")
    for key in ("a.Key", "a.key", "a.Ke", "a.Key.", "a", "*.Key", "#", "", "a.Key"):
        peer.publish(key, key.encode(), exchange=exchange)
    return equals(peer, routed(peer, queue), [b"a.Key", b"a.Key"], "messages")


@on_channel(
    "queue.bind.routing-key.every-queue", covers=["queue/bind/routing-key/direct-exchange-key-matching"]
)
def direct_exchange_serves_every_queue(peer: Peer) -> Verdict:
    """A message reaches every queue that is bound to a direct exchange with its key."""
    queues, exchange = [peer.queue(), peer.queue()], peer.exchange("direct")
    for queue in queues:
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="key")
    peer.claim("the message in both queues")
    peer.publish("key", b"for both", exchange=exchange)
    return equals(peer, [routed(peer, queue) for queue in queues], [[b"for both"]] * 2, "messages")


@on_channel("queue.bind.routing-key.both-blank", covers=["queue/bind/routing-key/empty"])
def blank_queue_lends_its_name(peer: Peer) -> Verdict:
    """With an empty queue name and an empty routing key, the queue declared last is bound with its name as key."""
    exchange, first, last = peer.exchange("direct"), peer.queue(), peer.queue()
    peer.claim("the message with the last queue's name as its key, in that queue")
    peer.call("queue.bind", exchange=exchange)
    for key in (first, last, ""):
        peer.publish(key, key.encode(), exchange=exchange)
    return equals(peer, [routed(peer, first), routed(peer, last)], [[], [last.encode()]], "messages")


@on_channel("queue.bind.routing-key.blank", covers=["queue/bind/routing-key/empty"])
def named_queue_with_a_blank_key(peer: Peer) -> Verdict:
    """With a queue name and an empty routing key, the queue is bound with the empty key."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    peer.claim("the message without a key, and no other")
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.publish(queue, b"queue as key", exchange=exchange)
    peer.publish("", b"no key", exchange=exchange)
    return equals(peer, routed(peer, queue), [b"no key"], "messages")


@on_channel(
    "queue.bind.routing-key.blank-queue", covers=["queue/bind/routing-key/empty", "domain/queue-name/current"]
)
def blank_queue_with_a_key(peer: Peer) -> Verdict:
    """With an empty queue name and a routing key, the queue declared last is bound with that key."""
    exchange, first, last = peer.exchange("direct"), peer.queue(), peer.queue()
    peer.claim("the message with the key, in the last queue")
    peer.call("queue.bind", exchange=exchange, routing_key="key")
    peer.publish(last, b"queue as key", exchange=exchange)
    peer.publish("key", b"key", exchange=exchange)
    return equals(peer, [routed(peer, first), routed(peer, last)], [[], [b"key"]], "messages")


# --- unbind


@on_channel("queue.unbind.failure", covers=["queue/unbind/failure"])
def failing_unbind(peer: Peer) -> Verdict:
    """An unbind fails with an exception if neither the queue nor the exchange exists."""
    # Neither is there: undoing a missing binding between existing ends need not be a failure.
    peer.send("queue.unbind", queue=peer.name("q"), exchange=peer.name("x"), routing_key="key")
    return rejects_violation(peer)


@case("queue.unbind.other-key", covers=["queue/unbind/failure"])
def unbind_leaves_other_bindings(peer: Peer) -> Verdict:
    """An unbind of a key that is not bound affects no existing binding, whether it is refused or not."""
    peer.open_channel().open_channel(2)
    exchange, queues = peer.exchange("direct"), (peer.queue(), peer.queue())
    for queue, key in ((queues[0], "red"), (queues[0], "blue"), (queues[1], "green")):
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key=key)
    # green is bound to the other queue, black to none.
    for key in ("green", "black"):
        peer.send("queue.unbind", queue=queues[0], exchange=exchange, routing_key=key)
        answer = peer.arrival("queue.unbind-ok")
        if answer.refusal is not None:
            peer.open_channel()
    peer.claim("every other binding still exists")
    for key in ("red", "blue", "green", "black"):
        peer.publish(key, key.encode(), exchange=exchange, channel=2)
    got = [routed(peer, queue, channel=2) for queue in queues]
    return equals(peer, got, [[b"red", b"blue"], [b"green"]], "messages")


@on_channel("queue.unbind.one-of-several", covers=["queue/unbind/failure"])
def unbind_takes_one_binding(peer: Peer) -> Verdict:
    """An unbind removes only the binding with the same queue, exchange, key and arguments."""
    exchange, other, queues = peer.exchange("direct"), peer.exchange("direct"), (peer.queue(), peer.queue())
    for queue, source, key in (
        (queues[0], exchange, "red"),
        (queues[0], exchange, "blue"),
        (queues[1], exchange, "red"),
        (queues[0], other, "red"),
    ):
        peer.call("queue.bind", queue=queue, exchange=source, routing_key=key)
    peer.claim("one binding less")
    peer.call("queue.unbind", queue=queues[0], exchange=exchange, routing_key="red")
    for source, key, body in (
        (exchange, "red", b"red"),
        (exchange, "blue", b"blue"),
        (other, "red", b"other"),
    ):
        peer.publish(key, body, exchange=source)
    got = [sorted(routed(peer, queue)) for queue in queues]  # two exchanges: no order between them (PDF §4.7)
    return equals(peer, got, [[b"blue", b"other"], [b"red"]], "messages")


@on_channel(
    "queue.unbind.queue.last-declared", covers=["queue/unbind/queue/queue-known", "domain/queue-name/current"]
)
def unbind_with_a_blank_queue(peer: Peer) -> Verdict:
    """An unbind with an empty queue name refers to the queue declared last on the channel."""
    exchange, first, last = peer.exchange("direct"), peer.queue(), peer.queue()
    for queue in (first, last):
        peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="red")
    peer.claim("the queue declared last without its binding, the other one with it")
    peer.call("queue.unbind", exchange=exchange, routing_key="red")
    peer.publish("red", b"red", exchange=exchange)
    return equals(peer, [routed(peer, first), routed(peer, last)], [[b"red"], []], "messages")


@on_channel("queue.unbind.queue.unnamed", covers=["queue/unbind/queue/queue-known"])
def unbind_without_a_queue(peer: Peer) -> Verdict:
    """An unbind without a queue name is refused on a channel that has declared no queue."""
    peer.send("queue.unbind", exchange="amq.direct", routing_key=peer.name("key"))
    return rejects_violation(peer)


@on_channel("queue.unbind.queue.missing", covers=["queue/unbind/queue/must-exist"])
def unbind_a_missing_queue(peer: Peer) -> Verdict:
    """Unbinding a missing queue is refused."""
    peer.send("queue.unbind", queue=peer.name("q"), exchange="amq.direct", routing_key="key")
    return rejects_violation(peer)


@on_queue("queue.unbind.exchange.missing", covers=["queue/unbind/exchange/must-exist"])
def unbind_from_a_missing_exchange(peer: Peer, queue: str) -> Verdict:
    """Unbinding a queue from a missing exchange is refused."""
    peer.send("queue.unbind", queue=queue, exchange=peer.name("x"), routing_key="key")
    return rejects_violation(peer)


@on_queue("queue.unbind.exchange.default", covers=["queue/unbind/exchange/default-exchange"])
def unbind_from_the_default_exchange(peer: Peer, queue: str) -> Verdict:
    """An unbind with an empty exchange name refers to the default exchange."""
    peer.claim("unbind-ok")
    peer.send("queue.unbind", queue=queue, exchange="", routing_key=queue)
    # Whether the binding then goes is not said.
    return allows(peer)
