"""Exchanges: the types and how they route, the instances that are there from the start, the default exchange.

(amqp-0-9-1 class exchange, its rules beside the methods.)
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._routes import exists, listening, matches, reached

_HEADERS_EXCHANGES = ("amq.headers", "amq.match")

# --- types that must be there


@case("exchange.direct.equal-key", covers=["exchange/required-types"])
def direct_routes_an_equal_key(peer: Peer) -> Verdict:
    """A direct exchange passes a message to the queue that is bound with its routing key."""
    peer.open_channel()
    peer.claim("a direct exchange routes by equal keys")
    exchange = peer.exchange("direct")
    queues = [listening(peer, exchange, key) for key in ("red", "blue")]
    return equals(peer, reached(peer, queues, "red", exchange=exchange), [1, 0], "copies for red and blue")


@case("exchange.direct.other-key", covers=["exchange/required-types"])
def direct_routes_no_other_key(peer: Peer) -> Verdict:
    """A direct exchange compares whole keys, octet by octet, and knows no patterns."""
    peer.open_channel()
    exchange = peer.exchange("direct")
    # Beside the key itself: a part of it, two patterns of topic exchanges, other case, nothing at all.
    queues = [listening(peer, exchange, key) for key in ("red.dark", "red", "*.dark", "#", "RED.DARK", "")]
    peer.claim("only the binding with the very key lets a message pass")
    received = reached(peer, queues, "red.dark", exchange=exchange)
    return equals(peer, received, [1, 0, 0, 0, 0, 0], "copies by binding")


@case("exchange.direct.shared-key", covers=["exchange/required-types"])
def direct_copies_to_every_queue(peer: Peer) -> Verdict:
    """Every queue that is bound to a direct exchange with the key gets the message."""
    peer.open_channel()
    exchange = peer.exchange("direct")
    queues = [listening(peer, exchange, "shared") for _ in range(3)]
    peer.claim("a copy for each queue")
    return equals(peer, reached(peer, queues, "shared", exchange=exchange), [1, 1, 1], "copies by queue")


@case("exchange.direct.several-keys", covers=["exchange/required-types"])
def direct_queue_with_several_keys(peer: Peer) -> Verdict:
    """A queue may be bound to a direct exchange with several keys and gets the messages of each."""
    peer.open_channel()
    exchange = peer.exchange("direct")
    queue = listening(peer, exchange, "one")
    peer.call("queue.bind", queue=queue, exchange=exchange, routing_key="two")
    peer.claim("messages of both keys, and of no third")
    received = [reached(peer, [queue], key, exchange=exchange) for key in ("one", "two", "three")]
    return equals(peer, received, [[1], [1], [0]], "copies by key")


@case("exchange.fanout.any-key", covers=["exchange/required-types"])
def fanout_ignores_keys(peer: Peer) -> Verdict:
    """A fanout exchange passes every message to every queue, whatever the keys."""
    peer.open_channel()
    peer.claim("a fanout exchange routes without regard to keys")
    exchange = peer.exchange("fanout")
    queues = [listening(peer, exchange, key) for key in ("", "red", "#.blue")]
    received = [reached(peer, queues, key, exchange=exchange) for key in ("", "red", "green")]
    return equals(peer, received, [[1, 1, 1]] * 3, "copies by key and queue")


@case("exchange.fanout.bound-only", covers=["exchange/required-types"])
def fanout_reaches_bound_queues_only(peer: Peer) -> Verdict:
    """A fanout exchange passes messages to its own queues and to no others."""
    peer.open_channel()
    exchange, other = peer.exchange("fanout"), peer.exchange("fanout")
    queues = [listening(peer, exchange), listening(peer, other), listening(peer)]
    peer.claim("a copy for the queue that is bound, none for the others")
    return equals(peer, reached(peer, queues, "red", exchange=exchange), [1, 0, 0], "copies by queue")


# --- types that should be there


@case("exchange.topic.literal", covers=["exchange/recommended-types"])
def topic_without_wildcards(peer: Peer) -> Verdict:
    """A topic pattern without wildcards lets the equal key pass and no other."""
    peer.open_channel()
    peer.claim("a topic exchange routes an equal key")
    exchange = peer.exchange("topic")
    keys = ["usd.stock", "usd", "stock", "usd.stock.db", "USD.stock", ""]
    return equals(peer, matches(peer, exchange, "usd.stock", keys), ["usd.stock"], "keys that pass")


@case("exchange.topic.star", covers=["exchange/recommended-types"])
def topic_star_is_one_word(peer: Peer) -> Verdict:
    """In a topic pattern ``*`` stands for exactly one word."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    keys = ["usd.stock", "eur.stock", "stock", "usd.nyse.stock", "usd.bond", ""]
    peer.claim("exactly one word for *")
    passed = matches(peer, exchange, "*.stock", keys)
    return equals(peer, passed, ["usd.stock", "eur.stock"], "keys that pass")


