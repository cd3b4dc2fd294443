"""Class exchange: types, standard exchanges, the default exchange (amqp-0-10 class exchange).

Knows: how types route. Must not know: targets.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.amqp_0_10.oracles import rejects
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_10._cases import in_session, on_queue, on_shared_queue
from amqpspec.suites.amqp_0_10._entities import (
    Route,
    bodies,
    bound_to,
    declared,
    exchange_of,
    has_exchange,
    routed,
    send,
    standard,
)

_REQUIRED, _OPTIONAL = ("direct", "fanout"), ("topic", "headers")


@in_session("exchange.type.direct", covers=["exchange/required-types", "exchange/bind/unbound"])
def direct(peer: Peer) -> Verdict:
    """A direct exchange compares the whole key and routes to every queue that is bound with it."""
    peer.claim("each message in the queues that are bound with its key")
    keys = ("red", "blue", "red", "redder", "RED")
    found = routed(peer, "direct", [(key, {}) for key in keys[:4]], [(key, {}) for key in (*keys, "")])
    return equals(peer, found, [[0, 2], [1], [0, 2], [3], []], "messages by queue")


@in_session("exchange.type.fanout", covers=["exchange/required-types"])
def fanout(peer: Peer) -> Verdict:
    """A fanout exchange routes every message to every queue, whatever the keys."""
    peer.claim("every message in every queue")
    found = routed(peer, "fanout", [("red", {}), ("", {})], [("red", {}), ("blue", {}), ("", {})])
    return equals(peer, found, [[0, 1, 2], [0, 1, 2], []], "messages by queue")


@in_session("exchange.type.topic", covers=["exchange-types/topic"])
def topic(peer: Peer) -> Verdict:
    """In patterns of a topic exchange, a star matches one word and a hash any number of words."""
    peer.exchange("topic")  # the type is optional (2.3.1): if it is missing, the case is blocked
    peer.claim("each message in the queues whose pattern matches its key")
    patterns = ("a.*", "a.#", "*.b", "#", "a.b")
    keys = ("a.b", "a", "a.b.c", "c.b", "b", "A.b")
    found = routed(peer, "topic", [(key, {}) for key in patterns], [(key, {}) for key in keys])
    wanted = [[0], [0, 1, 2], [0, 3, 5], [0, 1, 2, 3, 4, 5], [0], []]
    return equals(peer, found, wanted, "messages by pattern")


@in_session("exchange.type.headers", covers=["exchange-types/headers"])
def headers(peer: Peer) -> Verdict:
    """A headers exchange compares names and values of all headers in the binding, or of any of them."""
    peer.exchange("headers")  # the type is optional (2.3.1): if it is missing, the case is blocked
    peer.claim("each message in the queues whose arguments match its headers")
    both = {"color": "red", "size": "big"}
    bindings: list[Route] = [
        ("all", {"x-match": "all", **both}),
        ("any", {"x-match": "any", **both}),
        ("there", {"x-match": "all", "size": None, "x-other": "is not looked at"}),
    ]
    messages = [both, {"color": "red"}, {"size": "big", "more": "x"}, {"color": "blue", "size": "small"}]
    found = routed(peer, "headers", bindings, [("", message) for message in messages])
    return equals(peer, found, [[0], [0, 1, 2], [0, 2, 3], []], "messages by binding")


@in_session("exchange.type.headers.values", covers=["exchange-types/headers"])
def values_of_headers(peer: Peer) -> Verdict:
    """A headers exchange compares lists item by item and distinguishes true from 1."""
    peer.exchange("headers")  # the type is optional (2.3.1): if it is missing, the case is blocked
    peer.claim("each message in the queues whose argument is equal to its header")
    values: tuple[Any, ...] = (["a", "b"], ["b"], True, 1)
    bindings: list[Route] = [("", {"x-match": "all", "field": value}) for value in values]
    messages: list[Route] = [("", {"field": value}) for value in values]
    found = routed(peer, "headers", bindings, messages)
    return equals(peer, found, [[0], [1], [2], [3], []], "messages by binding")


@in_session("exchange.type.recommended", covers=["exchange/recommended-types"])
def recommended_types(peer: Peer) -> Verdict:
    """Exchanges of types topic and headers can be declared."""
    peer.claim("an exchange of each type")
    types = ("topic", "headers")
    found = [exchange_of(peer, peer.exchange(type)).get("type") for type in types]
    return equals(peer, found, [*types], "types")


@in_session("exchange.required-instances.types", covers=["exchange/required-instances/amq-type"])
def standard_exchanges(peer: Peer) -> Verdict:
    """The server provides an exchange of each standard type that it implements."""
    return _standard_exchanges(peer)


def _standard_exchanges(peer: Peer) -> Verdict:
    wanted = [*_REQUIRED, *(type for type in _OPTIONAL if _implements(peer, type))]
    peer.claim(f"a standard exchange for each of the types {', '.join(wanted)}")
    found = [exchange_of(peer, standard(peer, type)).get("type") for type in wanted]
    return equals(peer, found, wanted, "types")


def _implements(peer: Peer, type: str) -> bool:
    """Whether an exchange of a type can be declared, in a session that a refusal may end."""
    probe = peer.another()
    probe.open_session()
    return declared(probe, probe.will_clean("exchange", probe.name("x")), type)


@in_session(
    "exchange.required-instances.direct",
    covers=["exchange/required-instances/direct", "exchange/query/name/default"],
)
def direct_exchanges(peer: Peer) -> Verdict:
    """The server provides amq.direct and the exchange without a name, both of type direct."""
    peer.claim("two direct exchanges")
    named = exchange_of(peer, "amq.direct")
    nameless = peer.call("exchange.query").fields
    found = [(row.get("type"), bool(row.get("not_found"))) for row in (named, nameless)]
    return equals(peer, found, [("direct", False)] * 2, "type and not-found")


@case(
    "exchange.required-instances.every-vhost",
    covers=["exchange/required-instances/amq-type", "exchange/required-instances/direct"],
    needs=["virtual-hosts"],
    hooks=["second-vhost"],
)
def standard_exchanges_elsewhere(peer: Peer) -> Verdict:
    """Another virtual host has the standard exchanges too."""
    other = peer.another(vhost=peer.context.vhost("second"))
    other.open_session()
    return _standard_exchanges(other)


@in_session(
    "exchange.default-exchange", covers=["exchange/default-exchange", "queue/declare/default-binding"]
)
def default_exchange(peer: Peer) -> Verdict:
    """A message sent without an exchange goes to the queue that its key names."""
    queues = [peer.queue() for _ in "12"]
    peer.claim("each message in the queue that its key names")
    for number, queue in enumerate(queues):
        send(peer, None, queue, b"%d" % number)
    found = [bodies(peer, queue) for queue in queues]
    return equals(peer, found, [[b"0"], [b"1"]], "bodies by queue")


@in_session("exchange.minimum", covers=["exchange/declare/minimum"])
def sixteen_exchanges(peer: Peer) -> Verdict:
    """The server supports 16 exchanges, and each of them routes independently."""
    peer.claim("16 exchanges")
    names = [peer.exchange("fanout") for _ in range(16)]
    (queue,) = bound_to(peer, names[0], [""])
    (other,) = bound_to(peer, names[-1], [""])
    send(peer, names[-1], "", b"last")
    found = sum(has_exchange(peer, name) for name in names)
    return equals(
        peer, (found, bodies(peer, queue), bodies(peer, other)), (16, [], [b"last"]), "exchanges, bodies"
    )


@in_session("exchange.name.syntax", covers=["exchange/name/syntax"])
def names(peer: Peer) -> Verdict:
    """A name may contain digits, letters and underscores, and begin with any of them; case matters."""
    own = "".join(c for c in peer.name("x") if c.isalnum())
    wanted = [f"{first}{own}" for first in ("1", "_", "a", "A")]
    peer.claim("an exchange for each name")
    for name in wanted:
        peer.exchange("direct", exchange=name)
    queues = [bound_to(peer, name, ["k"])[0] for name in wanted]
    send(peer, wanted[2], "k", b"lower")
    found = [bodies(peer, queue) for queue in queues]
    return equals(peer, found, [[], [], [b"lower"], []], "bodies by exchange")


@in_session(
    "exchange.default-access.declare",
    covers=["exchange/declare/exchange/exchange-name-required", "exchange/default-access/publish-only"],
    destructive=True,
)
def nameless_declare(peer: Peer) -> Verdict:
    """An exchange without a name cannot be declared."""
    return rejects(peer, "exchange.declare", exchange="", type="direct")


@in_session(
    "exchange.default-access.delete",
    covers=["exchange/delete/exchange/exchange-name-required", "exchange/default-access/refused"],
    destructive=True,
)
def nameless_delete(peer: Peer) -> Verdict:
    """The default exchange cannot be deleted."""
    return rejects(peer, "exchange.delete", exchange="")


@on_queue(
    "exchange.default-access.bind",
    covers=["exchange/bind/exchange/exchange-name-required", "exchange/default-access/refused"],
)
def nameless_bind(peer: Peer, queue: str) -> Verdict:
    """A queue cannot be bound to the default exchange."""
    return rejects(peer, "exchange.bind", queue=queue, exchange="", binding_key="another")


@on_queue(
    "exchange.default-access.unbind",
    covers=["exchange/unbind/exchange/exchange-name-required", "exchange/default-access/refused"],
)
def nameless_unbind(peer: Peer, queue: str) -> Verdict:
    """A queue cannot be unbound from the default exchange."""
    return rejects(peer, "exchange.unbind", queue=queue, exchange="", binding_key=queue)


@on_shared_queue("exchange.default-access.survives", covers=["exchange/default-exchange"])
def default_binding_survives(peer: Peer, queue: str) -> Verdict:
    """After a refused unbind from the default exchange, the queue keeps its binding."""
    peer.send("exchange.unbind", queue=queue, exchange="", binding_key=queue)
    peer.reaction()
    peer.open_session(1)
    peer.claim("the message in the queue that its key names")
    send(peer, None, queue, b"there", 1)
    found = bodies(peer, queue, 1)
    return holds(peer, found == [b"there"], f"bodies {found}")
