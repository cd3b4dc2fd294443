"""The requirements of this release: text, expected refusals, and the cases that cover each.

Knows: ledgers and suites. Must not know: marts, HTML. Marts may name dialects, requirements and cases of other
releases; for these, nothing is shown.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from amqpspec.run.case import Case, load_suite
from amqpspec.spec.dialects import certified_dialects, client_dialects, load_dialect, load_ledger, widest
from amqpspec.spec.model import Refusal, Requirement


@dataclass(frozen=True, slots=True)
class Text:
    """The texts of a requirement."""

    row: Requirement
    expected: str
    tolerated: str
    cases: tuple[Case, ...]


def text_of(dialect: str, requirement: str) -> Text | None:
    """The requirement as this release declares it; None if it does not."""
    if dialect not in _known():
        return None
    row = load_ledger(dialect).get(requirement)
    if row is None:
        return None
    cases = _cases(dialect).get(requirement, ())
    return Text(row, _refusals(dialect, row.accepts), _refusals(dialect, row.tolerates), tuple(cases))


def covered_by(dialect: str, case: str) -> tuple[str, ...]:
    """The requirements that a case covers, by id; empty for a case that this release does not have."""
    found = _suite(dialect).get(case) if dialect in _known() else None
    return tuple(found.covers) if found else ()


@cache
def _known() -> frozenset[str]:
    return frozenset({*certified_dialects(), *client_dialects()})


@cache
def _suite(dialect: str) -> Mapping[str, Case]:
    return load_suite(dialect)


@cache
def _cases(dialect: str) -> Mapping[str, list[Case]]:
    found: defaultdict[str, list[Case]] = defaultdict(list)
    for case in _suite(dialect).values():
        for requirement in case.covers:
            found[requirement].append(case)
    return found


def _refusals(dialect: str, refusals: tuple[Refusal, ...]) -> str:
    tables = load_dialect(widest(dialect))
    return " or ".join(refusal.describe(tables) for refusal in refusals)
