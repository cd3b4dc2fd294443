"""Deviations by their cause: what several cases met is one headline with its cases.

Knows: rows, the facts that they rest on. Must not know: any document format.

A baseline's reason is a cause that someone looked into. Else it is the first refusal of the conversation, for what the
target refused then, it did not do later; else what was observed, with names, texts and numbers left out, of cases whose
requirements are in the same part of the ledger.
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
    """Cases of one verdict that have one cause; ``says`` is empty for a case that stands by itself."""

    verdict: Outcome
    says: str
    cases: tuple[CaseRow, ...]

    @property
    def headline(self) -> str:
        """``channel 404: 8 cases``; of one case its id."""
        if len(self.cases) == 1:
            return self.cases[0].id
        return f"{self.says}: {plural(len(self.cases), 'case')}"

    @property
    def named(self) -> str:
        """The first of its cases, and how many more there are."""
        more = len(self.cases) - _NAMED
        return ", ".join(case.id for case in self.cases[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def causes(cases: Iterable[CaseRow]) -> list[Cause]:
    """The causes of these cases, in the order in which they are met."""
    by_cause: dict[tuple[Outcome, str, str], list[CaseRow]] = {}
    for case in cases:
        by_cause.setdefault((case.verdict, *_cause(case)), []).append(case)
    return [Cause(verdict, says, tuple(own)) for (verdict, says, _), own in by_cause.items()]


def _cause(case: CaseRow) -> tuple[str, str]:
    """What is said of the cause, and what else cases of one cause have in common."""
    if case.is_known or case.verdict is Outcome.BLOCKED:
        return case.reason or case.observed, ""
    refusal = case.facts.first or case.facts.refusal
    if refusal is not None:
        return said(refusal), ""
    subject = next(iter(case.requirements), case.id).rpartition("/")[0]
    observed = shape(cut_octets(case.observed))
    return f"{subject}: {observed}" if subject else observed, subject


def said(refusal: Refusal) -> str:
    """``channel 404``; a connection that ended silently is ``socket``."""
    return f"{refusal.scope} {'' if refusal.code is None else refusal.code}".strip()
