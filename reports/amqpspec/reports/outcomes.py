"""How an outcome is named and drawn, and which outcomes count as what.

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
    """The face of an outcome: a symbol for the eye, a word for the reader, a sentence for the newcomer."""

    symbol: str
    word: str
    meaning: str

    @property
    def tile(self) -> str:
        """The word where there is little room."""
        return "n/a" if self.word == "not applicable" else self.word


LOOKS: dict[Outcome, Look] = {
    Outcome.PASS: Look("✓", "pass", "keeps the requirement"),
    Outcome.OBSERVED: Look("○", "observed", "either way is allowed; the way taken is recorded"),
    Outcome.NONSTRICT: Look("≈", "nonstrict", "keeps the purpose, not the letter"),
    Outcome.FAIL: Look("✗", "fail", "breaks the requirement"),
    Outcome.INCONCLUSIVE: Look("?", "inconclusive", "the evidence decides neither way"),
    Outcome.ERROR: Look("‼" + TEXT_FORM, "error", "the harness failed, not the target"),
    Outcome.NOT_APPLICABLE: Look("–", "not applicable", "the target's profile leaves it out"),
    Outcome.BLOCKED: Look("⊘", "blocked", "a prerequisite was not met"),
    Outcome.EXCLUDED: Look("·", "excluded", "left out on purpose, with a reason"),
}

GREEN = frozenset({Outcome.PASS, Outcome.OBSERVED})
UNCOUNTED = frozenset({Outcome.NOT_APPLICABLE, Outcome.EXCLUDED})
"""What no score counts: nothing of it could have been green."""
LEVELS = ("MUST", "SHOULD", "MAY", "statement")


def worst(outcomes: Iterable[Outcome]) -> Outcome | None:
    """The worst of several outcomes; None of none."""
    return max(outcomes, key=FROM_BEST.index, default=None)


def is_deviation(case: CaseRow, strict: bool) -> bool:
    """Whether the target broke the requirement (under ``strict`` also: kept its purpose only)."""
    return case.verdict is Outcome.FAIL or (strict and case.verdict is Outcome.NONSTRICT)


def level_place(level: str | None) -> tuple[int, str]:
    """Where a level stands among levels, strongest first, unknown ones last and by name."""
    return LEVELS.index(level) if level in LEVELS else len(LEVELS), level or ""


def levels_in_order(levels: Iterable[str | None]) -> list[str]:
    """The levels that occur, strongest first; "" for none."""
    return sorted({level or "" for level in levels}, key=level_place)


def dialect_title(dialect: str) -> str:
    """A dialect as people write it, ``AMQP 0-9-1``; one that this build does not speak keeps its id."""
    return load_dialect(dialect).title if dialect in dialect_ids() else dialect
