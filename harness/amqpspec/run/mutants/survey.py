"""A sample of mutants, tried in parallel, and its result.

Knows: sampling by seed, processes, time. Must not know: how a trial judges, how results are printed.

Equivalent mutants behave as the clean broker does, or differ in what no specification says: they are listed in
``equivalents.yaml`` by id, each with a reason that a reader can check, and are not tried. Where brokers share code,
a dialect before the id says by whose specification alone the mutant is equivalent. An id that ends in ``*`` covers
every surviving mutant whose id begins like it: those are tried. What holds faults and carries octets is no broker:
it is not mutated.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import yaml

from amqpspec.net.clock import monotonic_s
from amqpspec.run.case import load_suite
from amqpspec.run.mutants.places import Mutant, mutants_of
from amqpspec.run.mutants.reach import Line, lines_by_case, module_name
from amqpspec.run.mutants.surgery import can_be_put_in
from amqpspec.run.mutants.trial import Fate, Near, Trial, be_tried

EQUIVALENTS = Path(__file__).with_name("equivalents.yaml")
_TRIAL_S = 600.0
"""For a process that only waits: one that computes for too long is ended by its processor time limit."""
_ROWS_SHOWN = 3
_MACHINERY = frozenset({"deviations", "fault", "faults", "memory", "refusals"})


Reach = Mapping[str, Mapping[str, frozenset[Line]]]
"""By dialect, the lines that each of its cases executes."""


@dataclass(frozen=True, slots=True)
class Survey:
    """Trials over some dialects; ``rows`` are the requirement ids around each survivor's line, nearest first."""

    dialects: Sequence[str]
    trials: Sequence[Trial]
    rows: Mapping[str, Sequence[str]]

    def of(self, fate: Fate) -> list[Trial]:
        """The trials that ended so."""
        return [trial for trial in self.trials if trial.fate is fate]

    @property
    def share(self) -> float:
        """How many of the mutants that break a duty were noticed, from 0 to 1; a hang is noticed, too.

        Equivalent ones break none, and one that breaks only a SHOULD still conforms: neither counts.
        """
        tried = len(self.trials) - len(self.of(Fate.EQUIVALENT)) - len(self.of(Fate.NONSTRICT))
        return 1.0 if not tried else 1 - len(self.of(Fate.SURVIVED)) / tried

    def to_json(self) -> dict[str, Any]:
        """The shape that scripts read."""
        counts = {str(fate): len(self.of(fate)) for fate in Fate}
        survivors = [
            {"id": m.id, "file": m.file, "line": m.line, "what": m.what, "requirements": [*self.rows[m.id]]}
            for m in (trial.mutant for trial in self.of(Fate.SURVIVED))
        ]
        return {
            "dialect": " ".join(self.dialects),
            "mutants": len(self.trials),
            **counts,
            "survivors": survivors,
        }


def survey(
    dialects: Sequence[str],
    count: int,
    seed: int,
    *,
    module: str = "",
    workers: int = 4,
    tell: Callable[[Trial, int, int], None] = lambda trial, done, of: None,
) -> Survey:
    """Sample ``count`` mutants by seed and try each; ``module`` narrows to modules whose name holds it.

    A mutant meets every dialect whose cases execute its line: brokers share code, and one suite that notices is enough.
    Raises LookupError if nothing that the suites execute has such a name.
    """
    reach = {dialect: lines_by_case(dialect, workers) for dialect in dialects}
    sample = _sample(reach, count, seed, module)
    trials: list[Trial] = []
    for trial in _trials(sample, reach, workers):
        trials.append(trial)
        tell(trial, len(trials), len(sample))
    order = {mutant.id: place for place, mutant in enumerate(sample)}
    trials.sort(key=lambda trial: order[trial.mutant.id])
    rows = {t.mutant.id: _rows(t.mutant, reach) for t in trials if t.fate is Fate.SURVIVED}
    return Survey(dialects, trials, rows)


@cache
def equivalents() -> Mapping[str, str]:
    """Ids of mutants that no case can tell from the clean broker, with the reason."""
    found = yaml.safe_load(EQUIVALENTS.read_text(encoding="utf-8")) or {}
    return {str(id): str(reason) for id, reason in found.items()}


