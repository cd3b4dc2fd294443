"""From a journal to results: last attempts, baseline, counts, exit code.

Knows: rows and exit codes. Must not know: how results are rendered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from amqpspec.record.journal import read_cases
from amqpspec.record.rows import FROM_BEST, BlockedBy, CaseRow, Outcome, Tally
from amqpspec.run.baseline import Baseline, apply
from amqpspec.run.exits import Exit

JUDGED = frozenset({Outcome.PASS, Outcome.OBSERVED, Outcome.NONSTRICT, Outcome.FAIL})
"""The statuses that say something about the target."""


@dataclass(frozen=True, slots=True)
class Results:
    """A run's rows as judged, its counts, the stale baseline entries, and the exit code."""

    rows: Sequence[CaseRow]
    tally: Tally
    stale: Sequence[dict[str, str]]
    exit_code: Exit


def judge(
    rows: Iterable[CaseRow],
    baseline: Baseline | None,
    today: date,
    unasked: Collection[str] = (),
    /,
    *,
    strict: bool,
    partial: bool,
) -> Results:
    """Apply the baseline and decide the exit code; of ``unasked`` cases the baseline may say what it likes."""
    judged, stale = apply(rows, baseline, today, unasked)
    tally = Tally.of(row.verdict for row in judged)
    return Results(judged, tally, stale, exit_code(judged, stale, strict=strict, partial=partial))


def last_attempts(folder: Path) -> list[CaseRow]:
    """One row a case from a journal: with several attempts the worst, named so when they differ."""
    by_case: dict[str, CaseRow] = {}
    seen: dict[str, dict[int, Outcome]] = {}
    for row in read_cases(folder):
        seen.setdefault(row.id, {})[row.attempt] = row.verdict
        known = by_case.get(row.id)
        if known is None or row.attempt <= known.attempt or _is_worse(row, known):
            by_case[row.id] = row
    return [_naming(row, Counter(seen[row.id].values())) for row in by_case.values()]


def contradictions(folder: Path, rows: Iterable[CaseRow]) -> Iterator[str]:
    """Where results do not follow from the journal next to them; raises JournalError.

    A baseline says something of a row and gives its reason; all else is the journal's.
    """
    told = {row.id: row for row in last_attempts(folder)}
    for row in rows:
        found = told.pop(row.id, None)
        if found is None:
            if row.blocked_by not in (BlockedBy.STOPPED, BlockedBy.NOT_REACHED):
                yield f"{row.id}: the results say {row.verdict}, the journal has no such case"
        elif name := next((name for name in _RECORDED if getattr(found, name) != getattr(row, name)), None):
            yield f"{row.id}: the results say {name} {getattr(row, name)}, the journal says {getattr(found, name)}"
    for id in told:
        yield f"{id}: the journal has the case, the results have none"


_RECORDED = tuple(name for name in CaseRow.__slots__ if name not in ("baseline", "reason"))


def _naming(row: CaseRow, verdicts: Counter[Outcome]) -> CaseRow:
    if len(verdicts) == 1:
        return row
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.items())
    reason = f"{row.reason}; attempts differ: {told}".removeprefix("; ")
    return replace(row, reason=reason, attempts_differ=True)


def _is_worse(row: CaseRow, other: CaseRow) -> bool:
    """In the order of verdicts that every table of runs keeps to."""
    return FROM_BEST.index(row.verdict) > FROM_BEST.index(other.verdict)


def exit_code(rows: Sequence[CaseRow], stale: Sequence[object], *, strict: bool, partial: bool) -> Exit:
    """What a run ends with; one in which nothing was judged never ends with 0, whatever a baseline knows."""
    outcomes = {row.verdict for row in rows if not row.is_known}
    if partial or Outcome.ERROR in outcomes:
        return Exit.HARNESS
    bad = {Outcome.FAIL, Outcome.INCONCLUSIVE} | ({Outcome.NONSTRICT} if strict else set())
    unmet = any(_unmet(row) for row in rows)
    if outcomes & bad or unmet:
        return Exit.DEVIATIONS
    if JUDGED.isdisjoint(row.verdict for row in rows):
        return Exit.HARNESS
    return Exit.STALE if stale else Exit.CONFORMING


def _unmet(row: CaseRow) -> bool:
    """Blocked by the target's behaviour, not by what its configuration does not offer."""
    return row.verdict is Outcome.BLOCKED and not row.is_known and not row.is_blocked_by_configuration
