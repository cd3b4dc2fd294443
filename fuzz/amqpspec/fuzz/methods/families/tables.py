"""C11: tags of values, and the encoding of texts.

Knows: what follows a tag, and which octets are no text. Must not know: which tags a target has.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Bend, Location, bend
from amqpspec.fuzz.families.tables import TableForm, odd_tables, table_locations
from amqpspec.fuzz.families.texts import TOUCHES
from amqpspec.fuzz.grammar import grammar
from amqpspec.fuzz.methods.grammar import BODY
from amqpspec.fuzz.methods.kit import kit
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import edited, octets_of, walk
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
_VALUES = (b"", b"\0", b"\xff" * 4, b"\0" * 8)


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
    for number, (words, octets) in enumerate(odd_tables(_FORM, _VALUES)):
        header = octets_of(edited(root, way, octets))
        yield bend(f"headers {words}", tools.delivered(f"amqpspec.fuzz.headers.{number}", header, BODY))
