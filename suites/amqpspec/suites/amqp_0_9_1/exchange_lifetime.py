"""Exchanges: how long they last, and those that publishers cannot reach.

(amqp-0-9-1 class exchange, method declare: durable, auto-delete, internal.)
"""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._routes import abandoned, exists, listening, reached, vanishes

# --- durability


@on_channel("exchange.durable.both", covers=["exchange/declare/durable/support"])
def durable_and_transient(peer: Peer) -> Verdict:
    """The server declares durable and transient exchanges, and both route messages."""
    peer.claim("a durable exchange and a transient one")
    exchanges = [peer.exchange("fanout", durable=durable) for durable in (True, False)]
    received = [reached(peer, [listening(peer, exchange)], exchange=exchange) for exchange in exchanges]
    return equals(peer, received, [[1], [1]], "copies by exchange")


@on_channel("exchange.durable.restart", covers=["exchange/declare/durable/restart"], restarts=True)
def durable_exchange_outlives_a_restart(peer: Peer) -> Verdict:
    """A durable exchange exists after a restart, with its type."""
    exchange = peer.exchange("direct", durable=True)
    peer.context.restart()
    after = peer.another().open_channel()
    after.claim("the durable exchange after a restart")
    queue = listening(after, exchange, "red")
    received = [reached(after, [queue], key, exchange=exchange) for key in ("red", "blue")]
    return equals(after, received, [[1], [0]], "copies by key")


@on_channel("exchange.transient.restart", covers=["exchange/declare/durable/restart"], restarts=True)
def transient_exchange_goes_with_a_restart(peer: Peer) -> Verdict:
    """A transient exchange does not exist after a restart."""
    exchange = peer.exchange("direct", durable=False)
    peer.context.restart()
    after = peer.another().open_channel()
    after.claim("no transient exchange after a restart")
    return equals(after, exists(after, exchange), False, "exchange there")


# --- auto-delete


@on_channel(
    "exchange.auto-delete.last-unbind",
    covers=["exchange/declare/auto-delete/unused"],
    needs=["exchange-auto-delete"],
)
def goes_with_the_last_unbind(peer: Peer) -> Verdict:
    """An auto-delete exchange exists as long as it has a binding, and is deleted when the last one is removed."""
    exchange, queues = peer.exchange("fanout", auto_delete=True), [peer.queue(), peer.queue()]
    for queue in queues:
        peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.claim("an exchange while it is bound, none afterwards")
    peer.call("queue.unbind", queue=queues[0], exchange=exchange)
    # Another one that may go after it: when that has gone, this one has been left in its place.
    gone = vanishes(peer, abandoned(peer))
    bound = exists(peer, exchange, "fanout")
    peer.call("queue.unbind", queue=queues[1], exchange=exchange)
    seen = (bound, gone, vanishes(peer, exchange))
    return equals(peer, seen, (True, True, True), "exists with one binding left, and deleted afterwards:")


@on_channel(
    "exchange.auto-delete.last-queue",
    covers=["exchange/declare/auto-delete/unused"],
    needs=["exchange-auto-delete"],
)
def goes_with_the_last_queue(peer: Peer) -> Verdict:
    """An auto-delete exchange is deleted when the last queue bound to it is deleted."""
    exchange, queue = peer.exchange("fanout", auto_delete=True), peer.queue()
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.claim("no exchange after its last queue")
    peer.call("queue.delete", queue=queue)
    return equals(peer, vanishes(peer, exchange), True, "exchange gone")


@on_channel(
    "exchange.auto-delete.delay",
    covers=["exchange/declare/auto-delete/delay"],
    needs=["exchange-auto-delete"],
)
def stays_a_little_while(peer: Peer) -> Verdict:
    """An auto-delete exchange that has lost its last binding still exists for a binding that follows immediately."""
    exchange, queue = peer.exchange("fanout", auto_delete=True), peer.queue()
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.claim("the exchange can be bound again right after its last binding was undone")
    # Both in one write: however short the delay is, the binding comes within it.
    unbind = peer.method_frame("queue.unbind", queue=queue, exchange=exchange)
    peer.send_octets(unbind + peer.method_frame("queue.bind", queue=queue, exchange=exchange))
    peer.expect("queue.unbind-ok")
    arrival = peer.arrival("queue.bind-ok")
    bound = isinstance(arrival, MethodArrived) and arrival.name == "queue.bind-ok"
    return holds(peer, bound, arrival)


