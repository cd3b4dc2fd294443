"""Mart: cases whose verdict changes although target and suite do not, with the number of runs.

Knows: runs of a case in their order. Must not know: why.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import FlakyCase
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import HISTORIES, Inputs, Mart, at, verdict_word


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``flip_rate``: flips divided by the pairs of consecutive runs; null for a single run.

    ``mixed_runs`` had attempts with different verdicts. Cases that never changed have no row.
    """
    return (
        histories(inputs, as_of)
        .where("flips > 0 OR mixed_runs > 0")
        .select(
            *FlakyCase.GRAIN,
            "suite",
            "level",
            "runs",
            "flips",
            fn.when(fn.col("runs") > 1, fn.col("flips") / (fn.col("runs") - 1)).alias("flip_rate"),
            "mixed_runs",
            fn.col("all_attempts").alias("attempts"),
            fn.col("all_green").alias("green"),
            verdict_word("all_best").alias("best_verdict"),
            verdict_word("all_worst").alias("worst_verdict"),
            at("first_us").alias("first_at"),
            at("flip_us").alias("last_flip_at"),
            at("last_us").alias("last_at"),
        )
    )


MART = Mart(FlakyCase, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
