"""Class exchange: declare, delete, query (amqp-0-10 class exchange).

Knows: what a second declare may say, what a delete takes along. Must not know: targets.
"""

from __future__ import annotations

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import allows, rejects
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._entities import (
    after_restart,
    bind,
    bodies,
    bound_to,
    exchange_of,
    has_exchange,
    send,
    vanishes,
)

# --- names and types


@in_session("exchange.declare.reserved-names", covers=["exchange/declare/exchange/reserved-names"])
def reserved_name(peer: Peer) -> Verdict:
    """A name that begins with amq. cannot be declared."""
    return rejects(peer, "exchange.declare", exchange=f"amq.{peer.name('x')}", type="direct")


@in_session("exchange.declare.reserved-names.passive", covers=["exchange/declare/exchange/reserved-names"])
def reserved_name_passively(peer: Peer) -> Verdict:
    """A standard exchange can be declared passively."""
    peer.claim("the server accepts a passive declare")
    peer.send("exchange.declare", exchange="amq.direct", type="direct", passive=True)
    return allows(peer)


@in_session("exchange.declare.typed", covers=["exchange/declare/type/typed"])
def another_type(peer: Peer) -> Verdict:
    """An exchange cannot be declared again with another type."""
    name = peer.exchange("direct")
    return rejects(peer, "exchange.declare", exchange=name, type="fanout")


@in_session("exchange.declare.same-type", covers=["exchange/declare/type/typed"])
def the_same_type(peer: Peer) -> Verdict:
    """An exchange can be declared again unchanged, and keeps its bindings."""
    name = peer.exchange("direct")
    (queue,) = bound_to(peer, name, ["k"])
    peer.claim("the declare is accepted, and the binding still exists")
    peer.call("exchange.declare", exchange=name, type="direct")
    send(peer, name, "k", b"still")
    return equals(peer, bodies(peer, queue), [b"still"], "bodies")


@in_session("exchange.declare.unknown-type", covers=["exchange/declare/type/exchange-type-not-found"])
def unknown_type(peer: Peer) -> Verdict:
    """The server rejects the declare of an exchange of an unknown type."""
    name = peer.will_clean("exchange", peer.name("x"))
    return rejects(peer, "exchange.declare", exchange=name, type=f"x-{peer.name('type')}")


# --- passive


@in_session("exchange.declare.passive.not-found", covers=["exchange/declare/passive/not-found"])
def passive_declare(peer: Peer) -> Verdict:
    """A passive declare of an exchange that does not exist is refused."""
    return rejects(peer, "exchange.declare", exchange=peer.name("missing"), type="direct", passive=True)


@in_session("exchange.declare.passive.no-create", covers=["exchange/declare/passive/no-create"])
def passive_declare_makes_nothing(peer: Peer) -> Verdict:
    """A passive declare never creates an exchange."""
    name = peer.will_clean("exchange", peer.name("missing"))
    peer.send("exchange.declare", exchange=name, type="direct", passive=True)
    peer.reaction()
    peer.open_session(1)
    peer.claim("no such exchange")
    return equals(peer, has_exchange(peer, name, 1), False, "exchange there")


@in_session("exchange.declare.arguments.passive", covers=["exchange/declare/arguments/passive"])
def passive_declare_with_arguments(peer: Peer) -> Verdict:
    """The server ignores the arguments of a passive declare."""
    name = peer.exchange("direct")
    peer.claim("the server accepts a passive declare with unknown arguments")
    peer.send(
        "exchange.declare", exchange=name, type="direct", passive=True, arguments={"amqpspec-unknown": "x"}
    )
    return allows(peer)


@in_session("exchange.declare.arguments.unknown", covers=["exchange/declare/arguments/unknown-argument"])
def unknown_arguments(peer: Peer) -> Verdict:
    """Arguments of a declare that the server does not know are refused."""
    name = peer.will_clean("exchange", peer.name("x"))
    return rejects(
        peer, "exchange.declare", exchange=name, type="direct", arguments={"amqpspec-unknown": "x"}
    )


# --- the alternate exchange


