"""The marts as rows of pages: the one place here that names marts and columns.

Knows: names of marts; a row's fields are its columns. Must not know: HTML, what is worth showing.

Of older versions only counts are kept, and of the differences between targets only the most frequent, so that
memory follows the number of targets and cases, not that of inputs or versions.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from inspect import signature
from pathlib import Path
from typing import Any, TypeVar

from amqpspec.record.rows import Outcome
from amqpspec.reports import marts
from amqpspec.reports.load import ReportError

VECTORS_MAX = 40
"""Differences that are kept of one dialect and kind: those that most inputs brought about."""

Row = TypeVar("Row")
Line = tuple[str, str]
"""A target in a dialect."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A case on the version that its target was last seen with."""

    target: str
    target_version: str
    dialect: str
    case: str
    product: str | None
    newest: bool
    suite: str | None
    title: str | None
    level: str | None
    verdict: str | None
    baseline: str | None
    runs: int
    run: str | None
    suite_version: str | None
    at: datetime | None
    evidence: str | None

    @property
    def outcome(self) -> Outcome:
        """The verdict; one that no longer has a name is an error of ours."""
        return Outcome(self.verdict) if self.verdict in _OUTCOMES else Outcome.ERROR


_OUTCOMES = frozenset(str(outcome) for outcome in Outcome)


@dataclass(frozen=True, slots=True)
class Requirement:
    """A requirement on the version that a target was last seen with."""

    target: str
    dialect: str
    requirement: str
    newest: bool
    level: str | None
    section: str | None
    status: str
    verdict: str | None
    baseline: str | None
    cases: int
    judged: int
    green: int
    case: str | None
    excluded: str | None


@dataclass(frozen=True, slots=True)
class Change:
    """A verdict that differs from that under the version before."""

    target: str
    dialect: str
    case: str
    change: str
    from_target_version: str | None
    to_target_version: str
    from_suite_version: str | None
    to_suite_version: str
    level: str | None
    from_verdict: str
    to_verdict: str
    direction: str
    flaky: bool | None
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Flaky:
    """A case whose verdict changed though no version did."""

    target: str
    target_version: str
    suite_version: str
    dialect: str
    case: str
    level: str | None
    runs: int
    flips: int
    flip_rate: float | None
    mixed_runs: int
    best_verdict: str | None
    worst_verdict: str | None
    last_at: datetime | None


@dataclass(frozen=True, slots=True)
class Finding:
    """A cluster of what campaigns found."""

    target: str
    dialect: str
    crash: str
    oracle: str | None
    status: str | None
    family: str | None
    state: str | None
    top: str | None
    detail: str | None
    requirement: str | None
    open: bool | None
    campaigns: int
    inputs: int | None
    recent: int | None
    earlier: int | None
    first_seen: datetime | None
    last_seen: datetime | None
    first_version: str | None
    last_version: str | None
    smallest_octets: int | None
    smallest_input: str | None
    words: str | None
    replay: str | None


@dataclass(frozen=True, slots=True)
class Reacted:
    """How one target reacted where targets reacted differently."""

    dialect: str
    kind: str
    vector: str
    target: str
    target_version: str | None
    reaction: str | None
    inputs: int
    targets: int
    sample: str | None


@dataclass(frozen=True, slots=True)
class Explored:
    """What campaigns had met of one dimension by the end of a day."""

    target: str
    dialect: str
    dimension: str
    dt: date
    new: int
    covered: int


@dataclass(frozen=True, slots=True)
class Scored:
    """A suite's cases of one level in one run."""

    target: str
    target_version: str
    suite_version: str
    dialect: str
    run: str
    product: str | None
    cases: int
    counted: int
    green: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Everything that pages are made of; ``tallies`` counts outcomes by line and version, newest and older ones."""

    as_of: str
    marts: Mapping[str, int]
    verdicts: list[Verdict]
    tallies: Mapping[tuple[Line, str], Counter[Outcome]]
    requirements: list[Requirement]
    changes: list[Change]
    flaky: list[Flaky]
    findings: list[Finding]
    differences: list[Reacted]
    vectors: Mapping[tuple[str, str], int]
    exploration: list[Explored]
    scores: list[Scored]


def load(folder: Path) -> Loaded:
    """The marts of a build; raises ReportError with one line where a mart or a column is not there."""
    told = marts.manifest(folder)
    verdicts, tallies = _verdicts(folder)
    differences, vectors = _differences(folder)
    return Loaded(
        as_of=str(told.get("as_of", "")),
        marts={name: int(about.get("rows", 0)) for name, about in told["marts"].items()},
        verdicts=verdicts,
        tallies=tallies,
        requirements=[row for row in _typed(folder, "requirement_coverage", Requirement) if row.newest],
        changes=list(_typed(folder, "regressions", Change)),
        flaky=list(_typed(folder, "flakiness", Flaky)),
        findings=list(_typed(folder, "findings", Finding)),
        differences=differences,
        vectors=vectors,
        exploration=list(_typed(folder, "exploration", Explored)),
        scores=list(_typed(folder, "scores", Scored)),
    )


def _typed(folder: Path, name: str, kind: Callable[..., Row]) -> Iterator[Row]:
    """The rows of a mart; the fields of ``kind`` say which columns."""
    if not (folder / name).is_dir():
        raise ReportError(f"{folder}: expected the mart {name}, actual: none; build the marts again")
    wanted = list(signature(kind).parameters)
    for row in marts.rows(folder / name, wanted):
        yield kind(**row)


def _verdicts(folder: Path) -> tuple[list[Verdict], Mapping[tuple[Line, str], Counter[Outcome]]]:
    newest: list[Verdict] = []
    tallies: dict[tuple[Line, str], Counter[Outcome]] = {}
    for row in _typed(folder, "verdicts", Verdict):
        tallies.setdefault(((row.target, row.dialect), row.target_version), Counter())[row.outcome] += 1
        if row.newest:
            newest.append(row)
    return newest, tallies


def _differences(folder: Path) -> tuple[list[Reacted], Mapping[tuple[str, str], int]]:
    """Rows of the most frequent vectors of each dialect and kind, and how many vectors there are of each."""
    most: dict[tuple[str, str], list[tuple[int, str]]] = {}
    count: Counter[tuple[str, str]] = Counter()
    last: tuple[Any, ...] = ()
    for row in _typed(folder, "differential", Reacted):
        if last == (last := (row.dialect, row.kind, row.vector)):
            continue
        count[row.dialect, row.kind] += 1
        heap = most.setdefault((row.dialect, row.kind), [])
        push = heapq.heappush if len(heap) < VECTORS_MAX else heapq.heappushpop
        push(heap, (row.inputs, row.vector))
    kept = {(*key, vector) for key, heap in most.items() for _, vector in heap}
    rows = [r for r in _typed(folder, "differential", Reacted) if (r.dialect, r.kind, r.vector) in kept]
    return rows, count
