"""C3: nesting without bound.

Knows: what can hold itself. Must not know: how deep a target goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from amqpspec.fuzz.families.base import Bend, Location, bend, next_productions
from amqpspec.fuzz.families.material import DEPTHS
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import edited, walk
from amqpspec.wire.methods.malformed import nested_arrays, nested_tables, table_field

_MAX_OCTETS = 120_000
"""What fits into a frame of the usual 128 KiB."""


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    if any(place.node.kind == "table" for p in next_productions(dialect_id, state) for place in walk(p.tree)):
        touches = ("wire/table/malformed", "field-tables/format")
        for kind, nested in _NESTED.items():
            yield Location(f"nested.{kind}", partial(_bends, dialect_id, state, nested), touches)
    if any(p.name in _LOOKED_AT for p in next_productions(dialect_id, state)):
        for kind in ("table", "array"):
            role = f"nested.{kind}.looked-at"
            yield Location(role, partial(_named, dialect_id, state, kind), ("wire/table/malformed",))


def _arrays(depth: int) -> bytes:
    entry = bytes(table_field(b"a", "A", bytes(nested_arrays(depth))))
    return len(entry).to_bytes(4, "big") + entry


def _mixed(depth: int) -> bytes:
    """Tables and arrays in turn, made from the inside."""
    parts: list[bytes] = []
    size = 0
    for level in range(depth, 0, -1):
        # What is in a table has a name; what is in an array has none.
        opening = (b"\x01mA" if level % 2 else b"F") + size.to_bytes(4, "big")
        parts.append(opening)
        size += len(opening)
    return size.to_bytes(4, "big") + b"".join(reversed(parts))


def _unclosed(depth: int) -> bytes:
    """Tables that each announce as much as the outermost has, and end in the middle."""
    step = b"\x01nF"
    size = (depth * (len(step) + 4)).to_bytes(4, "big")
    return size + (step + size) * depth


_NESTED = {
    "table": lambda depth: bytes(nested_tables(depth)),
    "array": _arrays,
    "mixed": _mixed,
    "unclosed": _unclosed,
}


def _bends(dialect_id: str, state: State, nested: Callable[[int], bytes]) -> Iterator[Bend]:
    places = [
        (production, next((place for place in walk(production.tree) if place.node.kind == "table"), None))
        for production in next_productions(dialect_id, state)
    ]
    for depth in DEPTHS:
        octets = nested(depth)
        for production, place in places if len(octets) <= _MAX_OCTETS else ():
            if place is not None:
                tree = edited(production.tree, place.way, octets)
                yield bend(f"{production.name} {place.path}: {depth} deep", tree)


_LOOKED_AT = {
    "method/connection.start-ok": ("product", "version", "platform", "capabilities"),
    "method/queue.declare": ("x-message-ttl", "x-dead-letter-exchange"),
    "method/exchange.declare": ("alternate-exchange",),
    "method/queue.bind": ("x-match",),
    "method/basic.consume": ("x-priority",),
}
"""Names that servers look for: what is held under others may never be read."""

_TAGS = {"table": "F", "array": "A"}
_NAMED_DEPTHS = sorted({*DEPTHS, 570, 800})
"""All depths, and what fits into the smallest frame: 7 octets a table, 5 an array."""


def _named(dialect_id: str, state: State, kind: str) -> Iterator[Bend]:
    """Nested values under names that a server reads, and may turn into a text."""
    for production in next_productions(dialect_id, state):
        names = _LOOKED_AT.get(production.name, ())
        place = next((place for place in walk(production.tree) if place.node.kind == "table"), None)
        for name in names if place is not None else ():
            for depth in _NAMED_DEPTHS:
                value = bytes(nested_tables(depth) if kind == "table" else nested_arrays(depth))
                entry = bytes(table_field(name.encode(), _TAGS[kind], value))
                if len(entry) <= _MAX_OCTETS and place is not None:
                    tree = edited(production.tree, place.way, len(entry).to_bytes(4, "big") + entry)
                    yield bend(f"{production.name} {name}: {depth} deep", tree)
