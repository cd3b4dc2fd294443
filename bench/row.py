"""What a benchmark reports: one of our figures compared with one of someone else's.

Knows: the shape of a line. Must not know: what is measured.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of ``python -m bench``; ``ratio`` is ours divided by theirs."""

    name: str
    ours: float
    theirs: float
    ratio: float
    unit: str

    def line(self) -> str:
        """The row as one JSON object on one line."""
        return json.dumps(asdict(self))


def beside(
    name: str,
    unit: str,
    ours: Callable[[], int],
    theirs: Callable[[], int],
    *,
    rounds: int = 9,
    round_s: float = 0.1,
) -> Row:
    """Two ways to do the same work in alternating rounds; each call says how many units it did. Medians."""
    rates: tuple[list[float], list[float]] = ([], [])
    ours(), theirs()
    for number in range(rounds):
        for side in (0, 1) if number % 2 == 0 else (1, 0):
            rates[side].append(_rate((ours, theirs)[side], round_s))
    mine, other = statistics.median(rates[0]), statistics.median(rates[1])
    return Row(name, round(mine), round(other), round(mine / other, 2), unit)


def each(work: Callable[[Item], object], items: Sequence[Item]) -> Callable[[], int]:
    """The same work on each item, as a side of ``beside``."""

    def all_of_them() -> int:
        for item in items:
            work(item)
        return len(items)

    return all_of_them


def _rate(work: Callable[[], int], round_s: float) -> float:
    done, started_s = 0, time.perf_counter()
    while (passed_s := time.perf_counter() - started_s) < round_s:
        done += work()
    return done / passed_s
