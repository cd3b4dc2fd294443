"""Exchanges: the types and how they route, the instances that are there from the start, the default exchange.

(amqp-0-9-1 class exchange, its rules besides the methods.)
"""

from __future__ import annotations

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._routes import exists, listening, optional_exchange, reached

_HEADERS_EXCHANGES = ("amq.headers", "amq.match")

# --- types that must be there


@on_channel("exchange.direct.equal-key", covers=["exchange/required-types"])
def direct_routes_an_equal_key(peer: Peer) -> Verdict:
    """A direct exchange routes a message to the queue that is bound with its routing key."""
    peer.claim("a direct exchange routes by equal keys")
    exchange = peer.exchange("direct")
    queues = [listening(peer, exchange, key) for key in ("red", "blue")]
    return equals(peer, reached(peer, queues, "red", exchange=exchange), [1, 0], "copies for red and blue")


@on_channel("exchange.direct.other-key", covers=["exchange/required-types"])
def direct_routes_no_other_key(peer: Peer) -> Verdict:
    """A direct exchange compares complete keys octet by octet and ignores patterns."""
    exchange = peer.exchange("direct")
    # Besides the key itself: a part of it, two patterns of topic exchanges, other case, nothing at all.
    queues = [listening(peer, exchange, key) for key in ("red.dark", "red", "*.dark", "#", "RED.DARK", "")]
    peer.claim("only the binding with exactly this key matches a message")
    received = reached(peer, queues, "red.dark", exchange=exchange)
    return equals(peer, received, [1, 0, 0, 0, 0, 0], "copies by binding")


@on_channel("exchange.direct.shared-key", covers=["exchange/required-types"])
def direct_copies_to_every_queue(peer: Peer) -> Verdict:
    """A direct exchange routes a message to every queue that is bound with its routing key."""
    exchange = peer.exchange("direct")
    queues = [listening(peer, exchange, "shared") for _ in range(3)]
    peer.claim("a copy for each queue")
    return equals(peer, reached(peer, queues, "shared", exchange=exchange), [1, 1, 1], "copies by queue")


@on_channel("exchange.direct.several-keys", covers=["exchange/required-types"])
def direct_queue_with_several_keys(peer: Peer) -> Verdict:
    """A queue bound to a direct exchange with several keys receives the messages of each key."""
    exchange = peer.exchange("direct")
    queue = listening(peer, exchange, "one")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="two")
    peer.claim("messages of both keys, and of no third")
    received = [reached(peer, [queue], key, exchange=exchange) for key in ("one", "two", "three")]
    return equals(peer, received, [[1], [1], [0]], "copies by key")


@on_channel("exchange.fanout.any-key", covers=["exchange/required-types"])
def fanout_ignores_keys(peer: Peer) -> Verdict:
    """A fanout exchange routes every message to every queue bound to it, whatever the keys."""
    peer.claim("a fanout exchange routes without regard to keys")
    exchange = peer.exchange("fanout")
    queues = [listening(peer, exchange, key) for key in ("", "red", "#.blue")]
    received = [reached(peer, queues, key, exchange=exchange) for key in ("", "red", "green")]
    return equals(peer, received, [[1, 1, 1]] * 3, "copies by key and queue")


@on_channel("exchange.fanout.bound-only", covers=["exchange/required-types"])
def fanout_reaches_bound_queues_only(peer: Peer) -> Verdict:
    """A fanout exchange routes messages only to the queues bound to it."""
    exchange, other = peer.exchange("fanout"), peer.exchange("fanout")
    queues = [listening(peer, exchange), listening(peer, other), listening(peer)]
    peer.claim("a copy for the queue that is bound, none for the others")
    return equals(peer, reached(peer, queues, "red", exchange=exchange), [1, 0, 0], "copies by queue")


# --- instances that are there from the start


@on_channel("exchange.instances.direct", covers=["exchange/required-instances/direct"])
def amq_direct_is_there(peer: Peer) -> Verdict:
    """The exchange amq.direct exists and routes by equal keys."""
    key = peer.name("key")
    peer.claim("amq.direct routes by equal keys")
    queues = [listening(peer, "amq.direct", key), listening(peer, "amq.direct", f"{key}.not")]
    return equals(peer, reached(peer, queues, key, exchange="amq.direct"), [1, 0], "copies by queue")


@on_channel("exchange.instances.nameless", covers=["exchange/required-instances/direct"])
def nameless_exchange_is_there(peer: Peer) -> Verdict:
    """A message published without an exchange name is routed by equal keys."""
    queues = [listening(peer), listening(peer)]
    peer.claim("the nameless exchange routes by equal keys")
    return equals(peer, reached(peer, queues, queues[1]), [0, 1], "copies by queue")


# What goes to amq.fanout goes to everyone's queues.
@on_channel("exchange.instances.fanout", covers=["exchange/required-instances/amq-type"], destructive=True)
def amq_fanout_is_there(peer: Peer) -> Verdict:
    """The exchange amq.fanout exists and ignores routing keys."""
    peer.claim("amq.fanout routes to every queue")
    queues = [listening(peer, "amq.fanout", "red"), listening(peer, "amq.fanout"), listening(peer)]
    return equals(peer, reached(peer, queues, "blue", exchange="amq.fanout"), [1, 1, 0], "copies by queue")