@case("exchange.topic.star-alone", covers=["exchange/recommended-types"])
def topic_star_alone(peer: Peer) -> Verdict:
    """The topic pattern ``*`` lets keys of one word pass, and no longer ones."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    peer.claim("keys of one word")
    return equals(
        peer, matches(peer, exchange, "*", ["usd", "eur", "usd.stock"]), ["usd", "eur"], "keys that pass"
    )


@case("exchange.topic.hash-at-the-end", covers=["exchange/recommended-types"])
def topic_hash_at_the_end(peer: Peer) -> Verdict:
    """In a topic pattern ``#`` at the end stands for any number of words, none included."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    keys = ["stock", "stock.usd", "stock.usd.nyse", "bond.stock", "stocks"]
    peer.claim("any number of words for #")
    return equals(peer, matches(peer, exchange, "stock.#", keys), keys[:3], "keys that pass")


@case("exchange.topic.hash-at-the-start", covers=["exchange/recommended-types"])
def topic_hash_at_the_start(peer: Peer) -> Verdict:
    """In a topic pattern ``#`` at the start stands for any number of words, none included."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    keys = ["stock", "usd.stock", "nyse.usd.stock", "stock.usd", "usd"]
    peer.claim("any number of words for #")
    return equals(peer, matches(peer, exchange, "#.stock", keys), keys[:3], "keys that pass")


@case("exchange.topic.hash-in-the-middle", covers=["exchange/recommended-types"])
def topic_hash_in_the_middle(peer: Peer) -> Verdict:
    """In a topic pattern ``#`` between words stands for any number of words, and a search may have to go back."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    # In a.b.x.b the first b must not end the match: # has to give way again.
    keys = ["a.b", "a.x.b", "a.b.x.b", "a.b.b", "a.b.x", "a", "b.a.b"]
    peer.claim("any number of words for #")
    return equals(peer, matches(peer, exchange, "a.#.b", keys), keys[:4], "keys that pass")


