"""How outcomes are named and drawn, and which of them are green or deviations.

Knows: symbol, word and order of every outcome; what is green, what is a deviation.
Must not know: any document format.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from amqpspec.record.rows import FROM_BEST, CaseRow, Outcome
from amqpspec.spec.dialects import dialect_ids, load_dialect

TEXT_FORM = "\ufe0e"  # asks for the letter form of a character that also exists as a picture


@dataclass(frozen=True, slots=True)
class Look:
    """The presentation of an outcome: a symbol, a word, and an explanation."""

    symbol: str
    word: str
    meaning: str

    @property
    def tile(self) -> str:
        """The word for narrow places."""
        return "n/a" if self.word == "not applicable" else self.word


LOOKS: dict[Outcome, Look] = {
    Outcome.PASS: Look("✓", "pass", "the target meets the requirement"),
    Outcome.OBSERVED: Look("○", "observed", "the target may choose; its behaviour is recorded"),
    Outcome.NONSTRICT: Look("≈", "nonstrict", "serves the purpose of the requirement, not its wording"),
    Outcome.FAIL: Look("✗", "fail", "the target violates the requirement"),
    Outcome.INCONCLUSIVE: Look("?", "inconclusive", "the evidence does not allow a verdict"),
    Outcome.ERROR: Look("‼" + TEXT_FORM, "error", "the harness failed, not the target"),
    Outcome.NOT_APPLICABLE: Look(
        "–", "not applicable", "the target lacks this part, or its profile excludes it"
    ),
    Outcome.BLOCKED: Look("⊘", "blocked", "a prerequisite was not met"),
    Outcome.EXCLUDED: Look("·", "excluded", "excluded by the user"),
}

GREEN = frozenset({Outcome.PASS, Outcome.OBSERVED})
UNCOUNTED = frozenset({Outcome.NOT_APPLICABLE, Outcome.EXCLUDED})
"""Outcomes that do not count in scores: such a case could not have been green."""
LEVELS = ("MUST", "SHOULD", "MAY", "statement")


def worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The worst of several outcomes; None if there are none."""
    return max(outcomes, key=FROM_BEST.index, default=None)


def is_deviation(case: CaseRow, strict: bool) -> bool:
    """Whether the target violated the requirement; with ``strict``, nonstrict counts as well."""
    return case.verdict is Outcome.FAIL or (strict and case.verdict is Outcome.NONSTRICT)


def level_place(level: str | None) -> tuple[int, str]:
    """The rank of a level, strongest first; unknown ones come last, by name."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS), level or ""


def levels_in_order(levels: Iterable[str | None]) -> list[str]:
    """The levels that occur, strongest first; "" for none."""
    return sorted({level or "" for level in levels}, key=level_place)


def dialect_title(dialect: str) -> str:
    """The title of a dialect, ``AMQP 0-9-1``; an unknown dialect keeps its id."""
    return load_dialect(dialect).title if dialect in dialect_ids() else dialect
