"""Texts and tables of AMQP/Fast bent: names that a target may keep, tags, selectors.

Knows: where texts and tables stand. Must not know: what a target makes of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from amqpspec.fuzz.amqp_fast_0_8.grammar import TABLE
from amqpspec.fuzz.amqp_fast_0_8.kit import fragment, may, say, send
from amqpspec.fuzz.families.base import Bend, Location, each, in_names
from amqpspec.fuzz.families.material import NAME_COUNTS
from amqpspec.fuzz.families.tables import VALUES, TableForm, odd_tables, table_locations
from amqpspec.fuzz.states.model import State
from amqpspec.wire.amqp_fast_0_8.malformed import counted, table_field
from amqpspec.wire.amqp_fast_0_8.message import encode_message
from amqpspec.wire.values import Raw

_MAX_OCTETS = 60_000
_FORM = TableForm(
    TABLE,
    lambda fields: bytes(counted("table", fields)),
    lambda name, tag, value: bytes(table_field(name, tag, value)),
    ord("S"),
    lambda text: bytes(counted("longstr", text)),
    most_octets=_MAX_OCTETS,
)
_HEADERS = ("tables/layout", "tables/types", "tables/names")


def tables(dialect_id: str, state: State) -> Iterator[Location]:
    """Invalid tables; those in the heads of messages, which a target may read late."""
    yield from table_locations(_FORM, dialect_id, state)
    if state.name == "consuming":
        yield Location("headers.delivered", _delivered, _HEADERS)


def _delivered() -> Iterator[Bend]:
    for words, octets in odd_tables(_FORM, VALUES[:6]):
        yield Bend(f"headers {words}", (send(headers=Raw(octets)),))


# --- C6


def interning(_: str, state: State) -> Iterator[Location]:
    """Names of every kind, many of each."""
    yield from in_names(_NAMED, partial(may, state), NAME_COUNTS)


def _keys(texts: list[str]) -> dict[str, str]:
    return dict.fromkeys(texts, "v")


def _parts(texts: list[str]) -> Iterator[dict[str, str]]:
    """Tables of 64 names each."""
    return (_keys(texts[at : at + 64]) for at in range(0, len(texts), 64))


def _options(texts: list[str]) -> bytes:
    return b"".join(say("handle.open", handle_id=9, options=part) for part in _parts(texts))


def _headers(texts: list[str]) -> bytes:
    return b"".join(send(b"", headers=part) for part in _parts(texts))


def _mechanisms(texts: list[str]) -> bytes:
    return b"".join(
        say("connection.response", mechanism=text, responses=_keys(texts[:64])) for text in texts[:64]
    )


def _alias(text: str) -> bytes:
    return say("connection.tune", dictionary={text: "Expiration-Time"})


def _client(text: str) -> bytes:
    return say("connection.open", virtual_path="/", client_name=text)


_NAMED: dict[str, tuple[str, Callable[[list[str]], bytes]]] = {
    "name.mechanism": ("connection.response", _mechanisms),
    "name.alias": ("connection.tune", each(_alias)),
    "name.client": ("connection.open", each(_client)),
    "name.option": ("handle.open", _options),
    "name.destination": ("handle.send", each(lambda text: send(b"", name=text))),
    "name.topic": ("handle.consume", each(lambda text: say("handle.consume", dest_name=text))),
    "name.queue": ("handle.query", each(lambda text: say("handle.query", dest_name=text))),
    "name.header": ("handle.send", _headers),
    "name.identifier": ("handle.send", each(lambda text: send(b"", identifier=text, mime_type=text))),
}

# --- C14

_SELECTORS = (
    "a = 1", "a = 1 AND " * 200 + "a = 1", "(" * 1000 + "a = 1" + ")" * 1000, "NOT " * 1000 + "a = 1",
    "a LIKE '" + "%_" * 500 + "'", "a LIKE '" + "%" * 2000 + "b'", "a IN (" + ",".join(["'x'"] * 1000) + ")",
    "a = '" + "x" * 20_000 + "'", "'", "--", "*", "#.#.#.#", "[a-", "(a+)+$", "9" * 400 + " = 1", "\0", "-",
)  # fmt: skip
_TOPICS = ("#", "*", "#.#", "*.#.*.#", ".", "..", "." * 255, "#" * 255, "*" * 255, "a.#.b", ".".join(["#"] * 64),
           ".".join(["*"] * 127), "", "/", "//", "a" * 255)  # fmt: skip


def selectors(_: str, state: State) -> Iterator[Location]:
    """Selectors that are dear to evaluate; topics that read like patterns."""
    if may(state, "handle.consume"):
        yield Location("selector.query", _queries)
        yield Location("selector.consume", _selected)
        yield Location("topic.pattern", _patterns)


def _queries() -> Iterator[Bend]:
    for selector in _SELECTORS:
        for name in ("amqpspec.fuzz.q", ""):
            query = say("handle.query", dest_name=name, selector=selector.encode())
            yield Bend(f"QUERY {name!r}, selector {selector[:40]!r} of {len(selector)}", (query,))


def _selected() -> Iterator[Bend]:
    """Readers that choose by headers, and a message for all of them."""
    for count in (1, 64, 512):
        for wanted in ({f"H{n}": "v" for n in range(count)}, [("H", "v")] * count, {"H": "x" * 40 * count}):
            consume = say("handle.consume", selector=wanted)
            for given in (wanted, {"H": "v"}, {}):
                yield Bend(
                    f"{count} fields to choose by", (consume + fragment(encode_message(b"x", headers=given)),)
                )


def _patterns() -> Iterator[Bend]:
    for pattern in _TOPICS:
        consume = say("handle.consume", dest_name=pattern)
        for name in ("a", pattern, ".".join("a" * 127)):
            yield Bend(f"topic {pattern[:40]!r}, message to {name[:20]!r}", (consume, send(name=name) * 4))
    for count in (8, 64, 256):
        yield Bend(f"{count} readers of a topic", (say("handle.consume") * count, send() * 4))
