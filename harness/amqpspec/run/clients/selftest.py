"""The self-test of a client suite: the clean reference agent passes every case, each of its mistakes is found.

Knows: how cases meet the reference agent with mistakes. Must not know: how the matrix is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path

from amqpspec.record.journal import Journal
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reference.faults import all_faults
from amqpspec.run.case import Case, load_suite
from amqpspec.run.clients.client import Arena
from amqpspec.run.clients.execute import run_clients
from amqpspec.run.clients.roles import about
from amqpspec.run.plan import Planned
from amqpspec.run.selftest import Matrix, is_kill
from amqpspec.spec.model import Side

_AT_ONCE = 4


def reference_agent(dialect: str, faults: Sequence[str] = ()) -> tuple[str, ...]:
    """The command line of the reference agent of a dialect, with faults."""
    options = [word for fault in faults for word in ("--fault", fault)]
    return (sys.executable, "-m", "amqpspec", "agent", "--dialect", dialect, *options)


def selftest_clients(
    dialect: str,
    folder: Path,
    only: Collection[str] = (),
    tell: Callable[[str, int, int], None] = lambda fault, done, of: None,
) -> Matrix:
    """Each case against the clean agent, each mistake against the cases of the rows that it breaks."""
    suite = about(load_suite(dialect), Side.CLIENT)
    clean = _met(dialect, suite.values(), folder / "clean")
    faults = [fault for fault in all_faults(dialect).values() if not only or fault.name in only]
    kills: dict[str, Sequence[str]] = {}
    errors: list[str] = []
    for done, fault in enumerate(faults, 1):
        meant = [case for case in suite.values() if set(case.covers) & set(fault.breaks)]
        rows = _met(dialect, meant, folder / fault.name, [fault.name])
        kills[fault.name] = [name for name, row in rows.items() if is_kill(clean[name], row)]
        errors += [f"{fault.name}: {r.id}: {r.observed}" for r in rows.values() if r.verdict is Outcome.ERROR]
        tell(fault.name, done, len(faults))
    return Matrix(dialect, clean, kills, errors)


def _met(
    dialect: str, cases: Iterable[Case], folder: Path, faults: Sequence[str] = ()
) -> Mapping[str, CaseRow]:
    rows: dict[str, CaseRow] = {}
    with Journal(folder) as journal:
        arena = Arena(reference_agent(dialect, faults), dialect, folder)
        run_clients(
            [Planned(case) for case in cases], arena, journal, _AT_ONCE, [lambda r: rows.update({r.id: r})]
        )
    return rows
