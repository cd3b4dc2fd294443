"""Loads marts for pages: rows as declared, and the number of omitted rows.

Knows: which rows are kept. Must not know: HTML, what pages show.

For older versions, only counts of cases and the rows of requirements are kept; of the differences between targets,
only the most frequent ones. Therefore memory does not depend on the number of inputs or runs.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TypeVar

from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.files import manifest, typed
from amqpspec.reports.marts.row import MartRow
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

VECTORS_MAX = 40
"""The number of differences that are kept for each dialect and kind: the most frequent ones."""

Line = tuple[str, str]
"""A target in a dialect."""
Kind = tuple[str, str]
"""Cases, or inputs of campaigns, in a dialect."""
Rule = tuple[str, str]
"""A dialect and the id of one of its requirements."""

R = TypeVar("R", bound=MartRow)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The data of all pages, most of it by line;

    ``counts`` has the outcomes of all versions, including older ones. ``differences`` are rows of the most frequent
    vectors of a dialect and kind; ``vectors`` is the number of all of them. ``rules`` has the result of each target
    and version, including older ones, for each requirement.
    """

    as_of: str
    marts: Mapping[str, int]
    verdicts: Mapping[Line, list[LatestVerdict]]
    counts: Mapping[Line, Mapping[str, Counter[Outcome]]]
    requirements: Mapping[Line, list[RequirementStatus]]
    rules: Mapping[Rule, list[RequirementStatus]]
    changes: Mapping[Line, list[Regression]]
    flaky: Mapping[Line, list[FlakyCase]]
    findings: Mapping[Line, list[FindingCluster]]
    differences: list[Difference]
    vectors: Mapping[Kind, int]
    exploration: Mapping[Line, list[ExploredDay]]
    scores: Mapping[Line, list[RunScore]]

    @property
    def lines(self) -> list[Line]:
        """All lines with a run, a campaign or a finding, by dialect, then by name."""
        found = {*self.counts, *self.findings, *self.exploration}
        return sorted(found, key=lambda line: (line[1], line[0]))


def load(folder: Path) -> Loaded:
    """The marts of a build; raises ReportError with one line if a mart or a column is missing."""
    built = manifest(folder)
    counts: defaultdict[Line, defaultdict[str, Counter[Outcome]]] = defaultdict(lambda: defaultdict(Counter))
    differences, vectors = _differences(folder)
    rules: defaultdict[Rule, list[RequirementStatus]] = defaultdict(list)
    for row in typed(folder, RequirementStatus):
        rules[row.dialect, row.requirement].append(row)
    return Loaded(
        as_of=str(built.get("as_of", "")),
        marts={name: int(about.get("rows", 0)) for name, about in built["marts"].items()},
        verdicts=_by_line(row for row in _counted(typed(folder, LatestVerdict), counts) if row.newest),
        counts=counts,
        requirements=_by_line(row for rows in rules.values() for row in rows if row.newest),
        rules=rules,
        changes=_by_line(typed(folder, Regression)),
        flaky=_by_line(typed(folder, FlakyCase)),
        findings=_by_line(typed(folder, FindingCluster)),
        differences=differences,
        vectors=vectors,
        exploration=_by_line(typed(folder, ExploredDay)),
        scores=_by_line(typed(folder, RunScore)),
    )


def _by_line(rows: Iterable[R]) -> Mapping[Line, list[R]]:
    found: defaultdict[Line, list[R]] = defaultdict(list)
    for row in rows:
        found[row.target, row.dialect].append(row)
    return found


def _counted(
    rows: Iterable[LatestVerdict], counts: Mapping[Line, Mapping[str, Counter[Outcome]]]
) -> Iterator[LatestVerdict]:
    """The same rows, counted one by one; most of them are not kept."""
    for row in rows:
        counts[row.target, row.dialect][row.target_version][row.outcome] += 1
        yield row


def _differences(folder: Path) -> tuple[list[Difference], Mapping[Kind, int]]:
    """Rows of the most frequent vectors of each dialect and kind, and the number of all vectors of each."""
    most: defaultdict[Kind, list[tuple[int, str]]] = defaultdict(list)
    count: Counter[Kind] = Counter()
    # Rows of one vector are adjacent, because a mart is in the order of its grain.
    for (dialect, kind, vector), same in groupby(typed(folder, Difference), key=_vector):
        count[dialect, kind] += 1
        heap = most[dialect, kind]
        push = heapq.heappush if len(heap) < VECTORS_MAX else heapq.heappushpop
        push(heap, (next(same).inputs, vector))
    chosen = {(*kind, vector) for kind, heap in most.items() for _, vector in heap}
    return [row for row in typed(folder, Difference) if _vector(row) in chosen], count


def _vector(row: Difference) -> tuple[str, str, str]:
    return row.dialect, row.kind, row.vector
