"""The self-test: the clean reference broker passes every case, every fault is found, every case is killed by a fault.

Knows: cases, faults, what ties them (requirement ids). Must not know: how it is printed. A fault is found when a
case that passes on the clean broker gets another verdict, or observes another way, with the fault switched on. Each
fault meets the cases that cover a requirement it breaks; ``full`` tries all of them. The clean broker is met over
sockets, faults in memory, and over sockets if that shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from amqpspec.record.journal import Journal
from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reference.faults import Fault, all_faults
from amqpspec.run.case import Case, load_suite
from amqpspec.run.engine import Engine, Settings
from amqpspec.run.execute import World, row_of
from amqpspec.run.memory import Conditions, judged_in_memory
from amqpspec.run.plan import make_plan
from amqpspec.target.config import Target
from amqpspec.target.live import live

GREEN = frozenset({Outcome.PASS, Outcome.OBSERVED})
# What kills must be a judgement: a case that was merely blocked or ran out of time has judged nothing.
_KILLING = frozenset({Outcome.FAIL, Outcome.NONSTRICT, Outcome.OBSERVED})


@dataclass(frozen=True, slots=True)
class Matrix:
    """Which fault killed which case; ``clean`` holds each case's row on the clean broker."""

    dialect: str
    clean: Mapping[str, CaseRow]
    kills: Mapping[str, Sequence[str]]
    errors: Sequence[str] = field(default=())

    @property
    def killed(self) -> set[str]:
        """Cases that at least one fault kills."""
        return {case for cases in self.kills.values() for case in cases}

    @property
    def survivors(self) -> list[str]:
        """Cases that no fault kills."""
        return sorted(set(self.clean) - self.killed)

    @property
    def found(self) -> list[str]:
        """Faults that at least one case finds."""
        return [fault for fault, cases in self.kills.items() if cases]

    @property
    def not_found(self) -> list[str]:
        """Faults that no case finds."""
        return sorted(set(self.kills) - set(self.found))

    @property
    def not_clean(self) -> list[str]:
        """Cases that the clean broker does not pass."""
        return sorted(case for case, row in self.clean.items() if row.verdict not in GREEN)

    def to_json(self) -> dict[str, object]:
        """The counts that scripts read, and the matrix itself."""
        return {
            "dialect": self.dialect,
            "cases": len(self.clean),
            "clean_passed": len(self.clean) - len(self.not_clean),
            "killed": len(self.killed),
            "survivors": self.survivors,
            "faults": len(self.kills),
            "faults_found": len(self.found),
            "not_found": self.not_found,
            "not_clean": self.not_clean,
            "errors": list(self.errors),
            "kills": {fault: sorted(cases) for fault, cases in self.kills.items()},
        }


def selftest(
    dialect: str,
    folder: Path,
    *,
    repeat: int = 1,
    full: bool = False,
    only: Iterable[str] = (),
    late_s: float = 0.0,
    tell: Callable[[str, int, int], None] = lambda fault, done, of: None,
) -> Matrix:
    """Run it all; evidence stays below ``folder``.

    ``late_s`` is how long what the brokers say by themselves comes after its cause: no verdict may hang on that.
    """
    suite = load_suite(dialect)
    run = partial(_run, dialect, late_s=late_s)
    clean = run(list(suite.values()), folder / "clean", (), repeat)
    quick = _in_memory(suite.values(), Conditions(late_s=late_s))
    faults = [f for f in all_faults(dialect).values() if not only or f.name in set(only)]
    kills: dict[str, list[str]] = {}
    errors: list[str] = []

    def meet(fault: Fault, unbroken: Mapping[str, CaseRow], rows: Mapping[str, CaseRow]) -> None:
        known = kills.setdefault(fault.name, [])
        known += [name for name, row in rows.items() if is_kill(unbroken[name], row) and name not in known]
        broken = {name: row for name, row in rows.items() if row.verdict is Outcome.ERROR}
        errors.extend(f"{fault.name}: {name}: {row.observed}" for name, row in broken.items())

    def meant_for(fault: Fault) -> list[Case]:
        return [c for c in suite.values() if full or set(c.covers) & set(fault.breaks)]

    for done, fault in enumerate(faults, 1):
        meet(fault, quick, _in_memory(meant_for(fault), Conditions((fault.name,), late_s)))
        tell(fault.name, done, len(faults))
    for fault in faults:  # what takes a socket to be seen
        living = set(suite) - {name for names in kills.values() for name in names}
        missed = [c for c in meant_for(fault) if not kills[fault.name] or (not only and c.id in living)]
        if missed:
            meet(fault, clean, run(missed, folder / _folder_name(fault.name), (fault.name,), 1))
    return Matrix(dialect, clean, {f.name: kills[f.name] for f in faults}, errors)


def is_kill(clean: CaseRow, row: CaseRow) -> bool:
    """Whether a fault shows: another verdict, or another way, than if nothing is broken."""
    if row.verdict not in _KILLING or clean.verdict not in GREEN:
        return False
    if row.verdict is Outcome.OBSERVED:
        return row.observed != clean.observed
    return True


def _run(
    dialect: str,
    cases: Sequence[Case],
    folder: Path,
    faults: Sequence[str],
    repeat: int,
    late_s: float,
) -> dict[str, CaseRow]:
    """The worst row of each case against a reference broker of its own."""
    rows: dict[str, CaseRow] = {}

    def keep(row: CaseRow) -> None:
        known = rows.get(row.id)
        if known is None or known.verdict in GREEN:
            rows[row.id] = row

    with (
        live(Target("reference", dialect, broker="reference"), faults=faults, late_s=late_s) as target,
        Journal(folder) as journal,
    ):
        world = World(target, folder, "selftest")
        engine = Engine(world, journal, Settings(connections=8, repeat=repeat), [keep])
        engine.run(make_plan(cases, target, {}))
    return rows


def _in_memory(cases: Iterable[Case], conditions: Conditions) -> dict[str, CaseRow]:
    """The row of each case against a reference broker of its own that has no socket."""
    return {case.id: row_of(case, judged_in_memory(case, conditions)) for case in cases}


def _folder_name(fault: str) -> str:
    return "".join(c if c.isalnum() or c in "-." else "_" for c in fault)
