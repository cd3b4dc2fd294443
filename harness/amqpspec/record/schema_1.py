"""Converts rows of schema 1, which have only sentences, to rows with fields.

Knows: the wording of schema 1. Must not know: today's wording.

This is the only module that parses amqpspec's sentences, and only for rows of old files. The observation of such a
row becomes its way (see ``record.rows.Facts``): the sentence with placeholders for the target's names, texts and
numbers, by which old lakes compare cases. Reply codes and protocol headers stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.record.shapes import shape


def with_fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The row with the missing fields added."""
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
