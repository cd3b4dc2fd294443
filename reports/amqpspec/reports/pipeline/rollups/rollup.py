"""The interface of a rollup: a name, a grain, a schema and a pure function of the facts.

Knows: the shape that all rollups share. Must not know: files, days that changed.

Group-bys have keys and buffers of fixed width only: Spark then aggregates by hash, in place, without sorting.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import DataFrame

from amqpspec.record.observation import VERDICT_CODES
from amqpspec.reports.outcomes import GREEN

IS_GREEN = f"IN ({', '.join(str(VERDICT_CODES[outcome]) for outcome in sorted(GREEN))})"
"""Behind a column with a verdict's code: whether it is green."""
MICROS = "unix_micros(at_us)"
"""The time of a fact as microseconds since 1970: a primitive to aggregate."""


@dataclass(frozen=True, slots=True)
class Rollup:
    """``make(facts)`` returns rows of ``schema``, unique by ``grain``;

    ``version`` increases when the meaning changes. ``spread(facts, partitions, day)`` computes the same from the
    facts of several days, or of one; without it, a day of the rollup is far smaller than a day of facts, and all days
    are computed together. ``kind`` is the only kind of facts that it needs; ``keyed`` means that it groups by exactly
    its grain, so that the grain holds by construction.
    """

    name: str
    grain: tuple[str, ...]
    schema: str
    make: Callable[[DataFrame], DataFrame]
    spread: Callable[[DataFrame, int, str], DataFrame] | None = None
    kind: str | None = None
    keyed: bool = True
    version: int = 1

    @property
    def small(self) -> bool:
        """Whether all days are computed together."""
        return self.spread is None
