"""The order of inputs: a few of every cell, then the rest by what it is expected to show, random ones in between.

Knows: positions, cells, shards. Must not know: the result of an input, journals.

Every step costs the same wherever it begins: an id is made from its number, nothing is counted up to it. The next
inputs follow from the position and the expectation alone, in chunks of one cell: a smaller batch from the same position
is the beginning of the larger one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from dataclasses import asdict, dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

from amqpspec.fuzz.campaign.expectation import Expectation
from amqpspec.fuzz.campaign.rounds import first_round, later_numbers
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.inputs.catalogue import Cell, cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import RANDOM
from amqpspec.fuzz.inputs.mutation import Origin, random_id, random_input
from amqpspec.fuzz.states.ways import states

SEVERAL = "several"
"""In place of a family, where a batch has inputs of more than one."""
FEW = 8
"""The maximum number of inputs of every cell that are sent before more of any cell."""
CHUNK = 64
"""The number of inputs of a cell that are sent together in its later turns."""
_FAIR = 4
"""Every so many chunks, the cell with the fewest inputs has its turn, whatever it showed."""
_AHEAD_OCTETS = 16 << 20
"""No random inputs are made ahead once those made hold this much."""
_EMPTY_ROUNDS = 64
"""After this many rounds of random ids without any octet to send, the weights must be wrong."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where the next batch begins: a number in a leg over a cell, and a counter of random inputs.

    ``later`` says how many inputs of each cell were sent after its leg.
    """

    cell: int = 0
    number: int = 0
    counter: int = 0
    later: Mapping[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """For ``progress.json``."""
        return asdict(self)


@dataclass(frozen=True)
class Leg:
    """The part of a cell that has a fixed turn: at most ``few`` numbers, or all. They are counted when first needed."""

    cell: Cell
    few: int | None = None

    @cached_property
    def numbers(self) -> range:
        """The numbers."""
        inputs = self.cell.inputs
        return range(inputs) if self.few is None else first_round(inputs, self.few)

    @property
    def later(self) -> int:
        """How many inputs of the cell are left for later."""
        return self.cell.inputs - len(self.numbers)


@dataclass(frozen=True, slots=True)
class Span:
    """Inputs of one cell at equal distances; ``ends`` means that the cell has no more."""

    cell: Cell
    numbers: range
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Batch:
    """Inputs that are sent together: of one cell, of several cells, or random. ``after`` is where the next batch
    begins.
    """

    items: Sequence[FuzzInput]
    after: Position
    spans: tuple[Span, ...] = ()
    whole: bool = field(default=True)

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells of its inputs; none if it is random."""
        return tuple(span.cell for span in self.spans)

    @property
    def place(self) -> tuple[str, str]:
        """Family and state, as far as all inputs have them in common."""
        if not self.spans:
            return RANDOM, ""
        family, state = ({getattr(span.cell, name) for span in self.spans} for name in ("family", "state"))
        return family.pop() if len(family) == 1 else SEVERAL, state.pop() if len(state) == 1 else ""

    @property
    def is_mixed(self) -> bool:
        """Whether its inputs are of several families or states."""
        return bool(self.spans) and (SEVERAL in self.place or "" in self.place)

    @property
    def names(self) -> dict[str, Any]:
        """Names of all inputs, for a journal; ``amqpspec.fuzz.campaign.journal.inputs_of`` reads them."""
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
    """Batches from a position on. ``size`` returns the size of the next one; ``stopped`` says which cells are left
    out.

    ``avoided`` are ids of single inputs that are left out. ``mixes`` says whether a batch may join families and
    states; ``waits``, which cells wait after their first inputs.
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
    waits: Callable[[Cell], bool] = lambda cell: False
    expectation: Expectation = field(default_factory=Expectation)
    _ahead: dict[int, FuzzInput] = field(default_factory=dict)
    _ahead_octets: int = 0

    @property
    def is_broad(self) -> bool:
        """Whether every cell has had its first turn."""
        return self.position.cell >= len(self.legs)

    @property
    def is_behind_cells(self) -> bool:
        """Whether every input of the cells has been sent."""
        return self.is_broad and not self._open(self.position.later)

    def next(self, *, random: bool = False) -> Batch | None:
        """The batch at the position, or None if nothing is left; a ``random`` one does not move the position."""
        if not self.is_behind_cells and not (random and self.mutate):
            return self._of_cells()
        return self._at_random() if self.mutate else None

    def prepare(self) -> bool:
        """Make one random input of the next random batch ahead; returns False if there are enough."""
        if not self.mutate or len(self._ahead) >= self.size() or self._ahead_octets >= _AHEAD_OCTETS:
            return False
        counter = self.position.counter + len(self._ahead)
        self._ahead[counter] = item = self._at_counter(counter)
        self._ahead_octets += len(item.octets)
        return True

    def _of_cells(self) -> Batch:
        """Inputs of the next cells, up to the size of a batch."""
        room, mixes, position = self.size(), self.mixes(), self.position
        spans: list[Span] = []
        place: tuple[str, str] | None = None
        while room > 0 and (leg := self._turn(position, place)) is not None:
            span, position = self._span(leg, position, room)
            place = place if mixes else _place(leg.cell)
            spans.append(span)
            room -= len(span.numbers)
        items = [item for span in spans for n in span.numbers if self._is_sent(item := span.cell.input(n))]
        return Batch(items, position, tuple(spans))

    def _is_sent(self, item: FuzzInput) -> bool:
        return not self.avoided or str(item.id) not in self.avoided

    def _turn(self, position: Position, place: tuple[str, str] | None) -> Leg | None:
        """The next cell; of one place, if only that is wanted."""
        if position.cell < len(self.legs):
            leg = self.legs[position.cell]
            return leg if place in (None, _place(leg.cell)) else None
        return self._best(position.later, place)

    def _best(self, later: Mapping[str, int], place: tuple[str, str] | None) -> Leg | None:
        """A cell in the middle of a chunk; otherwise the cell with the best expectation, or at times the one with the
        fewest inputs.
        """
        legs = [leg for leg in self._open(later) if place in (None, _place(leg.cell))]
        if not legs:
            return None
        for leg in legs:
            if later.get(leg.cell.key, 0) % self._chunk:
                return leg
        had = [later.get(leg.cell.key, 0) for leg in legs]
        if sum(-(-count // self._chunk) for count in later.values()) % _FAIR == _FAIR - 1:
            return legs[had.index(min(had))]
        sent = [(len(leg.numbers) + count) // self.shard[1] for leg, count in zip(legs, had, strict=True)]
        return max(
            zip(legs, sent, strict=True), key=lambda one: self.expectation.of(one[0].cell.key, one[1])
        )[0]

    def _open(self, later: Mapping[str, int]) -> list[Leg]:
        """The legs of which something is left for later."""
        return [
            leg
            for leg in self.legs
            if later.get(leg.cell.key, 0) < leg.later and not (self.stopped(leg.cell) or self.waits(leg.cell))
        ]

    @property
    def _chunk(self) -> int:
        return CHUNK * self.shard[1]

    def _span(self, leg: Leg, position: Position, room: int) -> tuple[Span, Position]:
        """The next inputs of a cell, and the position after them."""
        if position.cell >= len(self.legs):
            return self._later_span(leg, position, room)
        if self.stopped(leg.cell):
            return Span(leg.cell, range(0), ends=True), replace(position, cell=position.cell + 1, number=0)
        numbers = leg.numbers[position.number :][: room * self.shard[1]]
        stop = position.number + len(numbers)
        over = stop >= len(leg.numbers)
        after = replace(position, cell=position.cell + over, number=0 if over else stop)
        span = Span(leg.cell, self._ours(numbers, position.number), ends=over and not leg.later)
        return span, after

    def _later_span(self, leg: Leg, position: Position, room: int) -> tuple[Span, Position]:
        key = leg.cell.key
        first = position.later.get(key, 0)
        most = min(room * self.shard[1], self._chunk - first % self._chunk)
        numbers = later_numbers(leg.cell.inputs, FEW * self.shard[1], first)[:most]
        stop = first + len(numbers)
        after = replace(position, later={**position.later, key: stop})
        return Span(leg.cell, self._ours(numbers, first), ends=stop >= leg.later), after

    def _ours(self, numbers: range, first: int) -> range:
        """The numbers of this shard; the first number has this place among all."""
        index, shards = self.shard
        return numbers[(index - 1 - first) % shards :: shards]

    def _at_random(self) -> Batch:
        size, first = self.size(), self.position.counter
        items: list[FuzzInput] = []
        for _ in range(_EMPTY_ROUNDS):
            drawn = [self._drawn(counter) for counter in range(first, first + size)]
            items = [item for item in drawn if item.steps and self._is_sent(item)]
            first += size
            if items:
                break
        return Batch(items, replace(self.position, counter=first))

    def _drawn(self, counter: int) -> FuzzInput:
        """The input made ahead, unless its origin has been muted since; otherwise a new one."""
        item = self._ahead.pop(counter, None)
        if item is None:
            return self._at_counter(counter)
        self._ahead_octets -= len(item.octets)
        return item if self.weights.get((item.id.role, item.state)) else self._at_counter(counter)

    def _at_counter(self, counter: int) -> FuzzInput:
        index, shards = self.shard
        id = random_id(self.dialect, self.seed, counter * shards + index - 1, self.weights)
        return random_input(self.dialect, id, self.corpus)


def legs(cells: Sequence[Cell], early: Collection[str] = (), shards: int = 1) -> tuple[Leg, ...]:
    """The first part of the order: a few inputs of each cell, families alternately, ``early`` states first."""
    return tuple(Leg(cell, FEW * shards) for cell in _in_turns(cells, frozenset(early)))


def cell_by_cell(cells: Sequence[Cell]) -> tuple[Leg, ...]:
    """Each cell as a whole, one after the other: the order for comparisons."""
    return tuple(Leg(cell) for cell in cells)


def _in_turns(cells: Sequence[Cell], early: frozenset[str]) -> list[Cell]:
    """Cells of one family and state stay together; the first such group of every family comes before any second one."""
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
    """The states before login: those before the one that a sentinel enters."""
    known = list(states(dialect))
    return tuple(known[: known.index(executor_part(dialect).sentinel_state)])


def _place(cell: Cell) -> tuple[str, str]:
    return cell.family, cell.state


def chosen_cells(dialect: str, patterns: Sequence[str]) -> tuple[Cell, ...]:
    """The cells that match any of the globs, with or without the dialect; all cells if there are no globs."""
    return tuple(
        cell
        for cell in cells(dialect)
        if not patterns
        or any(fnmatchcase(name, p) for p in patterns for name in (cell.key, cell.key.partition("/")[2]))
    )
