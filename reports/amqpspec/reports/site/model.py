"""The contents of pages as plain data: lines of the index, pages of targets, differences.

Knows: rows of marts, what a reader needs first. Must not know: HTML, geometry.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.rows import (
    Difference,
    ExploredDay,
    FindingCluster,
    FlakyCase,
    LatestVerdict,
    Regression,
    RequirementStatus,
    RunScore,
)
from amqpspec.reports.outcomes import GREEN, UNCOUNTED, level_place
from amqpspec.reports.site.load import Line, Loaded
from amqpspec.reports.summary import Score

WHOLE_SHARE = 0.9
"""A run with a smaller share of the cases of the widest run in its line is partial."""

_EXCUSED = frozenset({Outcome.FAIL, Outcome.INCONCLUSIVE, Outcome.BLOCKED})


@dataclass(frozen=True, slots=True)
class Version:
    """A version of a target with the latest verdict of each of its cases."""

    name: str
    counts: Counter[Outcome]
    newest: bool

    @property
    def share(self) -> Score:
        """The score."""
        return Score.counted(self.counts)


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run's score; ``part`` if it had only a part of the cases."""

    run: str
    version: str
    suite_version: str
    at: datetime | None
    share: Score
    part: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """All data about one target in one dialect; verdicts, requirements and deviations are those of the newest
    version.
    """

    target: str
    dialect: str
    product: str
    versions: tuple[Version, ...]
    runs: tuple[ScoredRun, ...]
    verdicts: tuple[LatestVerdict, ...]
    deviations: tuple[LatestVerdict, ...]
    changes: tuple[Regression, ...]
    flaky: tuple[FlakyCase, ...]
    findings: tuple[FindingCluster, ...]
    requirements: tuple[RequirementStatus, ...]
    explored: Mapping[str, tuple[ExploredDay, ...]]

    @property
    def label(self) -> str:
        """The target with the version in which it was last seen."""
        return f"{self.target} {self.newest.name if self.newest else ''}".strip()

    @property
    def newest(self) -> Version | None:
        """The version in which the target was last seen; None if no suite ran against it."""
        return next((version for version in self.versions if version.newest), None)

    @property
    def scored_runs(self) -> tuple[ScoredRun, ...]:
        """Runs with at least one counted case."""
        return tuple(run for run in self.runs if run.share.of)

    @property
    def whole_runs(self) -> tuple[ScoredRun, ...]:
        """Those that are not partial."""
        return tuple(run for run in self.scored_runs if not run.part)

    @property
    def unexpected(self) -> int:
        """Failures that no baseline lists."""
        return sum(row.outcome is Outcome.FAIL and row.baseline != "known" for row in self.deviations)

    @property
    def undecided(self) -> int:
        """Undecided cases and harness errors that no baseline lists."""
        rows = (row for row in self.deviations if row.baseline != "known")
        return sum(row.outcome in (Outcome.INCONCLUSIVE, Outcome.ERROR) for row in rows)

    @property
    def known(self) -> int:
        """Deviations that a baseline lists; as in the report of a run, without nonstrict cases."""
        rows = (row for row in self.deviations if row.baseline == "known")
        return sum(row.outcome in _EXCUSED for row in rows)

    @property
    def flaky_now(self) -> int:
        """Flaky cases of the newest version."""
        return sum(self.newest is not None and row.target_version == self.newest.name for row in self.flaky)

    @property
    def fuzzed(self) -> bool:
        """Whether a campaign reached any edge."""
        return "edge" in self.explored

    @property
    def open_findings(self) -> tuple[FindingCluster, ...]:
        """The open findings of the version that was fuzzed last."""
        return tuple(finding for finding in self.findings if finding.open)


def sheets(loaded: Loaded) -> list[Sheet]:
    """One for each target and dialect, by dialect, then by name."""
    return [_sheet(loaded, line) for line in loaded.lines]


def _sheet(loaded: Loaded, line: Line) -> Sheet:
    verdicts = sorted(loaded.verdicts[line], key=lambda row: row.case)
    return Sheet(
        target=line[0],
        dialect=line[1],
        product=next((row.product for row in verdicts if row.product), "") or line[0],
        versions=_versions(loaded.counts[line], {row.target_version for row in verdicts}),
        runs=_runs(loaded.scores[line]),
        verdicts=tuple(verdicts),
        deviations=tuple(sorted(filter(_deviates, verdicts), key=_worst_first)),
        changes=tuple(sorted(loaded.changes[line], key=_changed_last)),
        flaky=tuple(sorted(loaded.flaky[line], key=lambda row: (-(row.flip_rate or 0), row.case))),
        findings=tuple(sorted(loaded.findings[line], key=_open_first)),
        requirements=tuple(loaded.requirements[line]),
        explored=_by_dimension(loaded.exploration[line]),
    )


def _versions(counts: Mapping[str, Counter[Outcome]], newest: set[str]) -> tuple[Version, ...]:
    own = (Version(name, counted, name in newest) for name, counted in counts.items())
    return tuple(sorted(own, key=lambda version: version_order(version.name), reverse=True))


