"""The order of inputs: a few of every cell, then the rest of each, then random ones without end.

Knows: positions, cells, shards. Must not know: what came of an input, journals.

Every step costs the same wherever it begins: an id is made from its number, nothing is counted up to it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.inputs.catalogue import Cell, cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.inputs.mutation import Origin, random_id, random_input
from amqpspec.fuzz.states.ways import states

SEVERAL = "several"
"""In place of a family, where a batch has inputs of more than one."""
FEW = 8
"""So many inputs of every cell come before more of any."""
_EMPTY_ROUNDS = 64
"""So many rounds of random ids without a single octet to send, and something is wrong with the weights."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where the next batch begins: a number in a leg over a cell, and a counter of random inputs."""

    cell: int = 0
    number: int = 0
    counter: int = 0

    def to_json(self) -> dict[str, int]:
        """For ``progress.json``."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Leg:
    """A part of a cell that is sent at one time: its numbers from ``first`` on, up to ``stop``."""

    cell: Cell
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class Span:
    """Inputs of one cell, a step apart; ``ends`` says that the cell has no more."""

    cell: Cell
    numbers: range
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs that go together: of one cell or of several, or random. ``after`` is where the next begins."""

    items: Sequence[FuzzInput]
    after: Position
    spans: tuple[Span, ...] = ()
    whole: bool = field(default=True)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells that it has inputs of; none when it is random."""
        return tuple(span.cell for span in self.spans)

    @property
    def place(self) -> tuple[str, str]:
        """Family and state, as far as all have them in common."""
        if not self.spans:
            return RANDOM, ""
        family, state = ({getattr(span.cell, name) for span in self.spans} for name in ("family", "state"))
        return family.pop() if len(family) == 1 else SEVERAL, state.pop() if len(state) == 1 else ""

    @property
    def is_mixed(self) -> bool:
        """Whether it has inputs of several families or states."""
        return bool(self.spans) and (SEVERAL in self.place or "" in self.place)

    @property
    def names(self) -> dict[str, Any]:
        """What names every input, for a journal; ``amqpspec.fuzz.campaign.journal.inputs_of`` reads it."""
        if not self.spans:
            return {"ids": [str(item.id) for item in self.items]}
        spans = [span for span in self.spans if span.numbers]
        return {
            "spans": [
                [str(s.cell.id(s.numbers[0])), str(s.cell.id(s.numbers[-1])), s.numbers.step] for s in spans
            ]
        }

    def parts(self, left: Sequence[FuzzInput]) -> Iterator[Batch]:
        """What is left, span by span."""
        by_id = {item.id: item for item in left}
        for span in self.spans:
            items = [by_id[id] for n in span.numbers if (id := span.cell.id(n)) in by_id]
            if items:
                yield replace(self, items=items, spans=(span,), whole=False)


@dataclass(slots=True)
class Schedule:
    """Batches from a position on. ``size`` says how large the next one is; ``stopped`` which cells are left out.

    ``avoided`` are ids of single inputs that are left out. ``mixes`` says whether a batch may join families and states.
    """

    dialect: str
    legs: Sequence[Leg]
    position: Position
    size: Callable[[], int]
    stopped: Callable[[Cell], bool]
    weights: Mapping[Origin, int]
    seed: int = 1
    shard: tuple[int, int] = (1, 1)
    mutate: bool = True
    corpus: Mapping[str, bytes] = field(default_factory=dict)
    avoided: Set[str] = frozenset()
    mixes: Callable[[], bool] = lambda: True

    @property
    def is_behind_cells(self) -> bool:
        """Whether every input of the cells has had its turn."""
        return self.position.cell >= len(self.legs)

    def next(self, *, random: bool = False) -> Batch | None:
        """The batch at the position, or None where there is nothing left; a ``random`` one comes out of its turn."""
        if not self.is_behind_cells and not (random and self.mutate):
            return self._of_cells()
        return self._at_random() if self.mutate else None

    def _of_cells(self) -> Batch:
        """Cells from here on, together not too many."""
        at, number = self.position.cell, self.position.number
        place, room, mixes = _place(self.legs[at].cell), self.size(), self.mixes()
        spans: list[Span] = []
        while room > 0 and at < len(self.legs) and (mixes or _place(self.legs[at].cell) == place):
            leg = self.legs[at]
            span = self._span(leg, max(number, leg.first), room)
            spans.append(span)
            room -= len(span.numbers)
            over = not span.numbers or span.numbers.stop >= leg.stop
            at, number = (at + 1, 0) if over else (at, span.numbers.stop)
        items = [item for span in spans for n in span.numbers if self._is_sent(item := span.cell.input(n))]
        return Batch(items, replace(self.position, cell=at, number=number), tuple(spans))

    def _is_sent(self, item: FuzzInput) -> bool:
        return not self.avoided or str(item.id) not in self.avoided

    def _span(self, leg: Leg, first: int, room: int) -> Span:
        if self.stopped(leg.cell):
            return Span(leg.cell, range(0), ends=True)
        index, shards = self.shard
        begin = first + (index - 1 - first) % shards
        stop = min(leg.stop, first + room * shards)
        return Span(leg.cell, range(begin, stop, shards), ends=stop == leg.cell.inputs)

    def _at_random(self) -> Batch:
        index, shards = self.shard
        size, first = self.size(), self.position.counter
        items: list[FuzzInput] = []
        for _ in range(_EMPTY_ROUNDS):
            for counter in range(first, first + size):
                id = random_id(self.dialect, self.seed, counter * shards + index - 1, self.weights)
                item = random_input(self.dialect, id, self.corpus)
                if item.steps and self._is_sent(item):
                    items.append(item)
            first += size
            if items:
                break
        return Batch(items, replace(self.position, counter=first))


def legs(cells: Sequence[Cell], early: Collection[str] = (), shards: int = 1) -> tuple[Leg, ...]:
    """The way through cells: a few inputs of each, families taking turns, ``early`` states first; then the rest."""
    ordered = _in_turns(cells, frozenset(early))
    few = FEW * shards
    first = [Leg(cell, 0, min(few, cell.inputs)) for cell in ordered]
    return (*first, *(Leg(cell, few, cell.inputs) for cell in ordered if cell.inputs > few))


def _in_turns(cells: Sequence[Cell], early: frozenset[str]) -> list[Cell]:
    """Cells of one family and state stay together; of these the first of every family come before any second."""
    places = list(dict.fromkeys(map(_place, cells)))
    turns: Counter[tuple[bool, str]] = Counter()
    rank: dict[tuple[str, str], tuple[bool, int]] = {}
    for place in places:
        late = place[1] not in early
        rank[place] = late, turns[late, place[0]]
        turns[late, place[0]] += 1
    at = {place: number for number, place in enumerate(places)}
    return sorted(cells, key=lambda cell: (*rank[_place(cell)], at[_place(cell)]))


def states_before_login(dialect: str) -> tuple[str, ...]:
    """The states into which everybody gets: those before the one that a sentinel goes to."""
    known = list(states(dialect))
    return tuple(known[: known.index(executor_part(dialect).sentinel_state)])


def _place(cell: Cell) -> tuple[str, str]:
    return cell.family, cell.state


def chosen_cells(dialect: str, patterns: Sequence[str]) -> tuple[Cell, ...]:
    """The cells that any of the globs fits, with the dialect before them or without; all where there are none."""
    return tuple(
        cell
        for cell in cells(dialect)
        if not patterns
        or any(fnmatchcase(name, p) for p in patterns for name in (cell.key, cell.key.partition("/")[2]))
    )
