"""Class exchange: bind, unbind, bound (amqp-0-10 class exchange).

Knows: what makes a binding. Must not know: targets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session
from amqpspec.suites.amqp_0_10._entities import after_restart, bind, bodies, bound_to, send

_FLAGS = ("exchange_not_found", "queue_not_found", "queue_not_matched", "key_not_matched", "args_not_matched")


# --- bind


@in_session("exchange.bind.unbound", covers=["exchange/bind/unbound"])
def unbound_queue(peer: Peer) -> Verdict:
    """A queue receives nothing from an exchange before it is bound to it, even if the key is its name."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    peer.claim("nothing before the binding, everything after it")
    send(peer, exchange, queue, b"before")
    bind(peer, exchange, queue, queue)
    send(peer, exchange, queue, b"behind")
    return equals(peer, bodies(peer, queue), [b"behind"], "bodies")


@in_session("exchange.bind.duplicates", covers=["exchange/bind/duplicates/ignored"])
def bound_twice(peer: Peer) -> Verdict:
    """A repeated bind creates no second binding: one copy arrives, and one unbind removes the binding."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    peer.claim("one copy while bound, none after one unbind")
    for _ in "12":
        bind(peer, exchange, queue, "k")
    send(peer, exchange, "k", b"bound")
    peer.call("exchange.unbind", queue=queue, exchange=exchange, binding_key="k")
    send(peer, exchange, "k", b"unbound")
    return equals(peer, bodies(peer, queue), [b"bound"], "bodies")


@in_session("exchange.bind.duplicates.arguments", covers=["exchange/bind/duplicates/arguments"])
def arguments_of_a_second_bind(peer: Peer) -> Verdict:
    """A second bind with the same key does not change the arguments of the first."""
    exchange, queue = peer.exchange("headers"), peer.queue()
    peer.claim("routing by the arguments of the first bind")
    for color in ("red", "blue"):
        bind(peer, exchange, queue, "k", {"x-match": "all", "color": color})
    for color in ("red", "blue"):
        send(peer, exchange, "", color.encode(), color=color)
    return equals(peer, bodies(peer, queue), [b"red"], "bodies")


@in_session("exchange.bind.durable-exchange", covers=["exchange/bind/durable-exchange"], restarts=True)
def durable_binding(peer: Peer) -> Verdict:
    """A binding between a durable exchange and a durable queue survives a restart."""
    exchange, queue = peer.exchange("direct", durable=True), peer.queue(durable=True)
    for key in ("k", "l"):
        bind(peer, exchange, queue, key)
    after = after_restart(peer)
    after.claim("messages through both bindings after the restart")
    for key in ("k", "l", "m"):
        send(after, exchange, key, key.encode())
    return equals(after, bodies(after, queue), [b"k", b"l"], "bodies")


@in_session("exchange.bind.binding-count", covers=["exchange/bind/binding-count"])
def four_bindings(peer: Peer) -> Verdict:
    """A queue supports four bindings, to one exchange or to several."""
    queue, exchanges = peer.queue(), [peer.exchange("direct") for _ in "12"]
    keys = ("a", "b", "c", "d")
    peer.claim("a message through each binding")
    for exchange in exchanges:
        for key in keys:
            bind(peer, exchange, queue, key)
        for key in keys:
            send(peer, exchange, key, key.encode())
    return equals(peer, bodies(peer, queue), [key.encode() for key in keys] * 2, "bodies")


@in_session("exchange.bind.multiple-bindings", covers=["exchange/bind/multiple-bindings"])
def several_matches(peer: Peer) -> Verdict:
    """A queue receives a message once, even if several of its bindings match."""
    exchange, queues = peer.exchange("topic"), [peer.queue() for _ in "12"]
    for queue in queues:
        for key in ("a.*", "a.b", "#"):
            bind(peer, exchange, queue, key)
    peer.claim("one copy in each queue")
    send(peer, exchange, "a.b", b"once")
    return equals(peer, [bodies(peer, queue) for queue in queues], [[b"once"]] * 2, "bodies")


@in_session("exchange.bind.binding-key.identity", covers=["exchange/bind/binding-key/identity"])
def each_key_is_a_binding(peer: Peer) -> Verdict:
    """Each key is a separate binding: an unbind removes only its own key."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    for key in ("k", "l", "K"):
        bind(peer, exchange, queue, key)
    peer.claim("messages with the remaining keys")
    peer.call("exchange.unbind", queue=queue, exchange=exchange, binding_key="k")
    for key in ("k", "l", "K"):
        send(peer, exchange, key, key.encode())
    return equals(peer, bodies(peer, queue), [b"l", b"K"], "bodies")


@in_session("exchange.bind.queue.empty", covers=["exchange/bind/queue/empty-queue"])
def bind_without_a_queue(peer: Peer) -> Verdict:
    """A queue without a name cannot be bound."""
    return rejects(peer, "exchange.bind", queue="", exchange=peer.exchange("direct"), binding_key="k")