@on_channel(
    "exchange.auto-delete.never-used",
    covers=["exchange/declare/auto-delete/never-used"],
    needs=["exchange-auto-delete"],
)
def waits_for_its_first_binding(peer: Peer) -> Verdict:
    """An auto-delete exchange that was never bound is not deleted."""
    exchange = peer.exchange("fanout", auto_delete=True)
    # The wait: as long as the server takes to delete an exchange that may go.
    vanishes(peer, abandoned(peer))
    peer.claim("an exchange that can be bound after a while")
    queue = listening(peer, exchange)
    return equals(peer, reached(peer, [queue], exchange=exchange), [1], "copies")


@on_channel(
    "exchange.auto-delete.unbound-in-vain",
    covers=["exchange/declare/auto-delete/never-used"],
    needs=["exchange-auto-delete"],
)
def unbinding_nothing_is_no_use(peer: Peer) -> Verdict:
    """An auto-delete exchange that was never bound is not deleted by an unbind of a missing binding."""
    exchange = peer.exchange("fanout", auto_delete=True)
    peer.send("queue.unbind", queue=peer.queue(), exchange=exchange)
    if peer.reaction().refusal is not None:
        return does_not_apply(peer, "removing a binding that does not exist is refused")
    # The wait: as long as the server takes to delete an exchange that may go.
    vanishes(peer, abandoned(peer))
    peer.claim("an exchange that can be bound after a while")
    queue = listening(peer, exchange)
    return equals(peer, reached(peer, [queue], exchange=exchange), [1], "copies")


@on_channel(
    "exchange.auto-delete.redeclared-with",
    covers=["exchange/declare/auto-delete/pre-existence"],
    needs=["exchange-auto-delete"],
)
def auto_delete_set_on_an_existing_exchange(peer: Peer) -> Verdict:
    """The server ignores auto-delete in a redeclare if the exchange exists without it."""
    exchange, queue = peer.exchange("fanout"), peer.queue()
    peer.claim("declare-ok, and an exchange that stays without bindings")
    peer.call("exchange.declare", exchange=exchange, type="fanout", auto_delete=True)
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.call("queue.unbind", queue=queue, exchange=exchange)
    # As above: time enough for an exchange that is auto-delete to go.
    vanishes(peer, abandoned(peer))
    return equals(peer, exists(peer, exchange, "fanout"), True, "exchange there")


@on_channel(
    "exchange.auto-delete.redeclared-without",
    covers=["exchange/declare/auto-delete/pre-existence"],
    needs=["exchange-auto-delete"],
)
def auto_delete_cleared_on_an_existing_exchange(peer: Peer) -> Verdict:
    """The server ignores a missing auto-delete in a redeclare if the exchange exists with it."""
    exchange, queue = peer.exchange("fanout", auto_delete=True), peer.queue()
    peer.call("queue.bind", queue=queue, exchange=exchange)
    peer.claim("declare-ok, and the exchange is deleted with its last binding")
    peer.call("exchange.declare", exchange=exchange, type="fanout")
    peer.call("queue.unbind", queue=queue, exchange=exchange)
    return equals(peer, vanishes(peer, exchange), True, "exchange gone")


# --- internal


@on_channel("exchange.internal.publish", covers=["exchange/declare/internal"], needs=["exchange-internal"])
def internal_exchange_takes_no_publication(peer: Peer) -> Verdict:
    """Publishing to an internal exchange is refused."""
    exchange = peer.exchange("fanout", internal=True)
    peer.publish(body=b"direct", exchange=exchange)
    return rejects_violation(peer)


@on_channel(
    "exchange.internal.bound",
    covers=["exchange/declare/internal"],
    needs=["exchange-internal", "exchange-bind"],
)
def internal_exchange_takes_from_exchanges(peer: Peer) -> Verdict:
    """An internal exchange routes messages from an exchange that it is bound to."""
    source, inner = peer.exchange("fanout"), peer.exchange("direct", internal=True)
    peer.call("exchange.bind", destination=inner, source=source)
    peer.claim("messages pass through the internal exchange")
    queues = [listening(peer, inner, "red"), listening(peer, inner, "blue")]
    return equals(peer, reached(peer, queues, "red", exchange=source), [1, 0], "copies by queue")
