"""C11: the encoding of texts in any field.

Knows: which octets are no text. Must not know: what else a dialect's values can be bent to.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import Location, locations_at
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, Role
from amqpspec.fuzz.trees.values import TEXTS

TOUCHES = (
    "wire/table/malformed", "grammar/table-value-types", "amq_wlp_table_01", "field-tables/names-validated",
    "wire/strings/shortstr-zero-octet", "data-fields/strings/short-zero-octet", "wire/table/all-types-round-trip",
)  # fmt: skip


def _text(place: Place) -> str:
    return "text" if place.node.role is Role.TEXT and place.node.kind != "magic" else ""


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    yield from locations_at(dialect_id, state, _text, lambda root, place: TEXTS, *TOUCHES)
