"""Messages of AMQP 1.0 bent: order of sections, forms of descriptors, what a conversion makes of them, selectors.

Knows: sections. Must not know: sessions, windows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

from amqpspec.fuzz.amqp_1_0.grammar import MAKER
from amqpspec.fuzz.amqp_1_0.kit import MESSAGE, attach, has_link, may, say, transfer
from amqpspec.fuzz.families.base import Bend, Location
from amqpspec.fuzz.families.material import packed
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import octets_of
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.wire.amqp_1_0.message import encode_message, encode_section
from amqpspec.wire.amqp_1_0.values import Described, Symbol
from amqpspec.wire.amqp_1_0.writing import encode
from amqpspec.wire.values import Raw

_CODINGS = ("gzip", "deflate", "br", "zstd", "identity", "compress", "gzip,gzip", "")
_PROPERTIES = (
    "JMSXGroupID",
    "JMSXDeliveryCount",
    "_AMQ_DUPL_ID",
    "_AMQ_SCHED_DELIVERY",
    "x-opt-delivery-delay",
    "NULL",
    "",
)


def messages(_: str, state: State) -> Iterator[Location]:
    """Sections and descriptors."""
    if has_link(state):
        yield Location("section.order", _orders)
        yield Location("section.descriptor", _descriptors)
        yield Location("section.type", _types)
        yield Location("content.coding", _coded)
        yield Location("content.property", _properties)
        yield Location("content.conversion", _conversions)
    if state.next and may(state, "attach"):
        yield Location("descriptor.form", _forms, ("framing/performative",))


def _sections() -> dict[str, bytes]:
    return {row.name: octets_of(MAKER.section(row)) for row in DIALECT.sections}


def _orders() -> Iterator[Bend]:
    """Every pair and many triples of sections, each alone, each twice."""
    parts = _sections()
    for count in (0, 1, 2, 3):
        for chosen in product(parts, repeat=count) if count < 3 else permutations(parts, 3):
            payload = b"".join(parts[name] for name in chosen)
            yield Bend(f"sections {', '.join(chosen) or 'none'}", (transfer(0, payload),))
    for name, octets in parts.items():
        yield Bend(f"256 times {name}", (transfer(0, octets * 256),))


def descriptor_forms(symbol: str, code: int) -> dict[str, bytes]:
    """A descriptor in every form that it has, and in some that it has not."""
    return {
        "smallulong": b"\x53" + bytes((code,)),
        "ulong": b"\x80" + code.to_bytes(8, "big"),
        "symbol": encode(Symbol(symbol)),
        "sym32": b"\xb3" + len(symbol).to_bytes(4, "big") + symbol.encode(),
        "string": encode(symbol),
        "uint": b"\x52" + bytes((code,)),
        "ubyte": b"\x50" + bytes((code,)),
        "null": b"\x40",
        "ulong of another domain": b"\x80" + (1 << 32 | code).to_bytes(8, "big"),
        "top ulong": b"\x80" + b"\xff" * 8,
        "unknown symbol": encode(Symbol(f"{symbol}-x")),
        "symbol in capitals": encode(Symbol(symbol.upper())),
        "empty symbol": encode(Symbol("")),
        "list": b"\x45",
        "described": encode(Described(Symbol(symbol), code)),
    }


def _descriptors() -> Iterator[Bend]:
    for row in DIALECT.sections:
        plain = octets_of(MAKER.section(row))[3:]
        rest = b"" if row.name in ("data", "amqp-sequence", "amqp-value") else MESSAGE
        for words, descriptor in descriptor_forms(row.symbol, row.code or 0).items():
            yield Bend(f"{row.name} described by {words}", (transfer(0, b"\0" + descriptor + plain + rest),))


def _forms() -> Iterator[Bend]:
    """Performatives and what they hold with descriptors in other forms."""
    for name in ("begin", "attach", "flow", "end", "source", "target"):
        row = DIALECT.composites[name]
        for words, descriptor in descriptor_forms(row.symbol, row.code).items():
            if row.name in ("source", "target"):
                octets = attach("amqpspec-fuzz-new", 7, **_one(row.name, Raw(b"\0" + descriptor + b"\x45")))
            else:
                octets = say(row.name, descriptor=Raw(descriptor), **_mandatory(row.name))
            yield Bend(f"{row.name} described by {words}", (octets,))


def _one(name: str, value: Any) -> dict[str, Any]:
    return {name: value}


def _mandatory(name: str) -> dict[str, Any]:
    windows = {"incoming_window": 1, "next_outgoing_id": 0, "outgoing_window": 1}
    link = {"name": "amqpspec-fuzz-new", "handle": 7, "role": "receiver"}
    fields: dict[str, dict[str, Any]] = {"begin": windows, "flow": windows, "attach": link, "end": {}}
    return fields[name]


def _types() -> Iterator[Bend]:
    """Each section with a value of each type in place of its own."""
    values = {e.name: octets_of(MAKER.example(e)) for e in DIALECT.encodings.values()}
    for row in DIALECT.sections:
        rest = b"" if row.name in ("data", "amqp-sequence", "amqp-value") else MESSAGE
        for name, octets in values.items():
            payload = b"\0\x53" + bytes((row.code or 0,)) + octets + rest
            yield Bend(f"{row.name} of {name}", (transfer(0, payload),))


def _coded() -> Iterator[Bend]:
    bomb = packed(b"\0" * (1 << 22))
    bodies = {
        "packed": packed(b"amqpspec"),
        "4 MiB of zeros packed": bomb,
        "packed twice": packed(bomb),
        "plain": b"x",
    }
    for coding in _CODINGS:
        for words, body in bodies.items():
            payload = encode_message(properties={"content_encoding": coding}, data=body)
            yield Bend(f"content-encoding {coding!r}, body {words}", (transfer(0, payload),))


def _properties() -> Iterator[Bend]:
    """Fields of properties and header with boundary values, and invalid texts."""
    for words, text in TEXTS:
        odd = text.decode("utf-8", "surrogateescape")
        for field in ("to", "subject", "reply_to", "group_id", "message_id", "correlation_id"):
            payload = encode_message(properties={field: odd}, data=b"x")
            yield Bend(f"{field}: {words}", (transfer(0, payload),))
    for number in (0, 1, (1 << 63) - 1, -1, -(1 << 63)):
        for field in ("absolute_expiry_time", "creation_time"):
            yield Bend(
                f"{field} {number}", (transfer(0, encode_message(properties={field: number}, data=b"x")),)
            )
    for field, top in (("priority", 255), ("ttl", (1 << 32) - 1), ("delivery_count", (1 << 32) - 1)):
        for value in (0, 1, top):
            yield Bend(f"{field} {value}", (transfer(0, encode_message(header={field: value}, data=b"x")),))


def _conversions() -> Iterator[Bend]:
    """Annotations and properties of every type, which another dialect has to have a place for."""
    for encoding in DIALECT.encodings.values():
        value = Raw(octets_of(MAKER.example(encoding)))
        for name in _PROPERTIES:
            yield Bend(
                f"application property {name!r} as {encoding.name}",
                (transfer(0, encode_message(application_properties={name: value}, data=b"x")),),
            )
        sections = encode_section("message-annotations", {Symbol("x-opt-fuzz"): value}) + MESSAGE
        yield Bend(f"message annotation as {encoding.name}", (transfer(0, sections),))
        sections = encode_section("footer", {Symbol("x-opt-fuzz"): value})
        yield Bend(f"footer as {encoding.name}", (transfer(0, MESSAGE + sections),))


# --- C14

_SELECTORS = (
    "TRUE", "a LIKE '" + "%a" * 64 + "'", "a LIKE '" + "%_" * 100 + "b'", "(" * 500 + "TRUE" + ")" * 500,
    "NOT " * 1000 + "TRUE", " OR ".join(["a = 1"] * 1000), " AND ".join(["a <> 'b'"] * 1000), "1 + " * 1000 + "1 = 1",
    "a IN (" + ",".join("'x'" for _ in range(1000)) + ")", "a = '" + "x" * 20_000 + "'", "a BETWEEN 1 AND", "'", "--",
    "", "-" * 1001 + "1 = 1", "a LIKE 'x' ESCAPE 'xx'", "9" * 400 + " = 1", "1e999999 = a", "XPATH '//a'",
    "REGEX '(a+)+$'",
)  # fmt: skip


def selectors(_: str, state: State) -> Iterator[Location]:
    """Filters that are dear to evaluate."""
    if may(state, "attach"):
        yield Location("filter.selector", _selectors)
        yield Location("filter.count", _filters)


def _selectors() -> Iterator[Bend]:
    for selector in _SELECTORS:
        for descriptor in (Symbol("apache.org:selector-filter:string"), 0x0000468C00000004):
            value = Described(descriptor, selector)
            for key in ("selector", "apache.org:selector-filter:string"):
                source = {"address": "amqpspec.fuzz.q", "filter": {Symbol(key): value}}
                sent = attach("amqpspec-fuzz-new", 7, "receiver", source=source)
                yield Bend(f"selector {selector[:40]!r} of {len(selector)}", (sent,))


def _filters() -> Iterator[Bend]:
    for count in (1, 64, 512):
        value = Described(Symbol("apache.org:selector-filter:string"), "a = 1")
        filters = {Symbol(f"f{number}"): value for number in range(count)}
        source = {"address": "amqpspec.fuzz.q", "filter": filters}
        yield Bend(f"{count} filters", (attach("amqpspec-fuzz-new", 7, "receiver", source=source),))
        for pattern in ("#.#.#.#", "*.#.*.#", ".".join(["#"] * 64)):
            topic = Described(Symbol("apache.org:legacy-amqp-topic-binding:string"), pattern)
            source = {"address": "amqpspec.fuzz.q", "filter": {Symbol(f"t{n}"): topic for n in range(count)}}
            yield Bend(
                f"{count} bindings {pattern[:20]}",
                (attach("amqpspec-fuzz-new", 7, "receiver", source=source),),
            )
