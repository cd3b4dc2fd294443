"""From a suspicion to the input to blame: bisection, re-runs on a fresh target, a smaller input with the same effect.

Knows: how to try inputs again. Must not know: files, which inputs come next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import StrEnum

from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.executor.clock import now_s
from amqpspec.fuzz.executor.result import InputResult, Spoken
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.oracles.monitor import Monitor
from amqpspec.fuzz.oracles.suspicion import SPOILS, Oracle, Suspicion
from amqpspec.fuzz.triage.search import Spent
from amqpspec.fuzz.triage.shrink import smaller_steps

_TRIES = 2
_TRIES_OF = {Oracle.LATE: 5}
"""A late answer is what a busy machine gives soonest, and a trial of it costs least."""
_SETTLE_S = 0.2
_RECOVERS_S = 30.0
"""How long a target that was not restarted has to answer again."""
_ALONE_FIRST = 3
_SMALLER_ASKS = {Oracle.LOG: 64, Oracle.CANARY: 64, Oracle.LEAK: 64, Oracle.CRASH: 32}
_FEW_ASKS = 8
"""How often an input may be tried to make it smaller: most where its oracle answers at once; a process may die late."""
_SURE_ASKS, _SOME_ASKS, _DEAR_ASKS = 16, 8, 2
"""In a hurry, there are only these, which make it smaller by most: fewer if success costs a restart, or each try."""
NOISY = frozenset({Oracle.LATE, Oracle.CPU, Oracle.MEMORY, Oracle.OBEDIENCE, Oracle.CONFORMANCE})
"""Oracles that a busy machine can move: what cannot be repeated is no finding of theirs, it is only counted."""
_ONCE_MORE = NOISY - {Oracle.CONFORMANCE}
"""Oracles whose suspects are tried together once before anything else: what does not happen again is not sought."""
_COMPARED = frozenset({Oracle.LATE, Oracle.CPU, Oracle.MEMORY})
DEAR = frozenset({Oracle.MEMORY, Oracle.CPU})
"""Oracles of the process: each trial needs a fresh one."""
COST_A_RESTART = SPOILS | DEAR
"""Oracles behind whose complaint a target is unfit for another trial."""
_GROUPS, _HANG_S = 8, 3.0
"""How many parts of a batch are sent in order to see after which one it happens; a suspect is confirmed later, so that
a hang need not last as long as usual.
"""
_OF_ONE_CONNECTION = frozenset({Oracle.LATE, Oracle.OBEDIENCE, Oracle.CONFORMANCE})
"""Oracles for which a new connection is fresh enough."""
_NAME_INPUTS = _OF_ONE_CONNECTION | {Oracle.LOG}
"""Oracles whose suspects are likely ones: each is tried alone before all are tried together."""


class Status(StrEnum):
    """``stable``: happens each time, on a fresh target, too; ``flaky``: sometimes; ``lost``: seen once, not again.

    ``unblamed``: seen, but not retried to the end, because the campaign was stopped or the target lost.
    """

    STABLE = "stable"
    FLAKY = "flaky"
    LOST = "lost"
    UNBLAMED = "unblamed"


@dataclass(frozen=True, slots=True)
class Blame:
    """Who is to blame. Without ``item``, it is the batch as a whole, as far as is known.

    ``asks`` is the number of attempts to make the input smaller; 0 if there were none.
    """

    status: Status
    suspicion: Suspicion
    item: FuzzInput | None = None
    result: InputResult | None = None
    spoken: tuple[Spoken, ...] = ()
    log: str = ""
    asks: int = 0


@dataclass(frozen=True, slots=True)
class _Trial:
    fired: Suspicion | None
    result: InputResult | None = None
    spoken: tuple[Spoken, ...] = ()
    log: str = ""


class TargetLost(Exception):
    """The target does not answer, and nothing here can bring it back."""


class OutOfTime(Exception):
    """The time for blame is over; what was not retried yet stays open."""


class Triage:
    """Retries inputs on one target; ``trials`` continues an earlier count. If ``is_late``, it ends with OutOfTime; if
    ``is_hurried``, inputs are not made smaller any further.

    ``revivals`` counts how many times the target was, or may have been, restarted; ``away_since_s`` says when the last
    time was, as long as it has not answered since.
    """

    def __init__(self, subject: Subject, monitor: Monitor, tempo: Tempo, trials: int = 0) -> None:
        self._subject, self._monitor, self._tempo = subject, monitor, tempo
        self.trials, self.revivals = trials, 0
        self.away_since_s: float | None = None
        self._fresh = False
        self.is_late: Callable[[], bool] = lambda: False
        self.is_hurried: Callable[[], bool] = lambda: False

    def blame(self, items: Sequence[FuzzInput], seen: Suspicion) -> Blame:
        """Find the one input of a batch that is to blame. Raises TargetLost, OutOfTime."""
        self._fresh = False
        blame = self._blame(items, seen)
        if blame.status is Status.LOST:
            self._monitor.unconfirmed(seen.oracle)
        return blame

    def _blame(self, items: Sequence[FuzzInput], seen: Suspicion) -> Blame:
        if seen.oracle in SPOILS:
            self.revive()
        if seen.oracle is Oracle.OBEDIENCE:
            # An answer may depend on what others left behind (a queue, say); a finding has to happen without them.
            self.renew()
        suspected = self._suspected(items, seen)
        left: Sequence[FuzzInput] = items
        if seen.oracle in _ONCE_MORE:
            left = self._shown(suspected, items, seen)
            if not left:
                return Blame(Status.LOST, seen)
        one = self._one(left, suspected, seen)
        if one is not None:
            return self._confirmed(one, seen)
        self.renew()
        again = self._try(items, seen)
        return Blame(Status.FLAKY if again.fired else Status.LOST, again.fired or seen, None, log=again.log)

    def again(self, item: FuzzInput, seen: Suspicion) -> Blame:
        """Retry one input alone, as many times as a finding is confirmed. Raises TargetLost."""
        self._fresh = False
        return self._confirmed(item, seen)

    def revive(self) -> None:
        """Bring back a target that may be gone: it recovers or is restarted. Raises TargetLost, OutOfTime."""
        self._monitor.forget()
        self.revivals += 1
        if self.is_late():
            raise OutOfTime
        self.away_since_s = now_s()
        self._fresh = self._subject.renew()
        if not (self._fresh or self._subject.awake(_RECOVERS_S)):
            raise TargetLost(f"{self._subject.name} no longer answers, and cannot be restarted from here")
        self.away_since_s = None

    def renew(self) -> None:
        """Restart the target if possible, unless nothing was sent since the last restart. Raises TargetLost."""
        if self._subject.restart is not None and not self._fresh:
            self.revive()

    # --- who

    def _suspected(self, items: Sequence[FuzzInput], seen: Suspicion) -> list[FuzzInput]:
        """The items that the oracle named, in its order."""
        at = {id: number for number, id in enumerate(seen.inputs)}
        return sorted((item for item in items if item.id in at), key=lambda item: at[item.id])

    def _shown(
        self, suspected: Sequence[FuzzInput], items: Sequence[FuzzInput], seen: Suspicion
    ) -> Sequence[FuzzInput]:
        """Those that do it together when retried: the suspects, else all; none if it is not reproduced."""
        if suspected and self._try(suspected, seen).fired:
            return suspected
        whole = not suspected or (len(suspected) < len(items) and seen.oracle is not Oracle.OBEDIENCE)
        return items if whole and self._try(items, seen).fired else ()

    def _one(
        self, items: Sequence[FuzzInput], suspected: Sequence[FuzzInput], seen: Suspicion
    ) -> FuzzInput | None:
        if seen.oracle is Oracle.CONFORMANCE:
            return suspected[0] if suspected else None
        shown = seen.oracle in _ONCE_MORE
        if shown and len(items) == 1:
            return items[0]
        alone = suspected[:_ALONE_FIRST] if seen.oracle in _NAME_INPUTS else []
        if seen.oracle in DEAR:
            # The largest is the likeliest one, and each half that is tried costs a restart.
            alone = sorted(items, key=lambda item: -len(item.octets))[:1]
        for item in alone:
            if self._try([item], seen).fired:
                return item
        if self._subject.restart is not None and seen.oracle in COST_A_RESTART:
            one = self._met(suspected or items, seen)
            if one is not None:
                return one
        if not shown and len(alone) < len(suspected) < len(items) and self._try(suspected, seen).fired:
            items = suspected
        return self._bisected(items, seen)

    def _met(self, items: Sequence[FuzzInput], seen: Suspicion) -> FuzzInput | None:
        """The input after which it happens when all are sent in order, a few at a time: one restart for each pass.

        Halves would cost a restart each. What shows later, or needs several inputs, is not found like this.
        """
        left = list(items)
        while left:
            size = -(-len(left) // _GROUPS) if len(left) > _GROUPS else 1
            met = self._first([left[at : at + size] for at in range(0, len(left), size)], seen)
            if met is None:
                return None
            if len(met) == 1:
                return met[0]
            left = met
        return None

    def _first(self, groups: Sequence[list[FuzzInput]], seen: Suspicion) -> list[FuzzInput] | None:
        """The first group after which it happens, on one target."""
        if seen.oracle in DEAR:
            self.renew()
        executor = self._subject.executor(self._tempo.hasty)
        executor.carrying = True
        hang_s, self._monitor.hang_s = self._monitor.hang_s, min(_HANG_S, self._monitor.hang_s)
        try:
            for group in groups:
                self._count()
                self._ready()
                check = self._monitor.after(list(executor.run(group)), executor.waiting)
                if any(s.oracle in SPOILS for s in check.suspicions):
                    executor.drop()
                    self.revive()
                if any(_same(s, seen) or {s.oracle, seen.oracle} <= SPOILS for s in check.suspicions):
                    return group
        finally:
            self._monitor.hang_s = hang_s
            executor.close()
        return None

    def _count(self) -> None:
        """Count one more trial. Raises OutOfTime."""
        if self.is_late():
            raise OutOfTime
        self.trials += 1

    def _bisected(self, items: Sequence[FuzzInput], seen: Suspicion) -> FuzzInput | None:
        left, sure = list(items), False
        while len(left) > 1:
            halves = left[: len(left) // 2], left[len(left) // 2 :]
            hit = self._hit(halves, seen)
            if hit is None:
                return None
            left, sure = hit, True
        return left[0] if left and (sure or self._try(left, seen).fired) else None

    def _hit(self, halves: Iterable[list[FuzzInput]], seen: Suspicion) -> list[FuzzInput] | None:
        """The half that does it; if several things end a target, preferably the half that does what was seen."""
        other = None
        for half in halves:
            fired = self._try(half, seen).fired
            if fired is not None and (not seen.cause or fired.cause == seen.cause):
                return half
            other = half if fired is not None and other is None else other
        return other

    def _confirmed(self, item: FuzzInput, seen: Suspicion) -> Blame:
        trials: list[_Trial] = []
        tries = _TRIES_OF.get(seen.oracle, _TRIES)
        for number in range(tries):
            # A line of a log is written again by a target that continues; the last time a fresh one has to write it.
            if seen.oracle not in _OF_ONE_CONNECTION and (
                seen.oracle is not Oracle.LOG or number + 1 == tries
            ):
                self.renew()
            # To be sure of a silence takes long; once is enough, but first: a slow answer is not even flaky.
            trials.append(self._try([item], seen, hasty=bool(trials and trials[0].fired)))
        fired = [trial for trial in trials if trial.fired is not None]
        # What a busy machine does at times happens not each time, or without the input, too.
        if seen.oracle in _COMPARED and (len(fired) < tries or self._try([], seen).fired):
            fired = []
        if not fired:
            return Blame(Status.LOST, seen, item)
        status = Status.STABLE if len(fired) == tries else Status.FLAKY
        last = fired[-1]
        assert last.fired is not None
        return Blame(status, last.fired, item, last.result, last.spoken, last.log)

    def _try(self, items: Sequence[FuzzInput], seen: Suspicion, *, hasty: bool = False) -> _Trial:
        """Send inputs and ask the oracle again; a target that they end is brought back. Raises OutOfTime."""
        self._count()
        alone = len(items) < 2
        executor = self._subject.executor(self._tempo_for(seen.oracle, patient=alone and not hasty))
        executor.recording = alone
        if seen.oracle in DEAR:
            # What grew once may have room from then on, and what burns may burn on: only a fresh process tells.
            self.renew()
        self._ready()
        try:
            results = list(executor.run(items))
            settle_s = _SETTLE_S if alone else 0.0
            check = self._monitor.after(results, settle_s=settle_s, dying=seen.oracle is Oracle.CRASH)
        finally:
            executor.close()
        if any(s.oracle in SPOILS for s in check.suspicions):
            self.revive()
        fired = next((s for s in check.suspicions if _same(s, seen)), None)
        spoken = executor.last.spoken if executor.last is not None else None
        result = results[0] if alone and results else None
        return _Trial(fired, result, tuple(spoken or ()), check.log)

    def _tempo_for(self, oracle: Oracle, *, patient: bool) -> Tempo:
        if oracle not in _OF_ONE_CONNECTION:
            return self._tempo.hasty
        # That an answer is late shows without more patience.
        return self._tempo.patient if patient and oracle is not Oracle.LATE else self._tempo

    def _ready(self) -> None:
        """Prepare the target for inputs. Raises TargetLost."""
        self._fresh = False
        try:
            self._monitor.before()
        except Unanswered:
            self.revive()
            try:
                self._monitor.before()
            except Unanswered as reason:
                raise TargetLost(f"{self._subject.name}: {reason}") from reason

    # --- smaller

    def smaller(self, blame: Blame) -> Blame:
        """The blame with the smallest input found that has the same signature. Raises TargetLost.

        If the time for blame is over, it is the smallest so far.
        """
        if blame.status is not Status.STABLE or blame.item is None:
            return blame
        best, asks = blame, 0
        sure = _sure_asks(blame.suspicion.oracle)

        def keeps(steps: tuple[bytes, ...]) -> bool:
            nonlocal best, asks
            if asks >= sure and self.is_hurried():
                raise Spent
            asks += 1
            tried = self._smaller_one(blame, steps)
            best = tried or best
            return tried is not None

        with suppress(OutOfTime):
            smaller_steps(blame.item, keeps, _SMALLER_ASKS.get(blame.suspicion.oracle, _FEW_ASKS))
        return replace(best, asks=asks)

    def _smaller_one(self, blame: Blame, steps: tuple[bytes, ...]) -> Blame | None:
        """The blame with other steps, if they have the same signature."""
        assert blame.item is not None
        item = replace_steps(blame.item, steps)
        tried = self._try([item], blame.suspicion, hasty=True)
        if tried.fired is None or not _same_cause(tried.fired, blame.suspicion):
            return None
        return replace(
            blame, item=item, suspicion=tried.fired, result=tried.result, spoken=tried.spoken, log=tried.log
        )


def _sure_asks(oracle: Oracle) -> int:
    if oracle in DEAR:
        return _DEAR_ASKS
    return _SOME_ASKS if oracle in SPOILS else _SURE_ASKS


def replace_steps(item: FuzzInput, steps: tuple[bytes, ...]) -> FuzzInput:
    """An input with other octets; its id names its origin."""
    return FuzzInput(item.id, item.dialect, item.state, steps, item.words)


def _same(one: Suspicion, seen: Suspicion) -> bool:
    if one.oracle is not seen.oracle:
        return False
    return one.oracle not in (Oracle.LOG, Oracle.CONFORMANCE) or _same_cause(one, seen)


def _same_cause(one: Suspicion, seen: Suspicion) -> bool:
    """Compare by the trace if there is one: the message above it may hold values."""
    return one.cause == seen.cause if seen.cause else one.top == seen.top
