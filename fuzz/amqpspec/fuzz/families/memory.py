"""C2: sizes and counts that ask for memory before any data came.

Knows: parts that measure others. Must not know: slightly wrong measures; those are C4's.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import (
    Bend,
    Bends,
    Location,
    bend,
    cut_after,
    locations_at,
    next_productions,
    numbers_of,
)
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, Role, octets_at, walk
from amqpspec.fuzz.trees.values import huge

_MEASURES = (Role.SIZE, Role.COUNT)


def _measured(place: Place) -> str:
    node = place.node
    return f"{node.kind or node.name}.{node.role}" if node.role in _MEASURES else ""


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    for location in locations_at(dialect_id, state, _measured, numbers_of(huge)):
        yield location
        yield Location(f"{location.role}.cut", _cut(dialect_id, state, location.role))


def _cut(dialect_id: str, state: State, role: str) -> Bends:
    """The same numbers, and nothing after them."""

    def bends() -> Iterator[Bend]:
        for production in next_productions(dialect_id, state):
            for place in walk(production.tree):
                if _measured(place) == role:
                    old = octets_at(production.tree, place.way)
                    for value in huge(len(old), int.from_bytes(old, "big")):
                        octets = cut_after(production.tree, place.way, value.to_bytes(len(old), "big"))
                        yield bend(f"{production.name} {place.path}: {value}, then nothing", octets)

    return bends