@on_channel("exchange.instances.topic", covers=["exchange/required-instances/amq-type"])
def amq_topic_is_there(peer: Peer) -> Verdict:
    """If topic exchanges are implemented, amq.topic exists and routes by patterns."""
    optional_exchange(peer, "topic")
    # A case's own names contain periods, which would make several words of one.
    word = "".join(filter(str.isalnum, peer.name("word")))
    peer.claim("amq.topic routes by patterns")
    queue = listening(peer, "amq.topic", f"{word}.*")
    keys = (f"{word}.x", f"{word}.x.y", f"x.{word}")
    received = [reached(peer, [queue], key, exchange="amq.topic") for key in keys]
    return equals(peer, received, [[1], [0], [0]], "copies for a key that fits, a longer one, another order:")


@on_channel("exchange.instances.headers", covers=["exchange/required-instances/amq-type"])
def headers_instance_is_there(peer: Peer) -> Verdict:
    """If headers exchanges are implemented, a predeclared one exists and routes by headers."""
    optional_exchange(peer, "headers")
    peer.claim(f"{' or '.join(_HEADERS_EXCHANGES)} routes by headers")
    # The rule says amq.headers, PDF §3.1.3.4 says amq.match: either is taken.
    exchange = next((name for name in _HEADERS_EXCHANGES if exists(peer, name, "headers")), "")
    if not exchange:
        return holds(peer, False, "neither exists")
    mine = peer.name("mine")
    queue = listening(peer, exchange, arguments={"x-match": "all", "case": mine})
    tried = ({"case": mine}, {"case": "other"})
    received = [reached(peer, [queue], exchange=exchange, properties={"headers": h}) for h in tried]
    return equals(peer, received, [[1], [0]], "copies for fitting and for other headers")


@on_channel(
    "exchange.instances.every-vhost",
    covers=["exchange/required-instances/amq-type", "exchange/required-instances/direct"],
    hooks=["second-vhost"],
)
def instances_in_another_vhost(peer: Peer) -> Verdict:
    """A second virtual host also has the standard exchanges, and the optional ones that the first one has."""
    # topic and headers are SHOULD types: only where the first host has them are they due in the second.
    optional = [name for name in ("amq.topic", *_HEADERS_EXCHANGES) if exists(peer, name, _type_of(name))]
    other = peer.another(vhost=peer.context.vhost("second")).open_channel()
    other.claim("the standard exchanges in every virtual host")
    wanted = ("amq.direct", "amq.fanout", *optional)
    missing = [name for name in wanted if not exists(other, name, _type_of(name))]
    queues = [listening(other), listening(other, "amq.direct", "k")]
    received = [reached(other, queues, queues[0]), reached(other, queues, "k", exchange="amq.direct")]
    return equals(peer, (missing, received), ([], [[1, 0], [0, 1]]), "missing exchanges and copies by queue")


# --- the default exchange


@on_channel("exchange.default.by-queue-name", covers=["exchange/default-exchange"])
def default_exchange_routes_by_queue_name(peer: Peer) -> Verdict:
    """Each queue is automatically bound to the default exchange by its name."""
    queues = [listening(peer) for _ in range(3)]
    peer.claim("each queue gets what carries its name as the routing key")
    received = [reached(peer, queues, queue) for queue in queues]
    return equals(peer, received, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "copies by key and queue")


@on_channel("exchange.default.by-exact-name", covers=["exchange/default-exchange"])
def default_exchange_routes_no_other_name(peer: Peer) -> Verdict:
    """The default exchange matches a routing key against the complete queue name, not a part or a pattern of it."""
    queue = listening(peer)
    keys = [queue, queue[:-1], f"{queue}x", queue.upper(), "#", "*", ""]
    peer.claim("the very name and nothing else reaches the queue")
    received = [reached(peer, [queue], key)[0] for key in keys]
    return equals(peer, received, [1, 0, 0, 0, 0, 0, 0], "copies by key")


@on_channel("exchange.default.declare", covers=["exchange/default-access"], destructive=True)
def default_exchange_cannot_be_declared(peer: Peer) -> Verdict:
    """The default exchange cannot be declared."""
    peer.send("exchange.declare", exchange="", type="direct", durable=True)
    return rejects_violation(peer)


@on_channel("exchange.default.declare-passively", covers=["exchange/default-access"])
def default_exchange_cannot_be_asked_for(peer: Peer) -> Verdict:
    """The default exchange cannot be declared passively."""
    peer.send("exchange.declare", exchange="", type="direct", passive=True)
    return rejects_violation(peer)


@on_channel("exchange.default.delete", covers=["exchange/default-access"], destructive=True)
def default_exchange_cannot_be_deleted(peer: Peer) -> Verdict:
    """The default exchange cannot be deleted."""
    peer.send("exchange.delete", exchange="")
    return rejects_violation(peer)


# --- steps


def _type_of(name: str) -> str:
    """The type of a standard exchange by its name."""
    return "headers" if name in _HEADERS_EXCHANGES else name.removeprefix("amq.")
