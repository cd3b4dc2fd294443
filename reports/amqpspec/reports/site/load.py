"""The marts as pages need them: rows as they are declared, and how many there are of what is not kept.

Knows: which rows are kept. Must not know: HTML, what is worth showing.

Of older versions only counts are kept, and of the differences between targets only the most frequent, so that
memory follows the number of targets and cases, not that of inputs or versions.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.files import manifest, typed
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
"""Differences that are kept of one dialect and kind: those that most inputs brought about."""

Line = tuple[str, str]
"""A target in a dialect."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that pages are made of; ``tallies`` counts outcomes by line and version, newest and older ones."""

    as_of: str
    marts: Mapping[str, int]
    verdicts: list[LatestVerdict]
    tallies: Mapping[tuple[Line, str], Counter[Outcome]]
    requirements: list[RequirementStatus]
    changes: list[Regression]
    flaky: list[FlakyCase]
    findings: list[FindingCluster]
    differences: list[Difference]
    vectors: Mapping[tuple[str, str], int]
    exploration: list[ExploredDay]
    scores: list[RunScore]


def load(folder: Path) -> Loaded:
    """The marts of a build; raises ReportError with one line where a mart or a column is not there."""
    built = manifest(folder)
    verdicts, tallies = _verdicts(folder)
    differences, vectors = _differences(folder)
    return Loaded(
        as_of=str(built.get("as_of", "")),
        marts={name: int(about.get("rows", 0)) for name, about in built["marts"].items()},
        verdicts=verdicts,
        tallies=tallies,
        requirements=[row for row in typed(folder, RequirementStatus) if row.newest],
        changes=list(typed(folder, Regression)),
        flaky=list(typed(folder, FlakyCase)),
        findings=list(typed(folder, FindingCluster)),
        differences=differences,
        vectors=vectors,
        exploration=list(typed(folder, ExploredDay)),
        scores=list(typed(folder, RunScore)),
    )


def _verdicts(folder: Path) -> tuple[list[LatestVerdict], Mapping[tuple[Line, str], Counter[Outcome]]]:
    newest: list[LatestVerdict] = []
    tallies: dict[tuple[Line, str], Counter[Outcome]] = {}
    for row in typed(folder, LatestVerdict):
        tallies.setdefault(((row.target, row.dialect), row.target_version), Counter())[row.outcome] += 1
        if row.newest:
            newest.append(row)
    return newest, tallies


def _differences(folder: Path) -> tuple[list[Difference], Mapping[tuple[str, str], int]]:
    """Rows of the most frequent vectors of each dialect and kind, and how many vectors there are of each."""
    most: dict[tuple[str, str], list[tuple[int, str]]] = {}
    count: Counter[tuple[str, str]] = Counter()
    last: tuple[Any, ...] = ()
    for row in typed(folder, Difference):
        if last == (last := (row.dialect, row.kind, row.vector)):
            continue
        count[row.dialect, row.kind] += 1
        heap = most.setdefault((row.dialect, row.kind), [])
        push = heapq.heappush if len(heap) < VECTORS_MAX else heapq.heappushpop
        push(heap, (row.inputs, row.vector))
    chosen = {(*key, vector) for key, heap in most.items() for _, vector in heap}
    rows = [r for r in typed(folder, Difference) if (r.dialect, r.kind, r.vector) in chosen]
    return rows, count