@in_session("exchange.declare.alternate-exchange", covers=["exchange/declare/alternate-exchange/when"])
def alternate_exchange(peer: Peer) -> Verdict:
    """Messages that cannot be routed to a queue go to the alternate exchange, and no others do."""
    alternate = peer.exchange("fanout")
    name = peer.exchange("direct", alternate_exchange=alternate)
    (orphans,), (queue,) = bound_to(peer, alternate, [""]), bound_to(peer, name, ["k"])
    peer.claim("the unroutable message at the alternate exchange, the other one in its queue")
    send(peer, name, "k", b"routed")
    send(peer, name, "nowhere", b"orphan")
    return equals(peer, [bodies(peer, q) for q in (queue, orphans)], [[b"routed"], [b"orphan"]], "bodies")


@in_session(
    "exchange.declare.alternate-exchange.discarded", covers=["exchange/declare/alternate-exchange/when"]
)
def discard_unroutable(peer: Peer) -> Verdict:
    """With discard-unroutable, an unroutable message does not go to the alternate exchange."""
    alternate = peer.exchange("fanout")
    name = peer.exchange("direct", alternate_exchange=alternate)
    (orphans,) = bound_to(peer, alternate, [""])
    peer.claim("the second message only at the alternate exchange")
    peer.publish("nowhere", b"discarded", exchange=name, delivery={"discard_unroutable": True})
    send(peer, name, "nowhere", b"orphan")
    return equals(peer, bodies(peer, orphans), [b"orphan"], "bodies")


@in_session(
    "exchange.declare.alternate-exchange.none", covers=["exchange/declare/alternate-exchange/empty-name"]
)
def no_alternate_exchange(peer: Peer) -> Verdict:
    """Without an alternate exchange, unroutable messages are silently dropped."""
    name = peer.exchange("direct")
    peer.claim("no refusal, and no message returned")
    peer.publish("nowhere", b"1", exchange=name)
    peer.publish("nowhere", b"2", exchange=name)
    peer.barrier()
    back = [arrival.name for arrival in peer.pending("message.transfer", "message.reject")]
    return equals(peer, back, [], "sent back")


@in_session(
    "exchange.declare.alternate-exchange.pre-existing",
    covers=["exchange/declare/alternate-exchange/pre-existing-exchange"],
)
def another_alternate_exchange(peer: Peer) -> Verdict:
    """An exchange cannot be declared again with another alternate exchange."""
    first, second = peer.exchange("fanout"), peer.exchange("fanout")
    name = peer.exchange("direct", alternate_exchange=first)
    return rejects(peer, "exchange.declare", exchange=name, type="direct", alternate_exchange=second)


@in_session(
    "exchange.declare.alternate-exchange.double-failure",
    covers=[
        "exchange/declare/alternate-exchange/double-failure/no-second",
        "exchange/declare/alternate-exchange/double-failure/dropped",
    ],
)
def double_failure(peer: Peer) -> Verdict:
    """A message that the alternate exchange cannot route is dropped, without a second alternate exchange."""
    last = peer.exchange("fanout")
    middle = peer.exchange("direct", alternate_exchange=last)
    name = peer.exchange("direct", alternate_exchange=middle)
    (far,), (near,) = bound_to(peer, last, [""]), bound_to(peer, middle, ["near"])
    peer.claim(
        "only the message that it can route at the alternate exchange, none at the next alternate exchange"
    )
    send(peer, name, "nowhere", b"dropped")
    send(peer, name, "near", b"near")
    return equals(peer, [bodies(peer, q) for q in (near, far)], [[b"near"], []], "bodies")


# --- durability and auto-delete


@in_session("exchange.declare.durable.both", covers=["exchange/declare/durable/support"])
def durable_and_transient(peer: Peer) -> Verdict:
    """The server supports durable and transient exchanges, and a query distinguishes them."""
    peer.claim("a durable exchange and a transient one")
    names = [peer.exchange("fanout", durable=durable) for durable in (True, False)]
    found = [bool(exchange_of(peer, name).get("durable")) for name in names]
    return equals(peer, found, [True, False], "durable")


