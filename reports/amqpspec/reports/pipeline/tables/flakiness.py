"""Mart: cases whose verdict changes though neither target nor suite did, with the number of runs behind it.

Knows: runs of a case in their order. Must not know: why.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import FlakyCase
from amqpspec.reports.pipeline.tables.mart import Inputs, Mart, at, case_runs, in_order, verdict_word


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``flip_rate``: flips for each chance of one, which is a run after another; null of a single run.

    ``mixed_runs`` had attempts of different verdicts. Cases that were always the same are left out.
    """
    rows = case_runs(inputs, as_of)
    before = fn.lag("worst").over(in_order(FlakyCase.GRAIN, "last_us", "run_key"))
    flipped = rows.withColumn("flip", fn.coalesce((before != fn.col("worst")).cast("bigint"), fn.lit(0)))
    counted = flipped.groupBy(*FlakyCase.GRAIN).agg(
        # Any row's: both are a dimension's, and the same for all rows of a case.
        fn.first("suite").alias("suite"),
        fn.first("level").alias("level"),
        fn.count(fn.lit(1)).alias("runs"),
        fn.sum("flip").alias("flips"),
        fn.sum((fn.col("worst") != fn.col("best")).cast("bigint")).alias("mixed_runs"),
        fn.sum("attempts").alias("attempts"),
        fn.sum("green").alias("green"),
        fn.min("best").alias("best"),
        fn.max("worst").alias("worst"),
        fn.min("first_us").alias("first_us"),
        fn.max(fn.when(fn.col("flip") == 1, fn.col("last_us"))).alias("flip_us"),
        fn.max("last_us").alias("last_us"),
    )
    return counted.where("flips > 0 OR mixed_runs > 0").select(
        "*",
        fn.when(fn.col("runs") > 1, fn.col("flips") / (fn.col("runs") - 1)).alias("flip_rate"),
        verdict_word("best").alias("best_verdict"),
        verdict_word("worst").alias("worst_verdict"),
        at("first_us").alias("first_at"),
        at("flip_us").alias("last_flip_at"),
        at("last_us").alias("last_at"),
    )


MART = Mart(FlakyCase, ("case_days", "runs", "cases"), table)
