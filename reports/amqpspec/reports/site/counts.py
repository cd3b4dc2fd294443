"""Scores and orders that all pages share.

Knows: what counts as green, how versions follow each other. Must not know: pages, plots.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from amqpspec.record.rows import Outcome
from amqpspec.reports.outcomes import GREEN

UNCOUNTED = frozenset({Outcome.NOT_APPLICABLE, Outcome.EXCLUDED})
_WARMTH = (0.5, 0.8, 0.95, 1.0)


@dataclass(frozen=True, slots=True)
class Share:
    """``231/240``: green cases of those that could have been green."""

    green: int
    of: int

    @classmethod
    def among(cls, outcomes: Iterable[Outcome]) -> Share:
        """The share of these; a blocked case is not green, one that does not apply does not count."""
        return cls.counted(Counter(outcomes))

    @classmethod
    def counted(cls, counts: Mapping[Outcome, int]) -> Share:
        """The share of counted outcomes."""
        return cls(
            sum(number for outcome, number in counts.items() if outcome in GREEN),
            sum(number for outcome, number in counts.items() if outcome not in UNCOUNTED),
        )

    @property
    def percent(self) -> float | None:
        """Hundredths that are green; None of nothing."""
        return 100 * self.green / self.of if self.of else None

    @property
    def short(self) -> str:
        """``96 %``; 100 only where all are green, 0 only where none is."""
        if self.percent is None:
            return "–"
        rounded = round(self.percent)
        if rounded == 100 and self.green < self.of:
            rounded = 99
        if rounded == 0 and self.green:
            rounded = 1
        return f"{rounded} %"

    @property
    def heat(self) -> int | None:
        """From 0, less than half, to 4, all; None of nothing."""
        if not self.of:
            return None
        return sum(self.green / self.of >= warm for warm in _WARMTH)

    def __str__(self) -> str:
        return f"{self.green}/{self.of}"


def version_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """A key that puts versions in the order of releases: 3.9, 3.10, 4.0-rc.1, 4.0, 4.0.1."""
    parts = [part for part in re.split(r"[^0-9A-Za-z]+", version) if part]
    numbered = [(2, int(part), "") if re.fullmatch("[0-9]{1,18}", part) else (0, 0, part) for part in parts]
    return (*numbered, (1, 0, ""))
