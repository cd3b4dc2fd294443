"""C11: tags of values, and the encoding of texts.

Knows: what stands behind a tag, and which octets are no text. Must not know: which tags a target has.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, bend, next_productions
from amqpspec.fuzz.families.texts import TOUCHES
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.methods.grammar import BODY
from amqpspec.fuzz.methods.kit import kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Node, Place, edited, octets_of, walk
from amqpspec.fuzz.trees.values import LONG_TEXTS, TEXTS
from amqpspec.wire.methods.malformed import table as raw_table
from amqpspec.wire.methods.malformed import table_field

_VALUES = (
    b"", b"\0", b"\1", b"\xff", b"\0\0", b"\0\0\0\0", b"\0\0\0\1a", b"\0\0\0\4abcd", b"\x7f\xff\xff\xff",
    b"\xff" * 4, b"\0" * 5, b"\0" * 8, b"\x7f\xf0" + b"\0" * 6, b"\xff" * 8, b"\0" * 16,
)  # fmt: skip


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    tables = [
        (production.tree, place)
        for production in next_productions(dialect_id, state)
        for place in walk(production.tree)
        if place.node.kind == "table"
    ][:2]
    if state.name == "consuming":
        yield Location("headers.delivered", lambda: _delivered(dialect_id), TOUCHES)
    if tables:
        yield Location("table.tag", lambda: _tags(tables), TOUCHES)
        yield Location("table.name", lambda: _names(tables), TOUCHES)
        yield Location("table.shape", lambda: _shapes(tables), TOUCHES)


def _tags(tables: list[tuple[Node, Place]]) -> Iterator[Bend]:
    """Every tag before values of every width."""
    root, place = tables[0]
    for tag in range(256):
        for value in _VALUES:
            octets = bytes(raw_table(bytes(table_field(b"k", tag, value))))
            yield bend(f"tag 0x{tag:02x} before {value.hex() or 'nothing'}", edited(root, place.way, octets))


def _names(tables: list[tuple[Node, Place]]) -> Iterator[Bend]:
    for root, place in tables:
        for words, name in (
            *TEXTS,
            ("digit first", b"1a"),
            ("no letter", b"-"),
            ("dollar", b"$a"),
            ("hash", b"#a"),
        ):
            octets = bytes(raw_table(bytes(table_field(name, "S", b"\0\0\0\1v"))))
            yield bend(f"{place.path} name: {words}", edited(root, place.way, octets))
        for count in (2, 3, 64):
            field = bytes(table_field(b"k", "S", b"\0\0\0\1v"))
            yield bend(
                f"{place.path}: {count} equal names", edited(root, place.way, bytes(raw_table(field * count)))
            )


def _shapes(tables: list[tuple[Node, Place]]) -> Iterator[Bend]:
    """Tables that end in the midst of an entry, or hold what is none."""
    field = bytes(table_field(b"key", "S", b"\0\0\0\5value"))
    nested = bytes(table_field(b"t", "F", bytes(raw_table(field))))
    for root, place in tables:
        for whole in (field, nested):
            for count in range(len(whole)):
                octets = bytes(raw_table(whole[:count]))
                yield bend(f"{place.path} cut after {count} octets", edited(root, place.way, octets))
        for words, long in LONG_TEXTS:
            value = len(long).to_bytes(4, "big") + long
            octets = bytes(raw_table(bytes(table_field(b"k", "S", value))))
            yield bend(f"{place.path} value of {words}", edited(root, place.way, octets))
        for count in (256, 4096):
            entry = bytes(table_field(b"", "S", b"\0\0\0\0"))
            octets = bytes(raw_table(entry * count))
            yield bend(f"{place.path} with {count} empty entries", edited(root, place.way, octets))


def _delivered(dialect_id: str) -> Iterator[Bend]:
    """Tables that are none in the headers of messages that are routed, stored and handed to a consumer.

    A server may look into them only then, where nobody waits for what they do any more.
    """
    tools = kit(dialect_id)
    root = next(p.tree for name, p in grammar(dialect_id).items() if name.startswith("table/"))
    way = next(place.way for place in walk(root) if place.node.kind == "table")
    for number, (words, octets) in enumerate(_odd_tables()):
        header = octets_of(edited(root, way, octets))
        yield bend(f"headers {words}", tools.delivered(f"amqpspec.fuzz.headers.{number}", header, BODY))


def _odd_tables() -> Iterator[tuple[str, bytes]]:
    field = bytes(table_field(b"key", "S", b"\0\0\0\5value"))
    for count in range(1, len(field)):
        yield f"cut after {count} octets", bytes(raw_table(field[:count]))
    for words, name in TEXTS:
        yield f"name: {words}", bytes(raw_table(bytes(table_field(name, "S", b"\0\0\0\1v"))))
    for tag in range(256):
        for value in (b"", b"\0", b"\xff" * 4, b"\0" * 8):
            words = f"tag 0x{tag:02x} before {value.hex() or 'nothing'}"
            yield words, bytes(raw_table(bytes(table_field(b"k", tag, value))))
