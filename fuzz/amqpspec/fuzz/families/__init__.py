"""The families C1 to C14: what is bent, one after the other, finite and always the same.

Knows: which families there are, and which of them bend every dialect alike. Must not know: how any input is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from amqpspec.fuzz.families import frames, memory, order, texts
from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.families.part import families_part
from amqpspec.fuzz.states.model import State


@dataclass(frozen=True, slots=True)
class Family:
    """One family; ``everywhere`` is what it bends in every dialect."""

    id: str
    title: str
    everywhere: Callable[[str, State], Iterable[Location]] = lambda dialect_id, state: ()

    def locations(self, dialect_id: str, state: State) -> Iterator[Location]:
        """What it bends in a state, in a fixed order."""
        yield from self.everywhere(dialect_id, state)
        yield from families_part(dialect_id).locations(self.id, state)


FAMILIES = (
    Family("C01", "arrays of zero-width elements with a huge count"),
    Family("C02", "size or count that causes allocation before data arrived", memory.locations),
    Family("C03", "nesting without bound"),
    Family("C04", "frame size, offset, type arithmetic", frames.locations),
    Family("C05", "negotiated limits not enforced"),
    Family("C06", "interning of symbols, atoms, names"),
    Family("C07", "ranges that expand"),
    Family("C08", "windows, credit, echo, transfers per delivery"),
    Family("C09", "frame out of state, wrong channel, wrong order", order.locations),
    Family("C10", "authentication and permission phase"),
    Family("C11", "field-table tags, text encoding", texts.locations),
    Family("C12", "section order, descriptor forms, conversion between dialects, decompression"),
    Family("C13", "resources per channel and connection"),
    Family("C14", "algorithms (topic wildcards, selectors, weights)"),
)
"""Every family in order."""