def _sample(reach: Reach, count: int, seed: int, module: str) -> list[Mutant]:
    executed = {line for by_case in reach.values() for lines in by_case.values() for line in lines}
    reached = {module_name(file) for file, _ in executed}
    brokers = {name for name in reached if name.rpartition(".")[2] not in _MACHINERY}
    names = sorted(name for name in brokers if module in name)
    if not names:
        raise LookupError(f"expected part of the name of a module that the suites execute, actual {module!r}")
    modules = [import_module(name) for name in names]
    every = [m for mod in modules for m in mutants_of(mod) if (str(mod.__file__), m.line) in executed]
    random.Random(seed).shuffle(every)
    sample: list[Mutant] = []
    for mutant in every:
        if len(sample) == count:
            break
        if can_be_put_in(mutant):
            sample.append(mutant)
    return sample


def _is_equivalent(mutant: Mutant, dialects: Iterable[str]) -> bool:
    known = equivalents()
    return mutant.id in known or all(f"{dialect} {mutant.id}" in known for dialect in dialects)


def _may_survive(trial: Trial, dialects: Iterable[str]) -> bool:
    """Whether an entry covers all that survives at this place."""
    id = trial.mutant.id
    whole = tuple(name.removesuffix("*") for name in equivalents() if name.endswith("*"))
    return id.startswith(whole) or all(f"{dialect} {id}".startswith(whole) for dialect in dialects)


def _trials(sample: Sequence[Mutant], reach: Reach, workers: int) -> Iterator[Trial]:
    waiting = iter(sample)
    running: dict[Connection, _Running] = {}
    while True:
        while len(running) < workers and (mutant := next(waiting, None)) is not None:
            near = _near(mutant, reach)
            if _is_equivalent(mutant, near):
                yield Trial(mutant, Fate.EQUIVALENT)
                continue
            started = _Running.start(mutant, near)
            running[started.answer] = started
        if not running:
            return
        for answer in _ended(running):
            trial = running.pop(answer).end()
            listed = trial.fate is Fate.SURVIVED and _may_survive(trial, _near(trial.mutant, reach))
            yield replace(trial, fate=Fate.EQUIVALENT) if listed else trial


@dataclass(frozen=True, slots=True)
class _Running:
    """A trial in progress."""

    mutant: Mutant
    process: BaseProcess
    answer: Connection
    until_s: float

    @classmethod
    def start(cls, mutant: Mutant, near: Near) -> _Running:
        """Split the trial's process off."""
        context = get_context("fork")
        answer, theirs = context.Pipe(duplex=False)
        process = context.Process(target=be_tried, args=(mutant, near, theirs), daemon=True)
        process.start()
        theirs.close()
        return cls(mutant, process, answer, monotonic_s() + _TRIAL_S)

    def end(self) -> Trial:
        """The outcome; a process that sent nothing in time, or died, has hung or broken the harness."""
        with _ending(self):
            if self.answer.poll():
                try:
                    trial: Trial = self.answer.recv()
                except EOFError:
                    return Trial(self.mutant, Fate.TIMED_OUT)
                return trial
        return Trial(self.mutant, Fate.TIMED_OUT)


@contextmanager
def _ending(trial: _Running) -> Iterator[None]:
    try:
        yield
    finally:
        trial.process.kill()
        trial.process.join()
        trial.answer.close()


def _ended(running: Mapping[Connection, _Running]) -> list[Connection]:
    """Trials that have answered, died, or used up their time."""
    rest_s = max(0.0, min(trial.until_s for trial in running.values()) - monotonic_s())
    ready = [answer for answer in wait(list(running), rest_s) if isinstance(answer, Connection)]
    return ready or [answer for answer, trial in running.items() if monotonic_s() >= trial.until_s]


def _near(mutant: Mutant, reach: Reach) -> Near:
    """Cases that execute the mutant's line, in dialects that do; those that execute little else first."""
    place = (str(import_module(mutant.module).__file__), mutant.line)
    near = {}
    for dialect, by_case in reach.items():
        if cases := [case for case, lines in by_case.items() if place in lines]:
            sizes = {case: len(by_case[case]) for case in cases}
            near[dialect] = sorted(cases, key=sizes.__getitem__)
    return near


def _rows(mutant: Mutant, reach: Reach) -> list[str]:
    near = _near(mutant, reach)
    covered = (
        row for dialect, cases in near.items() for case in cases for row in load_suite(dialect)[case].covers
    )
    return list(dict.fromkeys(covered))[:_ROWS_SHOWN]