@in_session("exchange.declare.durable.restart", covers=["exchange/declare/durable/restart"], restarts=True)
def restart(peer: Peer) -> Verdict:
    """A durable exchange survives a restart with its type; a transient one does not."""
    names = [peer.exchange("topic", durable=durable) for durable in (True, False)]
    after = after_restart(peer)
    after.claim("the durable exchange only")
    rows = [exchange_of(after, name) for name in names]
    found = [None if row.get("not_found") else row.get("type") for row in rows]
    return equals(after, found, ["topic", None], "types")


@in_session("exchange.declare.durable.sticky", covers=["exchange/declare/durable/sticky"])
def durable_again(peer: Peer) -> Verdict:
    """The server ignores durable if the exchange already exists."""
    names = [peer.exchange("direct", durable=durable) for durable in (True, False)]
    peer.claim("no refusal, and durability unchanged")
    for name, durable in zip(names, (False, True), strict=True):
        peer.call("exchange.declare", exchange=name, type="direct", durable=durable)
    found = [bool(exchange_of(peer, name).get("durable")) for name in names]
    return equals(peer, found, [True, False], "durable")


@in_session("exchange.declare.auto-delete.unused", covers=["exchange/declare/auto-delete/unused"])
def goes_with_its_last_binding(peer: Peer) -> Verdict:
    """An auto-delete exchange exists while it is bound and is deleted with its last binding."""
    name = peer.exchange("fanout", auto_delete=True)
    queues = bound_to(peer, name, ["k", "k"])
    peer.claim("the exchange exists while it is bound and not afterwards")
    peer.call("exchange.unbind", queue=queues[0], exchange=name, binding_key="k")
    bound = has_exchange(peer, name)
    peer.call("exchange.unbind", queue=queues[1], exchange=name, binding_key="k")
    return equals(peer, (bound, vanishes(peer, "exchange", name)), (True, True), "exists, then deleted")


@in_session("exchange.declare.auto-delete.never-used", covers=["exchange/declare/auto-delete/never-used"])
def waits_for_its_first_binding(peer: Peer) -> Verdict:
    """An auto-delete exchange that was never bound remains; one that was bound is deleted."""
    fresh, used = (peer.exchange("fanout", auto_delete=True) for _ in "12")
    (queue,) = bound_to(peer, used, ["k"])
    peer.call("exchange.unbind", queue=queue, exchange=used, binding_key="k")
    gone = vanishes(peer, "exchange", used)
    peer.claim("the exchange that was never bound still exists after the other one is deleted")
    return equals(peer, (gone, has_exchange(peer, fresh)), (True, True), "used one deleted, new one exists")


@in_session("exchange.declare.auto-delete.sticky", covers=["exchange/declare/auto-delete/sticky"])
def auto_delete_again(peer: Peer) -> Verdict:
    """The server ignores auto-delete if the exchange already exists."""
    names = [peer.exchange("fanout", auto_delete=auto) for auto in (True, False)]
    peer.claim("no refusal; only the exchange declared as auto-delete is deleted when it is unbound")
    for name, auto in zip(names, (False, True), strict=True):
        peer.call("exchange.declare", exchange=name, type="fanout", auto_delete=auto)
        (queue,) = bound_to(peer, name, ["k"])
        peer.call("exchange.unbind", queue=queue, exchange=name, binding_key="k")
    gone = vanishes(peer, "exchange", names[0])
    return equals(peer, (gone, has_exchange(peer, names[1])), (True, True), "first deleted, second exists")


# --- delete


@in_session("exchange.delete.bindings", covers=["exchange/delete/bindings"])
def bindings_go_with_their_exchange(peer: Peer) -> Verdict:
    """Deleting an exchange removes its bindings: a new exchange of the same name has none."""
    name, other = peer.exchange("fanout"), peer.exchange("fanout")
    queue, witness = peer.queue(), peer.queue()
    for exchange in (name, other):
        bind(peer, exchange, queue, "k")
    bind(peer, other, witness, "k")
    peer.claim("nothing through the new exchange, the message through the other one")
    peer.call("exchange.delete", exchange=name)
    peer.call("exchange.declare", exchange=name, type="fanout")
    send(peer, name, "k", b"lost")
    send(peer, other, "k", b"kept")
    return equals(peer, [bodies(peer, q) for q in (queue, witness)], [[b"kept"]] * 2, "bodies")


