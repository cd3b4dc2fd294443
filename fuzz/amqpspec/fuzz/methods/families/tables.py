"""C11: tags of values, and the encoding of texts.

Knows: what follows a tag, and which octets are no text. Must not know: which tags a target has.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, bend
from amqpspec.fuzz.families.tables import TableForm, table_locations
from amqpspec.fuzz.families.texts import TOUCHES
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.methods.grammar import BODY
from amqpspec.fuzz.methods.kit import kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import edited, octets_of, walk
from amqpspec.fuzz.trees.values import TEXTS
from amqpspec.wire.methods.malformed import table as raw_table
from amqpspec.wire.methods.malformed import table_field

_FORM = TableForm(
    "table",
    lambda fields: bytes(raw_table(fields)),
    lambda name, tag, value: bytes(table_field(name, tag, value)),
    ord("S"),
    lambda text: len(text).to_bytes(4, "big") + text,
    (ord("F"),),
)


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    if state.name == "consuming":
        yield Location("headers.delivered", lambda: _delivered(dialect_id), TOUCHES)
    yield from table_locations(_FORM, dialect_id, state)


def _delivered(dialect_id: str) -> Iterator[Bend]:
    """Malformed tables in the headers of messages that are routed, stored and handed to a consumer.

    A server may look into them only then, if no one waits for what they do any more.
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
