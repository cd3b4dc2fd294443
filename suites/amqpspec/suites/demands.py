"""What the title of a case says that a client does about a server: as strongly as the requirement demands it.

Knows: levels of requirements. Must not know: cases, what a server does.
"""

from __future__ import annotations

from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Level

_WEAKER = {Level.SHOULD: "should", Level.MAY: "may"}


def demand(dialect: str, row: str, verb: str) -> str:
    """``rejects``, ``should reject`` or ``may reject``, by the level of a row; ``survives`` for a row of that name."""
    if row.startswith("survives/"):
        return "survives"
    weaker = _WEAKER.get(load_ledger(dialect)[row].level)
    return f"{weaker} {verb}" if weaker else f"{verb}s"
