"""Which requirements a run judged, and all numbers that reports show: one set, computed here.

Knows: rows, the ledger as the run recorded it. Must not know: any document format.

A requirement is judged if at least one of its cases was judged and none was left without a judgement. It is not
applicable if all its cases are, because of the profile or limits. All others are open, whatever the reason.
Requirements of servers in a ledger for clients count only if the run has cases about servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.outcomes import is_deviation
from amqpspec.run.results import JUDGED
from amqpspec.spec.dialects import client_dialects

_SETTLED = JUDGED | {Outcome.NOT_APPLICABLE}


@dataclass(frozen=True, slots=True)
class Standing:
    """The number of applicable requirements that were judged, and the ids of the others."""

    judged: int
    of: int
    open: tuple[str, ...]

    @property
    def is_whole(self) -> bool:
        """Whether all of them were judged, and there was at least one."""
        return 0 < self.of == self.judged

    def __str__(self) -> str:
        return f"partial: {self.judged} of {self.of} requirements judged"


def standing(run: LoadedRun) -> Standing:
    """The requirements that this run judged; all cases of the suite count, including those that were not selected."""
    rows = {case.id: case for case in run.cases}
    judged, open_ids = 0, []
    for id, cases in _cases(run).items():
        found = {rows[case].verdict if case in rows else None for case in cases}
        if not found or not found <= _SETTLED:
            open_ids.append(id)
        elif found & JUDGED:
            judged += 1
    return Standing(judged, judged + len(open_ids), tuple(open_ids))


def _cases(run: LoadedRun) -> Mapping[str, set[str]]:
    """The cases of each testable requirement: those of the suite, and those of the run."""
    servers = _of_servers(run)
    beyond = set() if any(servers & {*case.requirements} for case in run.cases) else servers
    wanted = {id: row for id, row in run.requirements.items() if not row.excluded and id not in beyond}
    cases = {id: set(row.cases) for id, row in wanted.items()}
    for case in run.cases:
        for id in case.requirements:
            cases.setdefault(id, set()).add(case.id)
    return cases


def _of_servers(run: LoadedRun) -> set[str]:
    """The requirements of servers in a ledger for clients; none in other ledgers."""
    if run.meta.target.dialect not in client_dialects():
        return set()
    return {id for id, row in run.requirements.items() if row.binds == "server"}


@dataclass(frozen=True, slots=True)
class Numbers(Tally):
    """The numbers of a run for terminal, matrix, JUnit and certificate: its counts, split by the baseline.

    A case that is not green belongs to one of ``known``, ``unexpected``, ``undecided``, ``nonstrict`` and ``left``
    (blocked and not known).
    """

    known: int
    unexpected: int
    undecided: int
    nonstrict: int
    left: int
    requirements_judged: int
    requirements: int


def numbers(run: LoadedRun) -> Numbers:
    """All numbers of a run."""
    found, stands = Deviations.of_run(run), standing(run)
    return Numbers(
        **run.tally.to_json(), known=len(found.known), unexpected=len(found.unexpected),
        undecided=len(found.undecided), nonstrict=len(found.nonstrict), left=len(found.blocked),
        requirements_judged=stands.judged, requirements=stands.of,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Deviations:
    """Cases that are not green, by who has to act."""

    unexpected: tuple[CaseRow, ...]
    known: tuple[CaseRow, ...]
    undecided: tuple[CaseRow, ...]
    nonstrict: tuple[CaseRow, ...]
    blocked: tuple[CaseRow, ...]

    @classmethod
    def of_run(cls, run: LoadedRun) -> Deviations:
        """Each case is in one list at most."""
        strict = run.meta.strict
        rest = [case for case in run.cases if not case.is_known]
        return cls(
            unexpected=tuple(case for case in rest if is_deviation(case, strict)),
            known=tuple(case for case in run.cases if case.is_known),
            undecided=tuple(c for c in rest if c.verdict in (Outcome.INCONCLUSIVE, Outcome.ERROR)),
            nonstrict=tuple(c for c in rest if c.verdict is Outcome.NONSTRICT and not strict),
            blocked=tuple(case for case in rest if case.verdict is Outcome.BLOCKED),
        )
