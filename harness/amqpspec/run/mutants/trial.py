"""One mutant meets the cases, in a separate process: is it noticed by a run's exit code?

Knows: cases in memory, what ends a run with a non-zero exit code. Must not know: sampling, other mutants.

Cases that execute the mutated line come first, all others only if it survives those. The first case that would make
the exit code non-zero ends the trial; where a SHOULD alone is broken, only ``--strict`` would, and that is
distinguished. Every case meets a separate broker in memory, where only an answer that the mutant delays is late; a
mutant that never returns uses up the processor time of one case, which ends the process.
"""

from __future__ import annotations

import logging
import os
import resource
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from itertools import chain
from multiprocessing.connection import Connection

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.execute import row_of
from amqpspec.run.exits import Exit
from amqpspec.run.memory import judged_in_memory
from amqpspec.run.mutants.places import Mutant
from amqpspec.run.mutants.surgery import put_in
from amqpspec.run.results import judge

_CASE_CPU_S = 12.0
"""The longest case takes less than half of it on a slow machine."""
_MEMORY_OCTETS = 2 << 30


class Fate(StrEnum):
    """The result for a mutant."""

    KILLED = "killed"
    NONSTRICT = "nonstrict"
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


def be_tried(mutant: Mutant, near: Near, answer: Connection) -> None:
    """The whole life of a trial's process; sends a ``Trial`` and ends the process."""
    logging.disable()  # exceptions of a mutant in the broker's loop are not reported
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY_OCTETS, _MEMORY_OCTETS))
    put_in(mutant)
    answer.send(_tried(mutant, near))
    answer.close()
    os._exit(0)


def _tried(mutant: Mutant, near: Near) -> Trial:
    far = {
        dialect: [name for name in load_suite(dialect) if name not in set(first)]
        for dialect, first in near.items()
    }
    noticed = Trial(mutant, Fate.SURVIVED)
    for dialect, names in chain(near.items(), far.items()):
        for name in names:
            fate, verdict = _fate_by(dialect, name)
            if fate is Fate.KILLED:
                return Trial(mutant, fate, dialect, name, verdict)
            if fate is Fate.NONSTRICT:
                noticed = Trial(mutant, fate, dialect, name, verdict)
    return noticed


def _fate_by(dialect: str, name: str) -> tuple[Fate, str]:
    """What happens to the mutant by one case, and by which verdict."""
    case = load_suite(dialect)[name]
    signal.setitimer(signal.ITIMER_PROF, _CASE_CPU_S)  # its signal ends the process
    try:
        row = row_of(case, judged_in_memory(case))
    except Exception:
        return Fate.KILLED, "does not start"
    if exit_code_of(row) is not Exit.CONFORMING:
        return Fate.KILLED, str(row.verdict)
    return (Fate.NONSTRICT if row.verdict is Outcome.NONSTRICT else Fate.SURVIVED), str(row.verdict)


def exit_code_of(row: CaseRow) -> Exit:
    """What this row makes of the exit code of a run of many; one that judges nothing leaves it as it is."""
    if row.verdict is Outcome.NOT_APPLICABLE or row.is_blocked_by_configuration:
        return Exit.CONFORMING
    return judge([row], None, date.min, strict=False, partial=False).exit_code
