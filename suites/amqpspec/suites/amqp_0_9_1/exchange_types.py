"""Exchanges: the types topic and headers, and how they route (amqp-0-9-1 class exchange, PDF §3.1.3)."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel
from amqpspec.suites.amqp_0_9_1._routes import listening, optional_exchange, reached


@case("exchange.types.topic", covers=["exchange/recommended-types"])
def topic_exists(peer: Peer) -> Verdict:
    """The server supports the exchange type topic."""
    return _declares(peer, "topic")


@case("exchange.types.headers", covers=["exchange/recommended-types"])
def headers_exists(peer: Peer) -> Verdict:
    """The server supports the exchange type headers."""
    return _declares(peer, "headers")


@on_channel("exchange.topic.literal", covers=["wire/exchange/topic"])
def topic_without_wildcards(peer: Peer) -> Verdict:
    """A topic pattern without wildcards matches only the equal key."""
    others = ["usd", "stock", "usd.stock.db", "USD.stock", ""]
    return _passes(peer, "usd.stock", ["usd.stock"], others, "a topic exchange routes an equal key")


@on_channel("exchange.topic.star", covers=["wire/exchange/topic"])
def topic_star_is_one_word(peer: Peer) -> Verdict:
    """In a topic pattern, ``*`` matches exactly one word."""
    passing = ["usd.stock", "eur.stock"]
    return _passes(
        peer, "*.stock", passing, ["stock", "usd.nyse.stock", "usd.bond", ""], "exactly one word for *"
    )


@on_channel("exchange.topic.star-alone", covers=["wire/exchange/topic"])
def topic_star_alone(peer: Peer) -> Verdict:
    """The topic pattern ``*`` matches keys of one word, but not longer keys or the empty key."""
    return _passes(peer, "*", ["usd", "eur"], ["usd.stock", ""], "keys of one word")


@on_channel("exchange.topic.hash-at-the-end", covers=["wire/exchange/topic"])
def topic_hash_at_the_end(peer: Peer) -> Verdict:
    """In a topic pattern, ``#`` at the end matches zero or more words."""
    passing = ["stock", "stock.usd", "stock.usd.nyse"]
    return _passes(peer, "stock.#", passing, ["bond.stock", "stocks"], "any number of words for #")


@on_channel("exchange.topic.hash-at-the-start", covers=["wire/exchange/topic"])
def topic_hash_at_the_start(peer: Peer) -> Verdict:
    """In a topic pattern, ``#`` at the start matches zero or more words."""
    passing = ["stock", "usd.stock", "nyse.usd.stock"]
    return _passes(peer, "#.stock", passing, ["stock.usd", "usd"], "any number of words for #")


@on_channel("exchange.topic.hash-in-the-middle", covers=["wire/exchange/topic"])
def topic_hash_in_the_middle(peer: Peer) -> Verdict:
    """In a topic pattern, ``#`` between words matches zero or more words, even if that needs backtracking."""
    # In a.b.x.b the first b must not end the match: # has to give way again.
    passing = ["a.b", "a.x.b", "a.b.x.b", "a.b.b"]
    return _passes(peer, "a.#.b", passing, ["a.b.x", "a", "b.a.b"], "any number of words for #")


@on_channel("exchange.topic.hash-alone", covers=["wire/exchange/topic"])
def topic_hash_alone(peer: Peer) -> Verdict:
    """The topic pattern ``#`` matches every key, including the empty one."""
    passing = ["", "usd", "usd.stock", "usd.stock.db.x"]
    return _passes(peer, "#", passing, [], "every key")


@on_channel("exchange.topic.both-wildcards", covers=["wire/exchange/topic"])
def topic_star_and_hash(peer: Peer) -> Verdict:
    """A topic pattern with both wildcards matches the number of words that each allows."""
    passing = ["usd.stock", "eur.stock.db", "eur.stock.db.x"]
    others = ["stock.nasdaq", "stock", "a.b.stock"]
    return _passes(peer, "*.stock.#", passing, others, "one word, stock, any number of words")


@case("exchange.headers.all", covers=["wire/exchange/headers"])
def headers_all(peer: Peer) -> Verdict:
    """With ``x-match`` all, a message matches if its headers contain every field of the binding with its value."""
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


@case("exchange.headers.any", covers=["wire/exchange/headers"])
def headers_any(peer: Peer) -> Verdict:
    """With ``x-match`` any, a message matches if its headers contain one field of the binding."""
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


@on_channel("exchange.headers.without-x-match", covers=["wire/exchange/headers"])
def headers_without_x_match(peer: Peer) -> Verdict:
    """A binding without ``x-match`` is treated as all or as any; no text specifies which."""
    exchange = optional_exchange(peer, "headers")
    queue = listening(peer, exchange, arguments={"colour": "red", "shape": "round"})
    peer.claim("a binding that wants all of its fields, or any of them")
    both = {"colour": "red", "shape": "round"}
    tried: list[dict[str, Any]] = [both, {"colour": "red"}, {"colour": "blue", "shape": "round"}, {}]
    passed = [reached(peer, [queue], exchange=exchange, properties={"headers": h}) == [1] for h in tried]
    ways = {"all": [True, False, False, False], "any": [True, True, True, False]}
    for way, expected in ways.items():
        if passed == expected:
            return observed_either_way(peer, f"it is treated as {way}")
    return equals(peer, passed, ways["all"], f"matches of {tried}:")