def version_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts versions in the order of releases: 3.9, 3.10, 4.0-rc.1, 4.0, 4.0.1."""
    parts = [part for part in re.split(r"[^0-9A-Za-z]+", version) if part]
    numbered = [(2, int(part), "") if re.fullmatch("[0-9]{1,18}", part) else (0, 0, part) for part in parts]
    return (*numbered, (1, 0, ""))


def _runs(scores: Iterable[RunScore]) -> tuple[ScoredRun, ...]:
    parts = defaultdict(list)
    for row in scores:
        parts[row.run, row.target_version, row.suite_version].append(row)
    cases = {key: sum(row.cases for row in rows) for key, rows in parts.items()}
    whole = WHOLE_SHARE * max(cases.values(), default=0)
    runs = [
        ScoredRun(
            *key,
            min((row.at for row in rows if row.at), default=None),
            Score(sum(row.green for row in rows), sum(row.counted for row in rows)),
            cases[key] < whole,
        )
        for key, rows in parts.items()
    ]
    return tuple(sorted(runs, key=lambda run: (_stamp(run.at), run.run)))


def _by_dimension(rows: Iterable[ExploredDay]) -> Mapping[str, tuple[ExploredDay, ...]]:
    found: dict[str, list[ExploredDay]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.dt):
        found[row.dimension].append(row)
    return {name: tuple(days) for name, days in found.items()}


def _deviates(row: LatestVerdict) -> bool:
    return row.outcome not in GREEN and row.outcome not in UNCOUNTED


_ORDER = (Outcome.FAIL, Outcome.ERROR, Outcome.INCONCLUSIVE, Outcome.BLOCKED, Outcome.NONSTRICT)


def _worst_first(row: LatestVerdict) -> tuple[int, bool, tuple[int, str], str]:
    return _ORDER.index(row.outcome), row.baseline == "known", level_place(row.level), row.case


def _stamp(at: datetime | None) -> float:
    return at.timestamp() if at else 0.0


def _changed_last(row: Regression) -> tuple[float, bool, str]:
    return -_stamp(row.at), row.direction != "regressed", row.case


def _open_first(row: FindingCluster) -> tuple[bool, float, str]:
    return not row.open, -_stamp(row.last_seen), row.crash


def sections_of(sheets: Iterable[Sheet]) -> list[str]:
    """The sections of the suite that occur, by name."""
    return sorted({row.suite or "" for sheet in sheets for row in sheet.verdicts})


def section_share(sheet: Sheet, section: str, level: str | None = None) -> Score:
    """The score of one section, and of one level of it."""
    rows = (row for row in sheet.verdicts if (row.suite or "") == section)
    return Score.among(row.outcome for row in rows if level is None or (row.level or "") == level)


def level_share(sheet: Sheet, level: str) -> Score:
    """The score of one level."""
    return Score.among(row.outcome for row in sheet.verdicts if (row.level or "") == level)


def requirement_counts(sheet: Sheet) -> list[tuple[str, Counter[str]]]:
    """Requirements by level and status; for judged ones, how many are green."""
    counts: dict[str, Counter[str]] = {}
    for row in sheet.requirements:
        own = counts.setdefault(row.level or "", Counter())
        own[row.status] += 1
        own["green"] += row.status == "judged" and row.judged == row.green
    return sorted(counts.items(), key=lambda item: level_place(item[0]))


@dataclass(frozen=True, slots=True)
class Disputed:
    """A case that is green on one target and not on another, with the verdicts in the order of the sheets."""

    case: str
    title: str
    level: str
    verdicts: tuple[LatestVerdict | None, ...]


def disputed(sheets: Sequence[Sheet]) -> list[Disputed]:
    """Cases of a dialect that are green on one target and not on another, among those that ran."""
    cells = [{row.case: row for row in sheet.verdicts} for sheet in sheets]
    found = []
    for case in sorted({case for cell in cells for case in cell}):
        rows = tuple(cell.get(case) for cell in cells)
        ran = [row for row in rows if row and row.outcome not in UNCOUNTED | {Outcome.BLOCKED}]
        if len({row.outcome in GREEN for row in ran}) > 1:
            found.append(Disputed(case, ran[0].title or "", ran[0].level or "", rows))
    return sorted(found, key=lambda row: (level_place(row.level), row.case))


@dataclass(frozen=True, slots=True)
class Vector:
    """An input, or a case, to which targets reacted differently; it represents all with the same reactions."""

    vector: str
    inputs: int
    sample: str
    reactions: tuple[Difference, ...]


def vectors(rows: Iterable[Difference]) -> Mapping[tuple[str, str], list[Vector]]:
    """Vectors by dialect and kind, the most frequent first."""
    members: dict[tuple[str, str, str], list[Difference]] = defaultdict(list)
    for row in rows:
        members[row.dialect, row.kind, row.vector].append(row)
    found: dict[tuple[str, str], list[Vector]] = defaultdict(list)
    for (dialect, kind, vector), who in sorted(
        members.items(), key=lambda item: (-item[1][0].inputs, item[0])
    ):
        ordered = tuple(sorted(who, key=lambda row: row.target))
        found[dialect, kind].append(Vector(vector, who[0].inputs, who[0].sample or "", ordered))
    return found
