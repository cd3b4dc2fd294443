"""What tests of ledgers share: how the list of requirements words a level, and what is asked of a row.

Knows: rows. Must not know: any dialect.
"""

from __future__ import annotations

from collections.abc import Iterable

from amqpspec.spec.model import Level, Refusal, Requirement

TESTABLE = {"yes", "timing", "needs second connection", "needs restart"}
"""What the list says of a requirement that a black box can see."""
LEVELS = {
    "must": Level.MUST,
    "must not": Level.MUST,
    "may not": Level.MUST,
    "should": Level.SHOULD,
    "should not": Level.SHOULD,
    "recommended": Level.SHOULD,
    "may": Level.MAY,
    "statement": Level.STATEMENT,
}


def refusals(row: Requirement) -> tuple[Refusal, ...]:
    """Every answer that keeps the letter or the purpose of a row."""
    return row.accepts + row.tolerates


def by_id(rows: Iterable[Requirement], id: str) -> Requirement:
    """The row of an id."""
    return next(row for row in rows if row.id == id)
