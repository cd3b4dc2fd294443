"""Rows of schema 1: what they say in sentences, as the fields that rows have since.

Knows: how schema 1 worded things. Must not know: how anything is worded today.

This is the only place that reads amqpspec's sentences, and only rows of old files come here. What such a row observed
becomes its way (see ``record.rows.Facts``): the sentence with the target's own names, texts and numbers as
placeholders, which is what old lakes compare cases by. Reply codes and protocol headers are the protocol's own numbers
and stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.record.shapes import shape


def with_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the fields that it lacks."""
    return {
        **row,
        "blocked_by": _blocked_by(row),
        "facts": {"way": shape(row.get("observed", ""))},
        "attempts_differ": "attempts differ" in row.get("reason", ""),
    }


def _blocked_by(row: Mapping[str, Any]) -> str | None:
    has_run = bool(row.get("evidence"))
    match row["verdict"]:
        case "blocked":
            return _block(row.get("reason", ""), row.get("expected", ""), has_run)
        case "not-applicable":
            return "limit" if has_run else "profile"
        case "inconclusive":
            return "budget" if row.get("observed", "").startswith("the budget of ") else None
        case "excluded":
            return "selection"
    return None


def _block(reason: str, expected: str, has_run: bool) -> str:
    if reason.startswith("no hook") or expected == "what the case needs of the configuration":
        return "hook"
    if reason.startswith("the target is gone"):
        return "target-gone"
    return "prerequisite" if has_run else "stopped"
