"""Groups deviations by cause: cases with the same cause share one headline.

Knows: rows and their facts. Must not know: any document format.

If a baseline gives a reason, that is the cause: a person has investigated it. Otherwise the cause is the first
refusal of the conversation, because the target did nothing after it. Otherwise it is the observation without names,
texts and numbers, for cases whose requirements are in the same part of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.record.shapes import shape
from amqpspec.reports.text import cut_octets, plural
from amqpspec.spec.model import Refusal

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Cause:
    """Cases with the same verdict and the same cause; ``says`` is empty for a single case."""

    verdict: Outcome
    says: str
    cases: tuple[CaseRow, ...]

    @property
    def headline(self) -> str:
        """``channel 404: 8 cases``; the id if there is only one case."""
        if len(self.cases) == 1:
            return self.cases[0].id
        return f"{self.says}: {plural(len(self.cases), 'case')}"

    @property
    def named(self) -> str:
        """The id of the first case, and the number of the others."""
        more = len(self.cases) - _NAMED
        return ", ".join(case.id for case in self.cases[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def causes(cases: Iterable[CaseRow]) -> list[Cause]:
    """The causes of these cases, in order of first occurrence."""
    by_cause: dict[tuple[Outcome, str, str], list[CaseRow]] = {}
    for case in cases:
        by_cause.setdefault((case.verdict, *_cause(case)), []).append(case)
    return [Cause(verdict, says, tuple(own)) for (verdict, says, _), own in by_cause.items()]


def _cause(case: CaseRow) -> tuple[str, str]:
    """The description of the cause, and the key that its cases have in common."""
    if case.is_known or case.verdict is Outcome.BLOCKED:
        return case.reason or case.observed, ""
    refusal = case.facts.first or case.facts.refusal
    if refusal is not None:
        return said(refusal), ""
    subject = next(iter(case.requirements), case.id).rpartition("/")[0]
    observed = shape(cut_octets(case.observed))
    return f"{subject}: {observed}" if subject else observed, subject


def said(refusal: Refusal) -> str:
    """``channel 404``; ``socket`` for a connection that ended silently."""
    return f"{refusal.scope} {'' if refusal.code is None else refusal.code}".strip()