@in_session("exchange.delete.missing", covers=["exchange/delete/exchange/exists"])
def delete_of_nothing(peer: Peer) -> Verdict:
    """An exchange that does not exist cannot be deleted."""
    return rejects(peer, "exchange.delete", exchange=peer.name("missing"))


@in_session("exchange.delete.alternate", covers=["exchange/delete/exchange/used-as-alternate"])
def delete_of_an_alternate(peer: Peer) -> Verdict:
    """The alternate exchange of another exchange cannot be deleted."""
    alternate = peer.exchange("fanout")
    peer.exchange("direct", alternate_exchange=alternate)
    return rejects(peer, "exchange.delete", exchange=alternate)


@in_session("exchange.delete.alternate-of-a-queue", covers=["exchange/delete/exchange/used-as-alternate"])
def delete_of_a_queues_alternate(peer: Peer) -> Verdict:
    """The alternate exchange of a queue cannot be deleted."""
    alternate = peer.exchange("fanout")
    peer.queue(alternate_exchange=alternate)
    return rejects(peer, "exchange.delete", exchange=alternate)


@in_session("exchange.delete.if-unused", covers=["exchange/delete/if-unused/exchange-in-use/refused"])
def delete_if_unused(peer: Peer) -> Verdict:
    """With if-unused, the delete of an exchange with a binding is refused."""
    name = peer.exchange("fanout")
    bound_to(peer, name, ["k"])
    return rejects(peer, "exchange.delete", exchange=name, if_unused=True)


@in_session("exchange.delete.if-unused.stays", covers=["exchange/delete/if-unused/exchange-in-use/stays"])
def used_exchange_stays(peer: Peer) -> Verdict:
    """After a refused delete with if-unused, the exchange and its binding remain."""
    name, queue = peer.exchange("fanout"), peer.queue(exclusive=False)
    bind(peer, name, queue, "k")
    peer.send("exchange.delete", exchange=name, if_unused=True)
    peer.reaction()
    peer.open_session(1)
    peer.claim("the exchange with its binding")
    there = has_exchange(peer, name, 1)
    if there:
        send(peer, name, "k", b"through", 1)
    found = (there, bodies(peer, queue, 1))
    return equals(peer, found, (True, [b"through"]), "exchange there, bodies")


@in_session("exchange.delete.unused", covers=["exchange/delete/if-unused/exchange-in-use/refused"])
def delete_of_an_unused_exchange(peer: Peer) -> Verdict:
    """With if-unused, an exchange without bindings is deleted, even if it had one before."""
    names = [peer.exchange("fanout") for _ in "12"]
    (queue,) = bound_to(peer, names[1], ["k"])
    peer.call("exchange.unbind", queue=queue, exchange=names[1], binding_key="k")
    peer.claim("both exchanges are deleted")
    for name in names:
        peer.call("exchange.delete", exchange=name, if_unused=True)
    return equals(peer, [has_exchange(peer, name) for name in names], [False, False], "there")


# --- query


@in_session("exchange.query.fields", covers=["exchange/query/exchange-query-result/type/fields"])
def query(peer: Peer) -> Verdict:
    """A query returns type and durability, or reports that the exchange does not exist."""
    kinds = [("topic", True), ("fanout", False)]
    names = [peer.exchange(type, durable=durable) for type, durable in kinds]
    peer.claim("type and durability of each, and not-found")
    rows = [exchange_of(peer, name) for name in (*names, peer.name("missing"))]
    found = [None if row.get("not_found") else (row.get("type"), bool(row.get("durable"))) for row in rows]
    return holds(peer, found == [*kinds, None], f"{found}", f"{[*kinds, None]}")
