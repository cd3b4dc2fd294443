"""All marts of a build, and the tables that several of them need.

Knows: their names. Must not know: how they are computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.pipeline.tables import (
    differential,
    exploration,
    findings,
    flakiness,
    regressions,
    requirement_coverage,
    scores,
    verdicts,
)
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import HISTORIES, NEWEST_RUNS, Inputs, Mart

MARTS: tuple[Mart, ...] = (
    verdicts.MART,
    requirement_coverage.MART,
    regressions.MART,
    flakiness.MART,
    findings.MART,
    differential.MART,
    exploration.MART,
    scores.MART,
)


@dataclass(frozen=True, slots=True)
class Shared:
    """A table that several marts need, of rollups and dimensions."""

    reads: tuple[str, ...]
    table: Callable[[Inputs, date], DataFrame]


SHARED: Mapping[str, Shared] = {
    NEWEST_RUNS: Shared(("case_days", "runs"), differential.newest_runs),
    HISTORIES: Shared(("case_days", "runs", "cases"), histories),
}
"""Tables that several marts need, each made from rollups and dimensions only: computed once by a build."""
