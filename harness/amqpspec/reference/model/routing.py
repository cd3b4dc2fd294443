"""Which bindings match a message: direct, fanout, topic, headers.

Knows: the four algorithms. Must not know: queues, exchanges, who is bound to what.
Topic patterns cost at most words of the key times words of the pattern, whatever the pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model.values import canonical

Headers = Mapping[str, Any]
Matcher = Callable[[str, Headers, str, Headers, Deviations], bool]


def direct(pattern: str, arguments: Headers, key: str, headers: Headers, on: Deviations) -> bool:
    """The keys are equal."""
    if on.faulty("direct-ignores-keys"):
        return True
    if on.faulty("direct-matches-prefix"):
        return key.startswith(pattern)
    if on.faulty("direct-ignores-case"):
        return key.lower() == pattern.lower()
    return key == pattern


def fanout(pattern: str, arguments: Headers, key: str, headers: Headers, on: Deviations) -> bool:
    """Always."""
    return key == pattern if on.faulty("fanout-looks-at-key") else True


def topic(pattern: str, arguments: Headers, key: str, headers: Headers, on: Deviations) -> bool:
    """Word by word: ``*`` is one word, ``#`` any number of words."""
    if on.faulty("topic-ignores-case"):
        pattern, key = pattern.lower(), key.lower()
    words = key.split(".") if key else []
    patterns = pattern.split(".") if pattern else []
    if on.faulty("topic-hash-needs-a-word"):
        patterns = [p for word in patterns for p in (("*", "#") if word == "#" else (word,))]
    if on.faulty("topic-star-is-hash"):
        patterns = ["#" if word == "*" else word for word in patterns]
    return _topic(patterns, words)


def _topic(patterns: list[str], words: list[str]) -> bool:
    reachable = {0}
    for pattern in patterns:
        if pattern == "#":
            reachable = set(range(min(reachable), len(words) + 1))
        else:
            reachable = {at + 1 for at in reachable if at < len(words) and pattern in ("*", words[at])}
        if not reachable:
            return False
    return len(words) in reachable


def by_headers(pattern: str, arguments: Headers, key: str, headers: Headers, on: Deviations) -> bool:
    """The named fields are there, with the values given; ``x-match`` says whether all or any must be."""
    wanted = {name: value for name, value in arguments.items() if not name.startswith("x-")}
    if on.faulty("headers-reserved-fields-compared"):
        wanted = {name: value for name, value in arguments.items() if name != "x-match"}
    if on.faulty("headers-look-at-keys") and pattern != key:
        return False
    some = canonical(arguments.get("x-match", "all")) == canonical("any")
    if on.faulty("headers-all-any-swapped"):
        some = not some
    if on.faulty("headers-value-ignored"):
        wanted = dict.fromkeys(wanted)
    if not wanted:
        return True
    matches = (_field_matches(name, value, headers, on) for name, value in wanted.items())
    return any(matches) if some else all(matches)


def _field_matches(name: str, value: Any, headers: Headers, on: Deviations) -> bool:
    if name not in headers:
        return False
    if value is None and not on.faulty("headers-void-means-void"):
        return True
    if on.faulty("headers-lists-not-compared") and isinstance(value, list):
        return True
    return canonical(headers[name]) == canonical(value)


MATCHERS: Mapping[str, Matcher] = {"direct": direct, "fanout": fanout, "topic": topic, "headers": by_headers}


FAULTS = fault_table("""
direct-matches-prefix: a direct exchange takes a key that begins like the binding's [exchange/required-types
    exchange/default-exchange exchange/required-instances/direct queue/bind/routing-key/direct-exchange-key-matching]
direct-ignores-case: a direct exchange takes capital for small letters [exchange/required-types
    exchange/default-exchange exchange/required-instances/direct queue/bind/routing-key/direct-exchange-key-matching]
direct-ignores-keys: a direct exchange passes everything to every queue [exchange/required-types
    exchange/default-exchange exchange/required-instances/direct queue/bind/routing-key/direct-exchange-key-matching]
fanout-looks-at-key: a fanout exchange wants equal keys [exchange/required-types]
topic-hash-needs-a-word: in a topic pattern, # matches one word or more [wire/exchange/topic]
topic-ignores-case: a topic exchange takes capital for small letters [wire/exchange/topic]
topic-star-is-hash: in a topic pattern, * matches any number of words [wire/exchange/topic]
headers-all-any-swapped: x-match all is read as any, and any as all [wire/exchange/headers]
headers-value-ignored: a headers exchange looks at names and not at values [wire/exchange/headers]
headers-lists-not-compared: any list fits any list [wire/exchange/headers]
headers-void-means-void: a field without a value requires a header without one [wire/exchange/headers]
headers-reserved-fields-compared: fields that begin with x- take part in the match [wire/exchange/headers]
headers-look-at-keys: a headers exchange wants equal keys too [wire/exchange/headers]
""")
