"""Walks chosen, and shrunk, by hypothesis: a state machine whose rules are the legal steps of a history.

Knows: hypothesis, verdicts. Must not know: any dialect, what the steps are.

The seed is fixed, and no example is kept from run to run: the same release of hypothesis walks the same histories each
time; short walks come first. What is found is shrunk on connections of its own, for this many tries and so long at
most, then driven again with full patience: a mismatch that does not recur is inconclusive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import hypothesis
from hypothesis import Phase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from amqpspec.peer.context import Context
from amqpspec.peer.line import Line
from amqpspec.record.rows import Outcome
from amqpspec.run.generated import CHOICES, chosen, seeded_settings
from amqpspec.run.oracles import holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.histories import Mismatch

# Shrinking drives the target again each time: bounded by tries and by time, with little patience for each
# answer. What it finds is confirmed with the full one.
_SHRINK_TRIES, _SHRINK_REPLIES = 1000, 3
_SHRINK_REPLY_S, _SHRINK_ENDING_S = 1.5, 2.0
# Walks and steps. Short walks first: what they find needs little shrinking.
_STAGES = ((8, 12), (5, 30), (3, 80))
_EXPECTED = "each walk as in the model"


class Menu(Protocol):
    """What can come next in a history."""

    def options(self, verb: str) -> Sequence[Any]:
        """The legal steps of a verb, the simplest first."""
        ...

    def fits(self, step: Any) -> bool:
        """Whether a step of another history is legal in this one."""
        ...


class Walk(Protocol):
    """One history, as it is driven; ``take`` and ``finish`` raise Mismatch."""

    steps: list[Any]
    is_over: bool

    @property
    def menu(self) -> Menu:
        """What can come next."""
        ...

    @property
    def peer(self) -> Line:
        """Its first connection."""
        ...

    def open(self) -> None:
        """What precedes the first step."""
        ...

    def take(self, step: Any) -> None:
        """Do a step, and wait for all that is due then."""
        ...

    def finish(self) -> None:
        """The check at the end."""
        ...

    def give_up(self, why: str = "") -> None:
        """Leave everything as it is; nothing is judged any more."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """What the walks of a case are made of.

    ``verbs`` are words, those that stand several times being chosen more often; ``opening`` are the first steps of each
    walk; ``begin`` makes a walk that is not opened yet.
    """

    verbs: str
    seed: int
    begin: Callable[[Context, list[Line]], Walk]
    opening: Sequence[Any] = ()


# Not an Exception: hypothesis would take that for a failing example, and shrink it.
class _Halt(BaseException):
    """Ends the search at once, whatever hypothesis is about; the cause is what happened."""


@dataclass(frozen=True, slots=True)
class Found:
    """A walk that ended in a mismatch."""

    steps: tuple[Any, ...]
    mismatch: Mismatch

    def describe(self) -> str:
        """A description of the walk and its end."""
        reported = "; ".join(f"{number}. {step}" for number, step in enumerate(self.steps, start=1))
        return f"after {reported}: expected {self.mismatch.expected}, actual {self.mismatch.actual}"


@dataclass(eq=False)
class Search:
    """The walks of one case against one target."""

    peer: Line
    plan: Plan
    smallest: Found | None = None
    first: Found | None = None
    shrinking: bool = False
    unsteady: bool = False
    tries: int = 0
    until_s: float = 0.0
    # float() is 0.0: there is no clock before the first walk has a connection.
    now_s: Callable[[], float] = float

    def run(self) -> Found | None:
        """Walk; returns the smallest walk that was found to mismatch."""
        for walks, steps in _STAGES:
            if self.smallest is None:
                self._stage(walks, steps)
        return self.smallest

    @property
    def phases(self) -> Sequence[Phase]:
        """What hypothesis does."""
        return (Phase.generate, Phase.shrink) if self.peer.context.shrinks else (Phase.generate,)

    def _stage(self, walks: int, steps: int) -> None:
        factory: Any = hypothesis.seed(self.plan.seed)(lambda: _Machine(self))
        try:
            run_state_machine_as_test(factory, settings=seeded_settings(walks, steps, self.phases))
        except _Halt as halt:
            assert halt.__cause__ is not None
            raise halt.__cause__ from None
        except Flaky:  # the same steps did not lead to the same choices: the target's doing, and no mismatch
            self.unsteady = True
        # At the end of its search hypothesis raises the mismatch again; it is known by then.
        except Exception:
            if self.smallest is None:
                raise

    def again(self, steps: Sequence[Any], why: str) -> Found | None:
        """Drive a walk again; what became illegal, because steps before it are left out, is left out, too."""
        walk = self._walk(self.peer)
        try:
            walk.open()
            walk.peer.transport.note(why)
            for step in steps:
                if walk.menu.fits(step):
                    walk.take(step)
            walk.finish()
        except Mismatch as mismatch:
            walk.give_up(f"mismatch: {mismatch}")
            return Found(tuple(walk.steps), mismatch)
        return None

    def prune(self, found: Found) -> Found:
        """Leave steps out, many at first, as long as the walk still ends in a mismatch and there is time."""
        until_s = self.now_s() + _SHRINK_REPLIES * self.peer.patience_s
        # Halves, then quarters, down to single steps, from the end backwards: later steps depend on
        # earlier ones, not the other way round.
        size = len(found.steps) // 2
        while size:
            for at in range(len(found.steps) - size, -1, -size):
                if self.now_s() > until_s:
                    return found
                fewer = found.steps[:at] + found.steps[at + size :]
                # Any mismatch will do: a shorter walk to another one is a finding as well.
                found = self.again(fewer, f"without steps {at + 1} to {at + size}") or found
            size //= 2
        return found

    # --- one walk

    def begin(self) -> Walk | None:
        """A walk that is open, None where enough was tried."""
        if self.smallest is not None:
            self.tries += 1
            if not self.peer.context.shrinks or self.tries > _SHRINK_TRIES or self.now_s() > self.until_s:
                return None
        walk = self._walk(self.peer)
        self.guarded(walk, walk.open)
        return walk

    def _walk(self, peer: Line) -> Walk:
        context = peer.context
        # A mismatch is often an answer that never comes: with full patience each try would cost all of it.
        if self.shrinking:
            short = replace(context.patience, reply_s=min(context.patience.reply_s, _SHRINK_REPLY_S))
            context = replace(context, patience=replace(short, ending_s=_SHRINK_ENDING_S))
        return self.plan.begin(context, peer.lines)

    def guarded(self, walk: Walk, act: Callable[[], object]) -> None:
        """Leave a mismatch to hypothesis, which shrinks it; anything else ends the search."""
        try:
            act()
        except Mismatch as mismatch:
            self._found(walk, mismatch)
            raise
        except BaseException as error:
            walk.give_up()
            raise _Halt from error

    def _found(self, walk: Walk, mismatch: Mismatch) -> None:
        walk.give_up(f"mismatch: {mismatch}")
        found = Found(tuple(walk.steps), mismatch)
        self.shrinking = True
        if self.first is None:
            self.first = found
            self.now_s = walk.peer.now
            self.until_s = self.now_s() + _SHRINK_REPLIES * self.peer.patience_s
        # As long counts as smaller: hypothesis continues to simpler values at the same length.
        if self.smallest is None or len(found.steps) <= len(self.smallest.steps):
            self.smallest = found


class _Machine(RuleBasedStateMachine):
    """A history. One rule with all legal steps in it, not one for each verb: walks keep the mix of their kind."""

    def __init__(self, search: Search) -> None:
        super().__init__()
        self.search, self.verbs = search, search.plan.verbs.split()
        self.walk = search.begin()
        for step in search.plan.opening if self.walk is not None else ():
            self.act(step)

    def act(self, step: Any) -> None:
        """Take a step."""
        walk = self.walk
        assert walk is not None
        self.search.guarded(walk, lambda: walk.take(step))

    @precondition(lambda self: self.walk is not None)
    @rule(verb=CHOICES, choice=CHOICES)
    def step(self, verb: int, choice: int) -> None:
        """One of the legal steps of one of the verbs that have any."""
        assert self.walk is not None
        self.act(chosen(self.verbs, self.walk.menu.options, verb, choice))

    @precondition(lambda self: self.walk is None)
    @rule()
    def rest(self) -> None:
        """Nothing: enough was tried."""

    def teardown(self) -> None:
        """The end of the history."""
        walk = self.walk
        # The look into the nodes is part of the history: it is judged, and shrunk, like a step.
        if walk is not None and not walk.is_over:
            self.search.guarded(walk, walk.finish)


def walked(peer: Line, plan: Plan) -> Verdict:
    """Walk long legal histories, and compare each with the model; report a mismatch in the fewest steps found."""
    search = Search(peer, plan)
    note = (
        f"walks of seed {plan.seed}, hypothesis {hypothesis.__version__}: to repeat them, run this case alone"
    )
    found = search.run()
    if found is None and search.unsteady:
        return Verdict(Outcome.INCONCLUSIVE, _EXPECTED, "no mismatch, but the same steps led to other states")
    if found is None:
        stages = ", ".join(f"{walks} walks of up to {steps} steps" for walks, steps in _STAGES)
        return holds(peer, True, f"{stages}, seed {plan.seed}: no mismatch", _EXPECTED)
    if peer.context.shrinks:
        found = search.prune(found)
    # With full patience from here on: a slow answer is no mismatch.
    search.shrinking = False
    seen = search.again(found.steps, f"the smallest walk that was found; {note}")
    if seen is None and search.first is not None:
        found = search.first
        seen = search.again(found.steps, f"the walk that was found first; {note}")
    if seen is None:
        return Verdict(Outcome.INCONCLUSIVE, _EXPECTED, f"once, and not again: {found.describe()}")
    return holds(peer, False, f"{seen.describe()} (seed {plan.seed})", _EXPECTED)
