"""What the families ask a driver: where each of them bends what this dialect alone has.

Knows: the questions. Must not know: any dialect's answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Protocol, cast

from amqpspec.fuzz.families.base import Location
from amqpspec.fuzz.parts import Part, loaded_driver
from amqpspec.fuzz.states.model import State


class FamiliesPart(Part, Protocol):
    """What a dialect bends. ``absent`` gives the reason for each family that does not exist in it.

    ``families`` give the places of a dialect in a state, by family.
    """

    absent: Mapping[str, str] = MappingProxyType({})
    families: Mapping[str, Callable[[str, State], Iterator[Location]]] = MappingProxyType({})

    def locations(self, family: str, state: State) -> Iterable[Location]:
        """The additional places of a family in a state, in addition to those of every dialect."""
        found = self.families.get(family)
        return found(self.dialect_id, state) if found is not None else ()


def families_part(dialect_id: str) -> FamiliesPart:
    """What a dialect's driver says about families."""
    return cast(FamiliesPart, loaded_driver(dialect_id))
