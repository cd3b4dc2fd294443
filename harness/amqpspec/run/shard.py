"""A run in several parts, on several machines: which cases belong to which part.

Knows: cases and how long each took. Must not know: what runs them, how parts become one run again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from amqpspec.run.case import Case
from amqpspec.run.select import SelectionError


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` of ``of``, counted from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """``2/4``; raises SelectionError."""
        found = re.fullmatch(r"([1-9]\d{0,3})/([1-9]\d{0,3})", text)
        if found is None or int(found[1]) > int(found[2]):
            raise SelectionError(f"expected a shard like 2/4, actual {text!r}")
        return cls(int(found[1]), int(found[2]))

    def part(self, cases: Sequence[Case], durations_ms: Mapping[str, float]) -> list[Case]:
        """The cases of this part, in their order; all parts together are all cases, each once.

        The longest go first, each to the part with the least to do; a case of unknown duration counts as the mean.
        The same cases and durations give the same parts on every machine. Raises SelectionError for an empty part.
        """
        known = [durations_ms[case.id] for case in cases if case.id in durations_ms]
        mean = sum(known) / len(known) if known else 1.0
        loads = [0.0] * self.of
        mine = set()
        for case in sorted(cases, key=lambda case: -durations_ms.get(case.id, mean)):
            lightest = loads.index(min(loads))
            loads[lightest] += max(durations_ms.get(case.id, mean), 1.0)
            if lightest == self.number - 1:
                mine.add(case.id)
        if not mine:
            raise SelectionError(
                f"shard {self.number}/{self.of}: expected a case in it, actual {len(cases)} in all"
            )
        return [case for case in cases if case.id in mine]
