"""A comparison: inputs breadth first, at every target at once; what differs is repeated before it counts.

Knows: the order of the requests. Must not know: sockets, files, how a target is found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import chain, count, islice
from threading import Event, Timer

from amqpspec.fuzz.campaign.rounds import later_rounds
from amqpspec.fuzz.campaign.schedule import FEW, chosen_cells, legs, states_before_login
from amqpspec.fuzz.differential.side import Reaction, Side, SideLost
from amqpspec.fuzz.differential.tally import Tally
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.inputs.mutation import random_id, random_input

BATCH = 256
SPENT, STOPPED, DONE = "budget spent", "stopped", "all done"
Reactions = Mapping[str, Mapping[InputId, Reaction]]


@dataclass(frozen=True, slots=True)
class Comparison:
    """The options of a comparison: the same inputs for each subject.

    ``mutate``: random ones follow those of the cells.
    """

    subjects: Sequence[Subject]
    budget_s: float = 600.0
    seed: int = 1
    patterns: tuple[str, ...] = ()
    mutate: bool = True
    notify: Callable[[Tally], None] = lambda tally: None

    @property
    def dialect(self) -> str:
        """The dialect that all of them speak."""
        return self.subjects[0].dialect


@dataclass(slots=True)
class Compared:
    """The result of a comparison. ``lost`` says which target was lost, and after what."""

    order: Comparison
    tally: Tally = field(default_factory=Tally)
    ended: str = DONE
    lost: str = ""
    seconds_s: float = 0.0


def compare(order: Comparison) -> Compared:
    """Compare until the budget is spent, the inputs are over or a target is lost. An interrupt ends it as well.

    Raises Unanswered if a target is not there to begin with.
    """
    done, begun_s, over = Compared(order), now_s(), Event()
    sides = [Side(subject, over) for subject in order.subjects]
    bell = Timer(order.budget_s, over.set)
    bell.start()
    pool = ThreadPoolExecutor(len(sides), thread_name_prefix="side")
    try:
        _Rounds(order, sides, pool, done.tally).run(over)
        done.ended = SPENT if over.is_set() else DONE
    except SideLost as lost:
        done.ended = done.lost = str(lost)
    except KeyboardInterrupt:
        done.ended = STOPPED
    finally:
        bell.cancel()
        over.set()
        pool.shutdown(wait=False, cancel_futures=True)
        done.seconds_s = now_s() - begun_s
    return done


def inputs(order: Comparison) -> Iterator[FuzzInput]:
    """The inputs in their order, which is that of a campaign: a few of each cell, the rest, random ones."""
    cells = chosen_cells(order.dialect, order.patterns)
    way = legs(cells, states_before_login(order.dialect))
    yield from (leg.cell.input(number) for leg in way for number in leg.numbers)
    for leg in way:
        later = chain.from_iterable(later_rounds(leg.cell.inputs, FEW))
        yield from (leg.cell.input(number) for number in later)
    for number in count() if order.mutate else ():
        item = random_input(order.dialect, random_id(order.dialect, order.seed, number))
        if item.steps:
            yield item


class _Rounds:
    """Batches of inputs at all sides at once."""

    def __init__(
        self, order: Comparison, sides: Sequence[Side], pool: ThreadPoolExecutor, tally: Tally
    ) -> None:
        self._order, self._sides, self._pool, self._tally = order, sides, pool, tally
        self._known = {side.name: side.subject.known for side in sides}

    def run(self, over: Event) -> None:
        """Continue until it is over."""
        every = inputs(self._order)
        while not over.is_set() and (batch := list(islice(every, BATCH))):
            self._one(batch, over)
            self._order.notify(self._tally)

    def _one(self, batch: Sequence[FuzzInput], over: Event) -> None:
        seen = self._reactions(batch)
        self._tally.inputs += len(batch)
        differ: list[FuzzInput] = []
        for item in batch:
            missing = [name for name, found in seen.items() if item.id not in found]
            if missing:
                # What was cut off is not the target's doing.
                self._tally.miss(item, () if over.is_set() else missing)
            elif _texts(seen, item) == 1:
                self._tally.equal()
            else:
                differ.append(item)
        self._repeat(differ, seen)

    def _repeat(self, items: Sequence[FuzzInput], seen: Reactions) -> None:
        """What differs is sent twice more with patience: at first glance a late answer looks like silence."""
        if not items:
            return
        twice = [self._reactions(items, patient=True) for _ in range(2)]
        for item in items:
            if all(item.id in found for look in twice for found in look.values()):
                self._settle(item, seen, twice)
            else:
                self._tally.unrepeated()

    def _settle(self, item: FuzzInput, seen: Reactions, twice: Sequence[Reactions]) -> None:
        for name in self._known:
            texts = {look[name][item.id].text for look in twice}
            if len(texts) > 1:
                self._tally.swing(item, name, {*texts, seen[name][item.id].text})
                return
        self._tally.settle(item, {name: found[item.id] for name, found in twice[1].items()}, self._known)

    def _reactions(self, items: Sequence[FuzzInput], *, patient: bool = False) -> Reactions:
        """What each target does with the inputs, all of them at the same time."""
        for item in items:
            assert item.expectation is not None  # judged once, before several threads ask for it
        under_way: dict[str, Future[dict[InputId, Reaction]]] = {
            side.name: self._pool.submit(side.react, items, patient=patient) for side in self._sides
        }
        return {name: one.result() for name, one in under_way.items()}


def _texts(seen: Reactions, item: FuzzInput) -> int:
    """How many different reactions there are to an input."""
    return len({found[item.id].text for found in seen.values()})