@in_session("exchange.bind.queue.missing", covers=["exchange/bind/queue/queue-existence"])
def bind_of_no_queue(peer: Peer) -> Verdict:
    """A queue that does not exist cannot be bound."""
    return rejects(
        peer, "exchange.bind", queue=peer.name("missing"), exchange=peer.exchange("direct"), binding_key="k"
    )


@in_session("exchange.bind.exchange.missing", covers=["exchange/bind/exchange/exchange-existence"])
def bind_to_no_exchange(peer: Peer) -> Verdict:
    """A queue cannot be bound to an exchange that does not exist."""
    return rejects(peer, "exchange.bind", queue=peer.queue(), exchange=peer.name("missing"), binding_key="k")


@in_session("exchange.bind.arguments.unknown", covers=["exchange/bind/arguments/unknown-argument"])
def bind_with_unknown_arguments(peer: Peer) -> Verdict:
    """Arguments of a bind that the server does not know are refused."""
    exchange, queue = peer.exchange("direct"), peer.queue()
    unknown = {"amqpspec-unknown": "x"}
    return rejects(peer, "exchange.bind", queue=queue, exchange=exchange, binding_key="k", arguments=unknown)


# --- unbind


@in_session("exchange.unbind.queue.missing", covers=["exchange/unbind/queue/non-existent-queue"])
def unbind_of_no_queue(peer: Peer) -> Verdict:
    """A queue that does not exist cannot be unbound."""
    exchange = peer.exchange("direct")
    return rejects(peer, "exchange.unbind", queue=peer.name("missing"), exchange=exchange, binding_key="k")


@in_session("exchange.unbind.exchange.missing", covers=["exchange/unbind/exchange/non-existent-exchange"])
def unbind_from_no_exchange(peer: Peer) -> Verdict:
    """A queue cannot be unbound from an exchange that does not exist."""
    return rejects(
        peer, "exchange.unbind", queue=peer.queue(), exchange=peer.name("missing"), binding_key="k"
    )


@in_session(
    "exchange.unbind.binding-key.missing", covers=["exchange/unbind/binding-key/non-existent-binding-key"]
)
def unbind_of_no_binding(peer: Peer) -> Verdict:
    """A binding that does not exist cannot be removed, even if the queue has another one."""
    exchange = peer.exchange("direct")
    (queue,) = bound_to(peer, exchange, ["k"])
    return rejects(peer, "exchange.unbind", queue=queue, exchange=exchange, binding_key="l")


# --- bound


def _missing(peer: Peer, **args: Any) -> list[str]:
    """The flags that exchange.bound sets."""
    fields: Mapping[str, Any] = peer.call("exchange.bound", **args).fields
    return [flag for flag in _FLAGS if fields.get(flag)]


@in_session("exchange.bound.default", covers=["exchange/bound/exchange/default"])
def bound_to_the_default_exchange(peer: Peer) -> Verdict:
    """Bound without an exchange refers to the default exchange, where each queue is bound by its name."""
    queue, other = peer.queue(), peer.name("none")
    peer.claim("a binding with the queue's own name, none with a key that no binding has")
    found = [_missing(peer, queue=queue, binding_key=key) for key in (queue, other)]
    return equals(peer, found, [[], ["key_not_matched"]], "flags")


@in_session("exchange.bound.unset", covers=["exchange/bound/binding-key/unset"])
def bound_by_any_key(peer: Peer) -> Verdict:
    """Bound without a key matches any key."""
    exchange, loose = peer.exchange("direct"), peer.queue()
    (queue,) = bound_to(peer, exchange, ["k"])
    peer.claim("a binding for the queue that has one, none for the other")
    found = [_missing(peer, exchange=exchange, queue=name) for name in (queue, loose)]
    return equals(peer, found, [[], ["queue_not_matched"]], "flags")


@in_session("exchange.bound.flags", covers=["exchange/bound/exchange-bound-result/exchange-not-found/flags"])
def bound_flags(peer: Peer) -> Verdict:
    """Bound sets a flag for what it did not find: exchange, queue, binding of the queue, or key."""
    exchange, loose = peer.exchange("direct"), peer.queue()
    (queue,) = bound_to(peer, exchange, ["k"])
    peer.claim("the flag of the missing item")
    questions = {
        (): {"exchange": exchange, "queue": queue, "binding_key": "k"},
        ("exchange_not_found",): {"exchange": peer.name("missing"), "queue": queue},
        ("queue_not_found",): {"exchange": exchange, "queue": peer.name("missing")},
        ("queue_not_matched",): {"exchange": exchange, "queue": loose},
        ("key_not_matched",): {"exchange": exchange, "queue": queue, "binding_key": "l"},
    }
    found = [tuple(_missing(peer, **question)) for question in questions.values()]
    return equals(peer, [_cause(flags) for flags in found], [*questions], "flags")


def _cause(flags: tuple[str, ...]) -> tuple[str, ...]:
    """The flags for a missing exchange or queue, if any: without these, no binding is found either."""
    return tuple(flag for flag in flags if flag.endswith("_not_found")) or flags
