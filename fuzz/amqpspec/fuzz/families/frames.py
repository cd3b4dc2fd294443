"""C4: the arithmetic of frame sizes, offsets and types.

Knows: parts that measure others, and parts that say what kind of thing follows.
Must not know: how large a number can be made; that is C2.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.families.base import (
    Bend,
    Location,
    bend,
    edges,
    every_octet,
    locations_at,
    next_productions,
    numbers_of,
)
from amqpspec.fuzz.states.model import State
from amqpspec.fuzz.trees.tree import Place, Role, octets_of
from amqpspec.fuzz.trees.values import boundaries, near

_OCTETS = {Role.FRAME_TYPE: "frame.type", Role.END: "frame.end", Role.CYCLE: "frame.cycle"}
_NUMBERS = {Role.CLASS_ID: "method.class-id", Role.METHOD_ID: "method.method-id"}


def _measured(place: Place) -> str:
    node = place.node
    measures = node.role in (Role.SIZE, Role.OFFSET, Role.COUNT)
    return f"{node.kind or node.name}.{node.role}" if measures else ""


def _octet(place: Place) -> str:
    return _OCTETS.get(place.node.role, "")


def _number(place: Place) -> str:
    return _NUMBERS.get(place.node.role, "")


def _ids(width_octets: int, value: int) -> list[int]:
    """Every neighbour of an id of the tables, and the edges."""
    top = 1 << 8 * width_octets
    ids = {*range(130), *boundaries(width_octets), 0xEFFF, 0xF000} - {value}
    return sorted(number for number in ids if number < top)


def locations(dialect_id: str, state: State) -> Iterator[Location]:
    """Where this family bends in a state."""
    yield from locations_at(dialect_id, state, _measured, numbers_of(near))
    yield from locations_at(dialect_id, state, _octet, every_octet, rest=numbers_of(edges))
    yield from locations_at(dialect_id, state, _number, numbers_of(_ids), rest=numbers_of(edges))
    yield Location("frame.cut", lambda: _cuts(dialect_id, state))
    yield Location("frame.padded", lambda: _padded(dialect_id, state))


def _cuts(dialect_id: str, state: State) -> Iterator[Bend]:
    """Every beginning of what may follow, of the first few productions."""
    for production in next_productions(dialect_id, state)[:4]:
        octets = octets_of(production.tree)
        for count in range(1, len(octets)):
            yield bend(f"{production.name} cut after {count} octets", octets[:count])


def _padded(dialect_id: str, state: State) -> Iterator[Bend]:
    """Octets in front of what may follow, or after it."""
    for production in next_productions(dialect_id, state)[:8]:
        octets = octets_of(production.tree)
        for pad in (b"\0", b"\xce", b"\0" * 7, b"\0" * 8, b"AMQP", b"\xff" * 16):
            yield bend(f"{production.name} behind {pad.hex()}", pad + octets)
            yield bend(f"{production.name} before {pad.hex()}", octets, pad)