@on_channel("exchange.headers.several-bindings", covers=["wire/exchange/headers"])
def headers_of_several_bindings(peer: Peer) -> Verdict:
    """A headers exchange evaluates each binding separately, whether of the same queue or of another."""
    exchange = optional_exchange(peer, "headers")
    round_or_red = listening(peer, exchange, arguments={"x-match": "all", "colour": "red"})
    also = {"x-match": "all", "shape": "round"}
    peer.call("queue.bind", queue=round_or_red, exchange=exchange, arguments=also)
    queues = [
        round_or_red,
        listening(peer, exchange, arguments={"x-match": "any", "colour": "red", "size": "big"}),
    ]
    peer.claim("each queue gets what one of its bindings fits, once")
    tried = (
        {"colour": "red"},
        {"shape": "round"},
        {"colour": "red", "shape": "round"},
        {"size": "big"},
        {"size": "red"},
    )
    received = [reached(peer, queues, exchange=exchange, properties={"headers": h}) for h in tried]
    return equals(peer, received, [[1, 1], [1, 0], [1, 1], [0, 1], [0, 0]], "copies by headers and queue")


@case("exchange.headers.presence", covers=["wire/exchange/headers"])
def headers_without_value(peer: Peer) -> Verdict:
    """A field without a value in the binding matches any header of that name."""
    wanted = {"x-match": "all", "colour": None}
    tried: list[dict[str, Any] | None] = [{"colour": "red"}, {"colour": 7}, {"colours": "red"}, None]
    return _matched(peer, wanted, tried, [True, True, False, False])


@case("exchange.headers.values", covers=["wire/exchange/headers"])
def headers_values_of_several_types(peer: Peer) -> Verdict:
    """A headers exchange compares numbers and booleans by value, and strings character by character."""
    wanted = {"x-match": "all", "count": 7, "done": True, "text": "Red"}
    tried: list[dict[str, Any] | None] = [
        {"count": 7, "done": True, "text": "Red"},
        {"count": 8, "done": True, "text": "Red"},
        {"count": 7, "done": False, "text": "Red"},
        {"count": 7, "done": True, "text": "red"},
    ]
    # Whether the integer 1 equals true is not tried: the text does not say what equal means between types.
    return _matched(peer, wanted, tried, [True, False, False, False])


@case("exchange.headers.lists", covers=["wire/exchange/headers"])
def headers_that_are_lists(peer: Peer) -> Verdict:
    """A headers exchange compares lists item by item."""
    wanted = {"x-match": "all", "sizes": [1, 2]}
    tried: list[dict[str, Any] | None] = [
        {"sizes": [1, 2]},
        {"sizes": [1, 3]},
        {"sizes": [1]},
        {"sizes": [2, 1]},
    ]
    return _matched(peer, wanted, tried, [True, False, False, False])


@case("exchange.headers.reserved-fields", covers=["wire/exchange/headers"])
def headers_reserved_fields_are_ignored(peer: Peer) -> Verdict:
    """Fields of a binding that begin with ``x-`` are not part of the match."""
    wanted = {"x-match": "all", "x-colour": "red", "shape": "round"}
    tried: list[dict[str, Any] | None] = [{"shape": "round"}, {"x-colour": "red"}]
    return _matched(peer, wanted, tried, [True, False])


@on_channel("exchange.headers.any-key", covers=["wire/exchange/headers"])
def headers_ignore_keys(peer: Peer) -> Verdict:
    """A headers exchange ignores routing keys."""
    exchange = optional_exchange(peer, "headers")
    queue = listening(peer, exchange, "red", {"x-match": "all", "shape": "round"})
    peer.claim("headers decide, keys do not")
    received = [
        reached(peer, [queue], key, exchange=exchange, properties={"headers": {"shape": shape}})
        for key, shape in (("blue", "round"), ("red", "square"))
    ]
    return equals(peer, received, [[1], [0]], "copies for fitting headers and for a fitting key")


# --- steps


def _declares(peer: Peer, type: str) -> Verdict:
    """An exchange of an optional type can be declared."""
    peer.open_channel()
    peer.send("exchange.declare", exchange=peer.will_clean("exchange", peer.name("x")), type=type)
    answer = peer.arrival("exchange.declare-ok")
    there = isinstance(answer, MethodArrived) and answer.refusal is None
    return holds(peer, there, answer, f"an exchange of type {type}")


def _passes(peer: Peer, pattern: str, passing: list[str], others: list[str], claim: str) -> Verdict:
    """Of these keys, just the passing ones take a message through a topic exchange to a queue bound with a pattern."""
    exchange = optional_exchange(peer, "topic")
    peer.claim(claim)
    queue = listening(peer, exchange, pattern)
    passed = [key for key in [*passing, *others] if reached(peer, [queue], key, exchange=exchange) == [1]]
    return equals(peer, passed, passing, "keys that pass")


def _matched(
    peer: Peer, wanted: dict[str, Any], tried: list[dict[str, Any] | None], expected: list[bool]
) -> Verdict:
    """Bind a queue to a headers exchange and publish with each of the headers (None: without the property)."""
    peer.open_channel()
    exchange = optional_exchange(peer, "headers")
    peer.claim(f"a headers exchange routes by the arguments {wanted}")
    queue = listening(peer, exchange, arguments=wanted)
    properties = [{} if headers is None else {"headers": headers} for headers in tried]
    received = [reached(peer, [queue], exchange=exchange, properties=p) == [1] for p in properties]
    return equals(peer, received, expected, f"matches of {tried}:")
