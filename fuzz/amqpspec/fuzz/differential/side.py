"""One of the targets that are compared: what it does with inputs, at first glance and when they are repeated.

Knows: executors, restarts. Must not know: other targets, what is made of reactions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.oracles.answers import deviates

ENDED = "the target ended"
"""The reaction to an input after which nothing answers any more."""


class SideLost(Exception):
    """A target does not answer any more, and cannot be restarted; the text names it."""


@dataclass(frozen=True, slots=True)
class Reaction:
    """What a target did: reply class, scope and code, or how it ended; no texts, times, or ways to end a stream.

    ``requirement`` is the one that the target violates by it, empty if it violates none.
    """

    text: str
    requirement: str = ""


class Side:
    """One target. Each input has its own connection; ``over`` ends what is in progress."""

    def __init__(self, subject: Subject, over: Event) -> None:
        self.subject, self.over = replace(subject, keeping=False), over
        self._tempo = Tempo.of(subject.round_trip_s(), subject.patience, subject.hang_s)
        # Late answers are waited for, and refusals as long as before: most of what is repeated is refused by one side.
        self._patient = replace(self._tempo.patient, refusal_s=self._tempo.refusal_s)

    @property
    def name(self) -> str:
        """The target's name."""
        return self.subject.name

    def react(self, items: Sequence[FuzzInput], *, patient: bool = False) -> dict[InputId, Reaction]:
        """The reactions to inputs, without those to inputs that did not reach their state. Raises SideLost.

        A target that ends is restarted and sent half of them at a time, until it is known which one ends it.
        """
        results = self._send(items, self._patient if patient else self._tempo)
        if self.over.is_set() or self.subject.awake(self.subject.hang_s):
            return {r.item.id: _reaction(r) for r in results if r.reached and r.end is not End.REFUSED}
        if not self.subject.renew():
            raise SideLost(f"{self.name}: no answer after {_named(items)}, and no restart")
        if len(items) == 1:
            return {items[0].id: Reaction(ENDED)}
        half = len(items) // 2
        return self.react(items[:half], patient=patient) | self.react(items[half:], patient=patient)

    def _send(self, items: Sequence[FuzzInput], tempo: Tempo) -> list[InputResult]:
        found: list[InputResult] = []
        if self.over.is_set():
            return found
        executor = self.subject.executor(tempo)
        # A state that no input reaches on the target is skipped; other states do not wait for it.
        executor.carrying = True
        try:
            for results in (executor.run(items), executor.finish()):
                for result in results:
                    found.append(result)
                    if self.over.is_set():
                        return found
        finally:
            executor.close()
        return found


def _reaction(result: InputResult) -> Reaction:
    return Reaction(result.reaction, result.item.expectation.requirement if deviates(result) else "")


def _named(items: Sequence[FuzzInput]) -> str:
    return str(items[0].id) if len(items) == 1 else f"{len(items)} inputs from {items[0].id} on"
