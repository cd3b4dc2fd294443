"""All marts that a build makes, and what several of them need.

Knows: which there are. Must not know: what they are made of.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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

SHARED: Mapping[str, Callable[[Inputs, date], DataFrame]] = {
    HISTORIES: histories,
    NEWEST_RUNS: differential.newest_runs,
}
"""What marts need again and again, none of it made of another: made once by a build."""
