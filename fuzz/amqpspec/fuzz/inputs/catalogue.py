"""Every cell of a dialect, and the way from an id to its input.

Knows: families, states, the judge. Must not know: how inputs are sent, in which order cells are run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

from amqpspec.fuzz.families import FAMILIES
from amqpspec.fuzz.families.base import Bend, Location
from amqpspec.fuzz.families.part import families_part
from amqpspec.fuzz.grammar import dialect_of, grammar_hash
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM, IdError, InputId
from amqpspec.fuzz.inputs.mutation import random_input
from amqpspec.fuzz.judge.expectation import ledger
from amqpspec.fuzz.judge.judge import expectation
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.ways import states

_KEPT_CELLS = 1024
"""All of a dialect, 40 to 60 MB: making a large cell again takes up to half a second, and cells take turns."""


@dataclass(frozen=True)
class Cell:
    """One family bending one role in one state of a dialect: a finite list of inputs, always the same."""

    dialect: str
    family: str
    role: str
    state: str
    touches: tuple[str, ...] = ()
    _location: Location | None = field(default=None, repr=False, compare=False)

    @cached_property
    def key(self) -> str:
        """``amqp-0-9-1/C04/frame.size/channel``."""
        return f"{self.dialect}/{self.family}/{self.role}/{self.state}"

    @property
    def bends(self) -> tuple[Bend, ...]:
        """What is sent, without what was sent before in the same cell; kept for the cells last asked for."""
        return _bends(self.key)

    @cached_property
    def inputs(self) -> int:
        """How many inputs there are."""
        return len(self.bends)

    @property
    def counted(self) -> int | None:
        """The number of inputs, if it was requested before: counting generates all of them."""
        found: int | None = vars(self).get("inputs")
        return found

    @cached_property
    def requirements(self) -> tuple[str, ...]:
        """The rows of the ledger that the inputs break or touch."""
        state = states(self.dialect)[self.state]
        broken = {expectation(self.dialect, state, b.steps).requirement for b in self.bends}
        return tuple(sorted((broken | set(self.touches)) - {""}))

    def id(self, number: int) -> InputId:
        """The id of one input."""
        return InputId(grammar_hash(self.dialect), self.family, self.role, self.state, 0, number)

    def input(self, number: int) -> FuzzInput:
        """One input by its number; raises IndexError."""
        if not 0 <= number < self.inputs:
            raise IndexError(f"{self.key}: expected an input below {self.inputs}, actual {number}")
        found = self.bends[number]
        return FuzzInput(self.id(number), self.dialect, self.state, found.steps, found.words)

    def __iter__(self) -> Iterator[FuzzInput]:
        return (self.input(number) for number in range(self.inputs))


@cache
def cells(dialect_id: str) -> tuple[Cell, ...]:
    """Every cell of a dialect, families and states in order; raises KeyError for an unknown dialect."""
    return tuple(
        Cell(dialect_id, family.id, found.role, state.name, _known(dialect_id, found.touches), found)
        for family in FAMILIES
        if family.id not in absent(dialect_id)
        for state in states(dialect_id).values()
        for found in family.locations(dialect_id, state)
    )


def absent(dialect_id: str) -> dict[str, str]:
    """The families that a dialect does not have, with the reason."""
    return dict(families_part(dialect_id).absent)


def resolve(id: InputId, corpus: Mapping[str, bytes] | None = None) -> FuzzInput:
    """The input that an id names; raises IdError for one of other tables, or of a cell or number there is not.

    ``corpus`` holds the entries that the id may name, by their role.
    """
    dialect_id = dialect_of(id.grammar)
    if dialect_id is None:
        known = ", ".join(f"{grammar_hash(d)} ({d})" for d in fuzzed_dialects())
        raise IdError(f"input id: expected the grammar hash of one of {known}, actual {id.grammar}")
    if id.family == RANDOM:
        return random_input(dialect_id, id, corpus)
    cell = by_key(dialect_id).get(f"{dialect_id}/{id.family}/{id.role}/{id.state}")
    if cell is None:
        raise IdError(f"input id: expected a cell of {dialect_id}, actual {id.family}/{id.role}/{id.state}")
    if id.seed or id.counter >= cell.inputs:
        raise IdError(
            f"input id: expected s0 and a number below {cell.inputs}, actual s{id.seed}/{id.counter}"
        )
    return cell.input(id.counter)


@cache
def by_key(dialect_id: str) -> dict[str, Cell]:
    """Cells by key."""
    return {cell.key: cell for cell in cells(dialect_id)}


@lru_cache(maxsize=_KEPT_CELLS)
def _bends(key: str) -> tuple[Bend, ...]:
    location = by_key(key.partition("/")[0])[key]._location
    assert location is not None
    return tuple(_once(location.bends()))


def _once(bends: Iterable[Bend]) -> Iterator[Bend]:
    seen = {b""}
    for found in bends:
        octets = b"".join(found.steps)
        if octets not in seen:
            seen.add(octets)
            yield found


def _known(dialect_id: str, ids: tuple[str, ...]) -> tuple[str, ...]:
    """Those of the ids that the dialect's ledger has: families name rows of all dialects."""
    return tuple(id for id in ids if id in ledger(dialect_id))
