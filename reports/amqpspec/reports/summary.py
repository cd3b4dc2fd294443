"""Counts for all reports, computed in one place so that they agree.

Knows: cases by level and outcome, coverage of requirements, the verdict on the whole run.
Must not know: any document format.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.load import LoadedRun, RequirementRow
from amqpspec.reports.outcomes import GREEN, UNCOUNTED, levels_in_order
from amqpspec.reports.standing import Deviations, standing
from amqpspec.run.exits import Exit

CONFORMS, NOTHING = "conforms", "nothing judged"
_WARMTH = (0.5, 0.8, 0.95, 1.0)
"""Shares from which the colour of a score is one step warmer."""


@dataclass(frozen=True, slots=True)
class LevelCount:
    """The cases of one level (or of all levels) by outcome; ``planned`` is their sum."""

    level: str
    outcomes: Mapping[Outcome, int]

    @property
    def planned(self) -> int:
        """Every case of this level, run or not."""
        return sum(self.outcomes.values())


def by_level(cases: Sequence[CaseRow]) -> list[LevelCount]:
    """One count for each level that occurs, strongest first."""
    return [
        LevelCount(level, Counter(case.verdict for case in cases if case.level == level))
        for level in levels_in_order(case.level for case in cases)
    ]


def total(cases: Sequence[CaseRow]) -> LevelCount:
    """All levels together."""
    return LevelCount("all", Counter(case.verdict for case in cases))


def occurring(cases: Sequence[CaseRow]) -> list[Outcome]:
    """The outcomes that a table of these cases needs, in their usual order."""
    seen = {case.verdict for case in cases}
    return [outcome for outcome in Outcome if outcome in seen]


@dataclass(frozen=True, slots=True)
class Score:
    """``231/240``: green cases among the applicable ones (planned without n/a and excluded)."""

    green: int
    of: int

    @classmethod
    def of_run(cls, run: LoadedRun) -> Score:
        """The score of all cases of a run."""
        return cls.among(case.verdict for case in run.cases)

    @classmethod
    def among(cls, outcomes: Iterable[Outcome]) -> Score:
        """The score of these cases; a blocked case counts as not green."""
        return cls.counted(Counter(outcomes))

    @classmethod
    def counted(cls, counts: Mapping[Outcome, int]) -> Score:
        """The score of counted outcomes."""
        return cls(
            sum(number for outcome, number in counts.items() if outcome in GREEN),
            sum(number for outcome, number in counts.items() if outcome not in UNCOUNTED),
        )

    @property
    def percent(self) -> float | None:
        """The percentage of green cases; None if no case counts."""
        return 100 * self.green / self.of if self.of else None

    @property
    def short(self) -> str:
        """``96 %``; 100 only if all cases are green, 0 only if none is."""
        if self.percent is None:
            return "–"
        rounded = round(self.percent)
        if rounded == 100 and self.green < self.of:
            rounded = 99
        if rounded == 0 and self.green:
            rounded = 1
        return f"{rounded} %"

    @property
    def heat(self) -> int | None:
        """From 0, less than half, to 4, all; None if no case counts."""
        if not self.of:
            return None
        return sum(self.green / self.of >= warm for warm in _WARMTH)

    def __str__(self) -> str:
        return f"{self.green}/{self.of}"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which requirements of the ledger have cases in this run, and which have none."""

    covered: int
    excluded: tuple[RequirementRow, ...]
    open: tuple[RequirementRow, ...]

    @property
    def total(self) -> int:
        """Every requirement of the ledger as the run recorded it."""
        return self.covered + len(self.excluded) + len(self.open)


def coverage(runs: Sequence[LoadedRun]) -> Coverage:
    """Coverage of the ledgers of all runs by the cases of all runs."""
    ledger = {id: row for run in runs for id, row in run.requirements.items()}
    named = {id for run in runs for case in run.cases for id in case.requirements}
    missing = [row for id, row in ledger.items() if id not in named]
    return Coverage(
        covered=len(ledger) - len(missing),
        excluded=tuple(row for row in missing if row.excluded),
        open=tuple(row for row in missing if not row.excluded),
    )


def headline(run: LoadedRun) -> str:
    """The verdict on the whole run in a few words; it agrees with the exit code.

    If the run did not judge every applicable requirement, it begins with ``partial: N of M requirements judged``.
    """
    if run.exit_code == Exit.TARGET:
        return "not reached"
    if run.meta.partial or not run.cases:
        return "incomplete run"
    word, stands = _word(run), standing(run)
    if stands.is_whole or word == NOTHING:
        return word
    return f"{stands}, {'no deviation' if word == CONFORMS else word}"


def _word(run: LoadedRun) -> str:
    found = Deviations.of_run(run)
    if found.unexpected:
        return "deviates"
    if found.undecided:
        return "not decided"
    if run.exit_code == Exit.DEVIATIONS:
        return "blocked"
    if run.exit_code == Exit.HARNESS:
        return NOTHING
    if run.stale:
        return "stale baseline"
    return "baseline met" if found.known else CONFORMS
