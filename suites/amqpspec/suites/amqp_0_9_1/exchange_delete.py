"""Exchanges: doing without replies, and deleting them.

(amqp-0-9-1 class exchange, the field no-wait and the method delete.)
"""

from __future__ import annotations

from collections.abc import Sequence

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._routes import exists, listening, reached

# --- no-wait


@on_queue("exchange.no-wait.declare", covers=["exchange/no-wait"])
def declare_without_reply(peer: Peer, queue: str) -> Verdict:
    """A declare with no-wait creates the exchange and is not answered."""
    name = peer.will_clean("exchange", peer.name())
    peer.claim("an exchange and no reply")
    peer.send("exchange.declare", exchange=name, type="direct", no_wait=True)
    peer.barrier(queue=queue)
    replies = len(peer.pending("exchange.declare-ok"))
    return equals(peer, (exists(peer, name), replies), (True, 0), "exchange there, number of replies:")


@on_channel("exchange.no-wait.delete", covers=["exchange/no-wait"])
def delete_without_reply(peer: Peer) -> Verdict:
    """A delete with no-wait deletes the exchange and is not answered."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    peer.claim("no exchange and no reply")
    peer.send("exchange.delete", exchange=exchange, no_wait=True)
    peer.barrier(queue=queue)
    replies = len(peer.pending("exchange.delete-ok"))
    return equals(peer, (exists(peer, exchange), replies), (False, 0), "exchange there, number of replies:")


@on_channel("exchange.no-wait.failure", covers=["exchange/no-wait", "exchange/declare/type/typed"])
def failure_without_reply(peer: Peer) -> Verdict:
    """A declare with no-wait that fails is refused like any other."""
    exchange = peer.exchange("direct")
    peer.send("exchange.declare", exchange=exchange, type="fanout", no_wait=True)
    # no-wait says that an exception comes, the row on types says which.
    return rejects_violation(peer, row="exchange/declare/type/typed")


# --- delete


@on_channel(
    "exchange.delete.standard",
    covers=["exchange/required-instances/amq-type", "exchange/required-instances/direct"],
    destructive=True,
    heavy=True,
)
def standard_exchanges_stay(peer: Peer) -> Verdict:
    """A mandatory exchange that the target refuses to delete exists and routes as before; a target may delete it."""
    peer.claim("the standard exchanges, after a refused attempt to delete each of them")
    key = peer.name("key")
    queues = [listening(peer, "amq.direct", key), listening(peer, "amq.fanout")]
    copies = {"amq.direct": [1, 0], "amq.fanout": [0, 1]}
    deleted = [
        name for number, name in enumerate(copies, start=2) if not _refuses_to_delete(peer, name, number)
    ]
    kept = [name for name in copies if name not in deleted]
    received = {name: reached(peer, queues, key, exchange=name) for name in kept}
    verdict = equals(peer, received, {name: copies[name] for name in kept}, "copies by exchange and queue")
    if not deleted:
        return verdict
    _declare_again(peer, deleted)
    # No rule keeps a client from deleting what was predeclared (exchange/required-instances/amq-type).
    return worst([verdict, observed_either_way(peer, f"{', '.join(deleted)} deleted on request")])


def _refuses_to_delete(peer: Peer, name: str, number: int) -> bool:
    """Whether the deletion of an exchange is refused, on a separate connection."""
    other = peer.another().open_channel(number)
    other.send("exchange.delete", channel=number, exchange=name)
    return other.reaction(number).refusal is not None


def _declare_again(peer: Peer, names: Sequence[str]) -> None:
    """Try to put standard exchanges back for the cases after this one; their names are reserved, so it may fail."""
    for name in names:
        other = peer.another().open_channel()
        other.send("exchange.declare", exchange=name, type=name.removeprefix("amq."), durable=True)
        other.reaction()


@on_channel("exchange.delete.gone", covers=["exchange/delete"])
def deleted_exchange_is_gone(peer: Peer) -> Verdict:
    """A deleted exchange no longer exists."""
    exchange = peer.exchange("direct")
    peer.claim("delete-ok, and no exchange")
    peer.call("exchange.delete", exchange=exchange)
    return equals(peer, exists(peer, exchange), False, "exchange there")


@on_channel("exchange.delete.bindings", covers=["exchange/delete"])
def bindings_go_with_the_exchange(peer: Peer) -> Verdict:
    """A new exchange with the name of a deleted one has none of its bindings."""
    exchange = peer.exchange("direct")
    queue = listening(peer, exchange, "red")
    peer.claim("no message over a binding of the deleted exchange")
    peer.call("exchange.delete", exchange=exchange)
    peer.exchange("direct", exchange=exchange)
    return equals(peer, reached(peer, [queue], "red", exchange=exchange), [0], "copies")


@on_channel("exchange.delete.missing", covers=["exchange/delete/exchange/exists"])
def deleting_a_missing_exchange(peer: Peer) -> Verdict:
    """Deleting a missing exchange is refused."""
    peer.send("exchange.delete", exchange=peer.name())
    return rejects_violation(peer)


@on_channel("exchange.delete.if-unused-in-use", covers=["exchange/delete/if-unused/in-use"])
def bound_exchange_is_not_deleted(peer: Peer) -> Verdict:
    """With if-unused, deleting an exchange that has a binding is refused."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="red")
    peer.send("exchange.delete", exchange=exchange, if_unused=True)
    return rejects_violation(peer)


@on_channel("exchange.delete.if-unused-stays", covers=["exchange/delete/if-unused/in-use"])
def bound_exchange_stays(peer: Peer) -> Verdict:
    """With if-unused, an exchange that has a binding is not deleted and keeps the binding."""
    exchange = peer.exchange("direct")
    queue = listening(peer, exchange, "red")
    # The refusal closes a channel: not the one on which the queue listens.
    other = peer.another().open_channel()
    other.send("exchange.delete", exchange=exchange, if_unused=True)
    other.reaction()
    peer.claim("the exchange still routes")
    peer.call("exchange.declare", exchange=exchange, type="direct", passive=True)
    return equals(peer, reached(peer, [queue], "red", exchange=exchange), [1], "copies")


@on_channel("exchange.delete.if-unused-unused", covers=["exchange/delete/if-unused/in-use"])
def unbound_exchange_is_deleted(peer: Peer) -> Verdict:
    """With if-unused, an exchange that never had bindings, or has none left, is deleted."""
    # A count of bindings that only goes up would keep the second one in use.
    never, once, queue = peer.exchange("direct"), peer.exchange("direct"), peer.queue()
    peer.call("queue.bind", queue=queue, exchange=once, routing_key="red")
    peer.call("queue.unbind", queue=queue, exchange=once, routing_key="red")
    peer.claim("delete-ok, and no exchanges")
    for exchange in (never, once):
        peer.call("exchange.delete", exchange=exchange, if_unused=True)
    return equals(peer, [exists(peer, never), exists(peer, once)], [False, False], "exchanges there")
