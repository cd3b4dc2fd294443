"""One mutant meets the cases, in a process of its own: is it noticed by a run's exit code?

Knows: the engine, patience, what ends a run with a non-zero exit code. Must not know: sampling, other mutants.

Cases that execute the mutated line come first, all others only if it survives those. The first case that would make the
exit code non-zero ends the trial, once it has done so a second time with a user's patience: on a busy machine a hasty
trial would take a late answer for a killed mutant.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from multiprocessing.connection import Connection
from pathlib import Path

from amqpspec.peer.context import Patience
from amqpspec.record.journal import Journal
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run.case import Case, load_suite
from amqpspec.run.engine import Engine, Settings
from amqpspec.run.execute import World
from amqpspec.run.mutants.places import Mutant
from amqpspec.run.mutants.surgery import put_in
from amqpspec.run.plan import make_plan
from amqpspec.run.results import Exit, judge
from amqpspec.target.config import Target
from amqpspec.target.live import Live, live

_HASTE = Patience(reply_s=1.5, quiet_s=0.15, ending_s=1.5)
_CONNECTIONS = 8


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    EQUIVALENT = "equivalent"
    TIMED_OUT = "timed_out"


Near = Mapping[str, Sequence[str]]
"""By dialect, the cases that execute the mutated line, those that execute little else first."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant's fate; ``case`` of ``dialect`` killed it, by ``verdict``."""

    mutant: Mutant
    fate: Fate
    dialect: str = ""
    case: str = ""
    verdict: str = ""


class _NotStartedError(Exception):
    """The mutated broker throws before it listens: a run ends with exit code 3."""

    def __init__(self, dialect: str) -> None:
        super().__init__(dialect)
        self.dialect = dialect


def be_tried(mutant: Mutant, near: Near, folder: Path, answer: Connection) -> None:
    """The whole life of a trial's process; sends a ``Trial`` and ends the process."""
    logging.disable()  # what a mutant throws in the broker's loop is its own affair
    put_in(mutant)
    try:
        answer.send(_tried(mutant, near, folder))
    except _NotStartedError as error:
        answer.send(Trial(mutant, Fate.KILLED, error.dialect, verdict="does not start"))
    answer.close()
    # Threads of a mutated broker may never end by themselves.
    os._exit(0)


def _tried(mutant: Mutant, near: Near, folder: Path) -> Trial:
    far = {
        dialect: [name for name in load_suite(dialect) if name not in first]
        for dialect, first in near.items()
    }
    for dialect, names in (*near.items(), *far.items()):
        suite = load_suite(dialect)
        left = [suite[name] for name in names]
        while left and (bad := _first_bad(dialect, left, folder, _HASTE)) is not None:
            row, passed = bad
            if (again := _first_bad(dialect, [suite[row.id]], folder, Patience())) is not None:
                return Trial(mutant, Fate.KILLED, dialect, row.id, str(again[0].verdict))
            left = [case for case in left if case.id != row.id and case.id not in passed]
    return Trial(mutant, Fate.SURVIVED)


def _first_bad(
    dialect: str, cases: Sequence[Case], folder: Path, patience: Patience
) -> tuple[CaseRow, set[str]] | None:
    """The first row that would end a run with a non-zero exit code, and the cases that ended well before it."""
    stop = threading.Event()
    rows: dict[str, CaseRow] = {}
    bad: list[CaseRow] = []

    def see(row: CaseRow) -> None:
        rows[row.id] = row
        if exit_code_of(row) is not Exit.CONFORMING:
            bad.append(row)
            stop.set()

    with ExitStack() as stack:
        target = _started(dialect, stack)
        journal = stack.enter_context(Journal(folder))
        world = World(target, folder, "mutants", patience, stop)
        engine = Engine(world, journal, Settings(connections=_CONNECTIONS), [see])
        engine.run(make_plan(cases, target, _NOTHING_LACKS))
    # Cases beside the first may have gone wrong before the stop reached them: they have not ended well.
    return (bad[0], set(rows) - {row.id for row in bad}) if bad else None


def _started(dialect: str, stack: ExitStack) -> Live:
    try:
        return stack.enter_context(live(Target("reference", dialect, broker="reference")))
    except Exception as error:
        raise _NotStartedError(dialect) from error


def exit_code_of(row: CaseRow) -> Exit:
    """What this row makes of the exit code of a run of many; one that judges nothing leaves it as it is."""
    if row.verdict is Outcome.NOT_APPLICABLE or row.is_blocked_by_configuration:
        return Exit.CONFORMING
    return judge([row], None, date.min, strict=False, partial=False).exit_code


_NOTHING_LACKS: Mapping[str, str] = {}
