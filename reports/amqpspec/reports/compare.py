"""The changes between two runs: each case once, sorted by relevance for the reader of a pull request.

Knows: kinds of change, the note. Must not know: where runs come from.

The cause of a change can be in the target, in the suite, or in both: the note says which of them has another version.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.outcomes import GREEN, LOOKS

_BAD = frozenset({Outcome.FAIL, Outcome.NONSTRICT, Outcome.INCONCLUSIVE, Outcome.BLOCKED, Outcome.ERROR})
_SHOWN = 50


class Kind(StrEnum):
    """How a case changed; the first four are worse than before."""

    REGRESSED = "regressed"
    NEW_FAILURE = "new case, not green"
    LOST = "no longer there"
    FLAKY = "newly flaky"
    FIXED = "fixed"
    CHANGED = "otherwise than before"
    NEW = "new case, green"


WORSE = (Kind.REGRESSED, Kind.NEW_FAILURE, Kind.LOST, Kind.FLAKY)


@dataclass(frozen=True, slots=True)
class Change:
    """One case before and after; None if only one run has it."""

    kind: Kind
    case: str
    was: CaseRow | None
    now: CaseRow | None

    @property
    def is_worse(self) -> bool:
        """Whether the run got worse by this change; deviations in the baseline do not count."""
        return self.kind in WORSE and not (self.now is not None and self.now.baseline == "known")

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        return {
            "case": self.case, "kind": str(self.kind), "worse": self.is_worse,
            "was": str(self.was.verdict) if self.was else None, "now": str(self.now.verdict) if self.now else None,
            "observed": _seen(self.now), "requirements": list((self.now or self.was or _NOBODY).requirements),
        }  # fmt: skip


_NOBODY = CaseRow("", "", "", "", (), "", Outcome.EXCLUDED)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs and the changes from the first to the second."""

    before: LoadedRun
    after: LoadedRun
    changes: Sequence[Change]

    @property
    def worse(self) -> int:
        """The number of changes for the worse."""
        return sum(change.is_worse for change in self.changes)

    @property
    def moved(self) -> str:
        """Which of target and suite has another version."""
        old, new = self.before.meta, self.after.meta
        target = (old.target.product, old.target.version) != (new.target.product, new.target.version)
        suite = old.suite_version != new.suite_version
        return {
            (True, True): "target and suite have other versions, so either may be the cause of a change",
            (True, False): "the target has another version, the suite is the same",
            (False, True): "the suite has another version, the target is the same",
            (False, False): "target and suite have the same versions",
        }[target, suite]

    @property
    def covered(self) -> tuple[list[str], list[str]]:
        """Requirements that only the second run's cases name, and those that only the first run's cases name."""
        old, new = (
            {id for case in run.cases for id in case.requirements} for run in (self.before, self.after)
        )
        return sorted(new - old), sorted(old - new)

    def to_json(self) -> dict[str, Any]:
        """As JSON data."""
        gained, lost = self.covered
        return {
            "before": self.before.meta.id, "after": self.after.meta.id, "moved": self.moved, "worse": self.worse,
            "changes": [change.to_json() for change in self.changes],
            "newly_covered": gained, "no_longer_covered": lost,
        }  # fmt: skip


def compare_runs(before: LoadedRun, after: LoadedRun) -> Comparison:
    """Compare two runs, case by case."""
    old, new = ({case.id: case for case in run.cases} for run in (before, after))
    pairs = ((name, old.get(name), new.get(name)) for name in sorted(old.keys() | new.keys()))
    changes = [Change(kind, name, was, now) for name, was, now in pairs if (kind := _kind(was, now))]
    order = list(Kind)
    return Comparison(before, after, sorted(changes, key=lambda change: order.index(change.kind)))


def _kind(was: CaseRow | None, now: CaseRow | None) -> Kind | None:
    if now is None:
        return Kind.LOST
    if was is None:
        return Kind.NEW_FAILURE if now.verdict in _BAD else Kind.NEW
    if was.verdict is not now.verdict and now.verdict in _BAD and was.verdict not in _BAD:
        return Kind.REGRESSED
    if _differs(now) and not _differs(was):
        return Kind.FLAKY
    if was.verdict is now.verdict:
        return None
    return Kind.FIXED if was.verdict in _BAD and now.verdict in GREEN else Kind.CHANGED


def _differs(case: CaseRow) -> bool:
    return case.attempts_differ


# --- the note


def lines(comparison: Comparison) -> Iterator[str]:
    """A line for each change, and the number of changes for the worse."""
    for change in comparison.changes:
        yield f"{change.case}: {_in_words(change.was)} → {_in_words(change.now)}"
    yield f"{comparison.worse} worse"


def markdown(comparison: Comparison) -> Iterator[str]:
    """The note for a pull request."""
    before, after = comparison.before.meta, comparison.after.meta
    worse = comparison.worse
    yield f"### {'⚠️ ' if worse else ''}{after.target.label}: {worse or 'nothing'} got worse"
    yield ""
    yield f"{before.target.label} (suite {before.suite_version}, {before.id}) → {after.target.label} (suite "
    yield f"{after.suite_version}, {after.id}); {comparison.moved}."
    for kind in Kind:
        yield from _table(kind, [change for change in comparison.changes if change.kind is kind])
    gained, lost = comparison.covered
    for words, ids in (("Newly covered", gained), ("No longer covered", lost)):
        if ids:
            yield from ("", f"{words}: {', '.join(f'`{id}`' for id in ids[:_SHOWN])}{_more(ids)}.")


def _table(kind: Kind, changes: Sequence[Change]) -> Iterator[str]:
    if not changes:
        return
    yield from (
        "",
        f"**{kind.capitalize()}** ({len(changes)})",
        "",
        "| case | was | now | seen |",
        "|---|---|---|---|",
    )
    for change in changes[:_SHOWN]:
        known = " (known)" if change.now and change.now.baseline == "known" else ""
        yield f"| `{change.case}` | {_look(change.was)} | {_look(change.now)}{known} | {_cell(_seen(change.now))} |"
    if len(changes) > _SHOWN:
        yield f"| {_more(changes).strip()} | | | |"


def _more(items: Sequence[object]) -> str:
    return f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""


def _look(case: CaseRow | None) -> str:
    return f"{LOOKS[case.verdict].symbol} {LOOKS[case.verdict].word}" if case else "absent"


def _seen(case: CaseRow | None) -> str:
    return "" if case is None else case.observed or case.reason


def _cell(text: str) -> str:
    """Text of a target for a table cell: one line, escaped for Markdown and HTML."""
    line = " ".join(text.split())[:200]
    return "".join(f"\\{c}" if c in "\\|`*_[]<>" else c for c in line)


def _in_words(case: CaseRow | None) -> str:
    return "absent" if case is None else f"{case.verdict} ({_seen(case)})"