@case("exchange.topic.hash-alone", covers=["exchange/recommended-types"])
def topic_hash_alone(peer: Peer) -> Verdict:
    """The topic pattern ``#`` lets every key pass, the empty one too."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    keys = ["", "usd", "usd.stock", "usd.stock.db.x"]
    peer.claim("every key")
    return equals(peer, matches(peer, exchange, "#", keys), keys, "keys that pass")


@case("exchange.topic.both-wildcards", covers=["exchange/recommended-types"])
def topic_star_and_hash(peer: Peer) -> Verdict:
    """A topic pattern with both wildcards counts the words of each."""
    peer.open_channel()
    exchange = peer.exchange("topic")
    keys = ["usd.stock", "eur.stock.db", "eur.stock.db.x", "stock.nasdaq", "stock", "a.b.stock"]
    peer.claim("one word, stock, any number of words")
    return equals(peer, matches(peer, exchange, "*.stock.#", keys), keys[:3], "keys that pass")


@case("exchange.headers.all", covers=["exchange/recommended-types"])
def headers_all(peer: Peer) -> Verdict:
    """With ``x-match`` all, every field of the binding is in the headers with its value."""
    wanted = {"x-match": "all", "colour": "red", "shape": "round"}
    tried: list[dict[str, Any] | None] = [
        {"colour": "red", "shape": "round"},
        {"shape": "round", "size": "big", "colour": "red"},
        {"colour": "red"},
        {"colour": "red", "shape": "square"},
        {},
        None,
    ]
    return _matched(peer, wanted, tried, [True, True, False, False, False, False])


@case("exchange.headers.any", covers=["exchange/recommended-types"])
def headers_any(peer: Peer) -> Verdict:
    """With ``x-match`` any, one field of the binding in the headers is enough."""
    wanted = {"x-match": "any", "colour": "red", "shape": "round"}
    tried: list[dict[str, Any] | None] = [
        {"colour": "red", "shape": "round"},
        {"colour": "red"},
        {"colour": "blue", "shape": "round"},
        {"colour": "blue", "shape": "square"},
        {"size": "red"},
        None,
    ]
    return _matched(peer, wanted, tried, [True, True, True, False, False, False])


@case("exchange.headers.presence", covers=["exchange/recommended-types"])
def headers_without_value(peer: Peer) -> Verdict:
    """A field without a value in the binding asks for a header of that name, whatever it holds."""
    wanted = {"x-match": "all", "colour": None}
    tried: list[dict[str, Any] | None] = [{"colour": "red"}, {"colour": 7}, {"colours": "red"}, None]
    return _matched(peer, wanted, tried, [True, True, False, False])


@case("exchange.headers.values", covers=["exchange/recommended-types"])
def headers_values_of_several_types(peer: Peer) -> Verdict:
    """Headers that are numbers and booleans are compared by value, texts letter by letter."""
    wanted = {"x-match": "all", "count": 7, "done": True, "text": "Red"}
    tried: list[dict[str, Any] | None] = [
        {"count": 7, "done": True, "text": "Red"},
        {"count": 8, "done": True, "text": "Red"},
        {"count": 7, "done": False, "text": "Red"},
        {"count": 7, "done": True, "text": "red"},
    ]
    return _matched(peer, wanted, tried, [True, False, False, False])


@case("exchange.headers.reserved-fields", covers=["exchange/recommended-types"])
def headers_reserved_fields_are_ignored(peer: Peer) -> Verdict:
    """Fields of a binding that begin with ``x-`` do not take part in the match."""
    wanted = {"x-match": "all", "x-colour": "red", "shape": "round"}
    tried: list[dict[str, Any] | None] = [{"shape": "round"}, {"x-colour": "red"}]
    return _matched(peer, wanted, tried, [True, False])


@case("exchange.headers.any-key", covers=["exchange/recommended-types"])
def headers_ignore_keys(peer: Peer) -> Verdict:
    """A headers exchange does not look at routing keys."""
    peer.open_channel()
    exchange = peer.exchange("headers")
    queue = listening(peer, exchange, "red", {"x-match": "all", "shape": "round"})
    peer.claim("headers decide, keys do not")
    received = [
        reached(peer, [queue], key, exchange=exchange, properties={"headers": {"shape": shape}})
        for key, shape in (("blue", "round"), ("red", "square"))
    ]
    return equals(peer, received, [[1], [0]], "copies for fitting headers and for a fitting key")


# --- instances that are there from the start


@case("exchange.instances.direct", covers=["exchange/required-instances/direct"])
def amq_direct_is_there(peer: Peer) -> Verdict:
    """The exchange amq.direct is there and routes by equal keys."""
    peer.open_channel()
    key = peer.name("key")
    peer.claim("amq.direct routes by equal keys")
    queues = [listening(peer, "amq.direct", key), listening(peer, "amq.direct", f"{key}.not")]
    return equals(peer, reached(peer, queues, key, exchange="amq.direct"), [1, 0], "copies by queue")


@case("exchange.instances.nameless", covers=["exchange/required-instances/direct"])
def nameless_exchange_is_there(peer: Peer) -> Verdict:
    """A message that is published without the name of an exchange is routed by equal keys."""
    peer.open_channel()
    queues = [listening(peer), listening(peer)]
    peer.claim("the nameless exchange routes by equal keys")
    return equals(peer, reached(peer, queues, queues[1]), [0, 1], "copies by queue")


@case("exchange.instances.fanout", covers=["exchange/required-instances/amq-type"])
def amq_fanout_is_there(peer: Peer) -> Verdict:
    """The exchange amq.fanout is there and routes without regard to keys."""
    peer.open_channel()
    peer.claim("amq.fanout routes to every queue")
    queues = [listening(peer, "amq.fanout", "red"), listening(peer, "amq.fanout"), listening(peer)]
    return equals(peer, reached(peer, queues, "blue", exchange="amq.fanout"), [1, 1, 0], "copies by queue")


@case("exchange.instances.topic", covers=["exchange/required-instances/amq-type"])
def amq_topic_is_there(peer: Peer) -> Verdict:
    """Where topic exchanges are implemented, amq.topic is there and routes by patterns."""
    peer.open_channel()
    peer.exchange("topic")
    # A case's own names contain periods, which would make several words of one.
    word = "".join(filter(str.isalnum, peer.name("word")))
    peer.claim("amq.topic routes by patterns")
    queue = listening(peer, "amq.topic", f"{word}.*")
    keys = (f"{word}.x", f"{word}.x.y", f"x.{word}")
    received = [reached(peer, [queue], key, exchange="amq.topic") for key in keys]
    return equals(peer, received, [[1], [0], [0]], "copies for a key that fits, a longer one, another order:")


@case("exchange.instances.headers", covers=["exchange/required-instances/amq-type"])
def headers_instance_is_there(peer: Peer) -> Verdict:
    """Where headers exchanges are implemented, one is there from the start and routes by headers."""
    peer.open_channel()
    peer.exchange("headers")
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


@case(
    "exchange.instances.every-vhost",
    covers=["exchange/required-instances/amq-type", "exchange/required-instances/direct"],
    hooks=["second-vhost"],
)
def instances_in_another_vhost(peer: Peer) -> Verdict:
    """Another virtual host has the standard exchanges too, those of optional types where the first one has them."""
    peer.open_channel()
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


@case("exchange.default.by-queue-name", covers=["exchange/default-exchange"])
def default_exchange_routes_by_queue_name(peer: Peer) -> Verdict:
    """Each queue is bound to the default exchange by its name without being asked."""
    peer.open_channel()
    queues = [listening(peer) for _ in range(3)]
    peer.claim("each queue gets what carries its name as the routing key")
    received = [reached(peer, queues, queue) for queue in queues]
    return equals(peer, received, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "copies by key and queue")


@case("exchange.default.by-exact-name", covers=["exchange/default-exchange"])
def default_exchange_routes_no_other_name(peer: Peer) -> Verdict:
    """The default exchange takes a routing key for a queue name as it is, no part or pattern of it."""
    peer.open_channel()
    queue = listening(peer)
    keys = [queue, queue[:-1], f"{queue}x", queue.upper(), "#", "*", ""]
    peer.claim("the very name and nothing else reaches the queue")
    received = [reached(peer, [queue], key)[0] for key in keys]
    return equals(peer, received, [1, 0, 0, 0, 0, 0, 0], "copies by key")


@case("exchange.default.declare", covers=["exchange/default-access"])
def default_exchange_cannot_be_declared(peer: Peer) -> Verdict:
    """The default exchange cannot be declared."""
    peer.open_channel()
    peer.send("exchange.declare", exchange="", type="direct", durable=True)
    return rejects_violation(peer)


@case("exchange.default.declare-passively", covers=["exchange/default-access"])
def default_exchange_cannot_be_asked_for(peer: Peer) -> Verdict:
    """The default exchange cannot be declared passively."""
    peer.open_channel()
    peer.send("exchange.declare", exchange="", type="direct", passive=True)
    return rejects_violation(peer)


@case("exchange.default.delete", covers=["exchange/default-access"])
def default_exchange_cannot_be_deleted(peer: Peer) -> Verdict:
    """The default exchange cannot be deleted."""
    peer.open_channel()
    peer.send("exchange.delete", exchange="")
    return rejects_violation(peer)


# --- steps


def _type_of(name: str) -> str:
    """The type of a standard exchange by its name."""
    return "headers" if name in _HEADERS_EXCHANGES else name.removeprefix("amq.")


def _matched(
    peer: Peer, wanted: dict[str, Any], tried: list[dict[str, Any] | None], expected: list[bool]
) -> Verdict:
    """Bind a queue to a headers exchange and publish with each of the headers (None: without the property)."""
    peer.open_channel()
    peer.claim(f"a headers exchange routes by the arguments {wanted}")
    exchange = peer.exchange("headers")
    queue = listening(peer, exchange, arguments=wanted)
    properties = [{} if headers is None else {"headers": headers} for headers in tried]
    received = [reached(peer, [queue], exchange=exchange, properties=p) == [1] for p in properties]
    return equals(peer, received, expected, f"matches of {tried}:")
