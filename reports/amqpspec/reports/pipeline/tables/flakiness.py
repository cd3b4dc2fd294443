"""Mart: cases whose verdict changes although target and suite do not, with the number of runs.

Knows: runs of a case in their order. Must not know: why.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import FlakyCase
from amqpspec.reports.pipeline.expressions import names
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import HISTORIES, Inputs, Mart, at, verdict_word


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``flip_rate``: flips divided by the pairs of consecutive runs; null for a single run.

    ``mixed_runs`` had attempts with different verdicts. Cases that never changed have no row.
    """
    return (
        histories(inputs, as_of)
        .where("flips > 0 OR mixed_runs > 0")
        .selectExpr(
            *map(names, FlakyCase.GRAIN),
            "suite",
            "level",
            "runs",
            "flips",
            "CASE WHEN runs > 1 THEN flips / (runs - 1) END AS flip_rate",
            "mixed_runs",
            "all_attempts AS attempts",
            "all_green AS green",
            f"{verdict_word('all_best')} AS best_verdict",
            f"{verdict_word('all_worst')} AS worst_verdict",
            f"{at('first_us')} AS first_at",
            f"{at('flip_us')} AS last_flip_at",
            f"{at('last_us')} AS last_at",
        )
    )


MART = Mart(FlakyCase, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
