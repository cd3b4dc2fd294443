"""Programs generated and shrunk by hypothesis: a state machine with one rule, which takes any step of the model.

Knows: hypothesis, worlds. Must not know: any dialect, targets, files.

The seed decides what is tried, with the release of hypothesis and the modules that are loaded: it prefers numbers
that occur in them. A rule is given two numbers, and what they mean depends on the model: shrinking them leads to the
simplest verb and its simplest arguments, whatever outcome a race had.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import hypothesis
from hypothesis import Phase
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from amqpspec.fuzz.sequences.part import Begin, World
from amqpspec.fuzz.sequences.step import Found, Program, Step, Violation
from amqpspec.peer.context import BudgetSpent
from amqpspec.run.generated import CHOICES, chosen, seeded_settings

_SHRINK_TRIES = 200


class _Halt(BaseException):
    """Ends the search at once; no Exception, which hypothesis would take for a failing example."""


@dataclass(slots=True)
class Search:
    """Programs until one violates the model in a way that is not ``known``, or ``is_over``.

    ``tried`` counts programs until then, without those that shrink it; ``again`` are known violations that were seen.

    ``begin`` makes a world; raises OSError or another error of the target, which ends the search.
    """

    begin: Begin
    verbs: Sequence[str]
    known: Collection[str] = ()
    is_over: Callable[[], bool] = lambda: False
    shrinks: bool = True
    smallest: Found | None = None
    tried: int = 0
    steps: int = 0
    again: list[str] = field(default_factory=list)
    _tries: int = 0

    def run(self, seed: int, programs: int, steps: int) -> Found | None:
        """This many programs of up to this many steps; returns the smallest one that was found."""
        phases = (Phase.generate, Phase.shrink) if self.shrinks else (Phase.generate,)
        factory: Any = hypothesis.seed(seed)(lambda: _Machine(self))
        try:
            run_state_machine_as_test(factory, settings=seeded_settings(programs, steps, phases))
        except _Halt as halt:
            if halt.__cause__ is not None:
                raise halt.__cause__ from None
        except Flaky:
            pass  # a race: the violation did not occur again in the same way; the caller tries it again
        except Violation:
            assert self.smallest is not None
        return self.smallest

    def open(self) -> World:
        """A world for the next program; ends the search where enough was tried."""
        if self.smallest is not None:
            self._tries += 1
        if self.is_over() or self._tries > _SHRINK_TRIES:
            raise _Halt
        self.tried += self.smallest is None
        world: World = self.guarded(self.begin)
        return world

    def guarded(self, act: Callable[[], Any]) -> Any:
        """What an act gives; any error but a violation ends the search."""
        try:
            return act()
        except (Violation, _Halt):
            raise
        except BaseException as error:
            raise _Halt from error

    def found(self, program: Program, violation: Violation) -> bool:
        """Take notice of a violation; False if it is known, or another one than that which is being shrunk."""
        if violation.kind in self.known:
            self.again.append(violation.kind)
            return False
        if self.smallest is not None and self.smallest.violation.kind != violation.kind:
            return False
        if self.smallest is None or len(program) <= len(self.smallest.program):
            self.smallest = Found(program, violation)
        return True


class _Machine(RuleBasedStateMachine):
    """One program."""

    def __init__(self, search: Search) -> None:
        super().__init__()
        self.search = search
        self.program: list[Step] = []
        self.world: World | None = search.open()

    @rule(verb=CHOICES, choice=CHOICES)
    def step(self, verb: int, choice: int) -> None:
        """A step that the model allows."""
        if self.world is None:
            return
        step = chosen(self.search.verbs, self.world.options, verb, choice)
        self.program.append(step)
        self.search.steps += self.search.smallest is None
        self._judged(lambda world: world.take(step))

    def teardown(self) -> None:
        """The final check is part of the program."""
        self._judged(lambda world: world.finish())
        self._leave()

    def _judged(self, act: Callable[[World], None]) -> None:
        world = self.world
        if world is None:
            return
        try:
            self.search.guarded(lambda: act(world))
        except Violation as violation:
            self._leave()
            if self.search.found(tuple(self.program), violation):
                raise
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        world, self.world = self.world, None
        if world is not None:
            self.search.guarded(world.give_up)


def run_program(begin: Begin, program: Program) -> Found | None:
    """Run a program once; steps that the model does not offer, because others are missing, are left out.

    A program that takes too long shows nothing.
    """
    world, taken = begin(), list[Step]()
    try:
        for step in program:
            if step in world.options(step.verb):
                taken.append(step)
                world.take(step)
        world.finish()
    except Violation as violation:
        return Found(tuple(taken), violation)
    except BudgetSpent:
        return None
    finally:
        world.give_up()
    return None


def prune(begin: Begin, found: Found, is_over: Callable[[], bool]) -> Found:
    """Leave steps out, many at first, as long as the same violation remains and there is time.

    Without a later step, an earlier one may be superfluous: single steps are tried until none can be left out.
    """
    size = max(1, len(found.program) // 2)
    while size:
        fewer = _without(begin, found, size, is_over)
        if size > 1 or fewer is found:
            size //= 2
        found = fewer
    return found


def _without(begin: Begin, found: Found, size: int, is_over: Callable[[], bool]) -> Found:
    """Leave this many steps out at each place where the same violation remains."""
    for at in range(len(found.program) - size, -1, -size):
        if is_over():
            break
        fewer = run_program(begin, found.program[:at] + found.program[at + size :])
        if fewer is not None and fewer.violation.kind == found.violation.kind:
            found = fewer
    return found
