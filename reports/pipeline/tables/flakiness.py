"""Mart: cases whose verdict changes though neither target nor suite did, with the number of runs behind it.

Knows: runs of a case in their order. Must not know: why.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from reports.pipeline.grain import fitted
from reports.pipeline.tables.mart import Inputs, Mart, at, case_runs, in_order, verdict_word

GRAIN = ("target", "target_version", "suite_version", "dialect", "case")
SCHEMA = (
    "target STRING, target_version STRING, suite_version STRING, dialect STRING, case STRING, suite STRING, "
    "level STRING, runs BIGINT, flips BIGINT, flip_rate DOUBLE, mixed_runs BIGINT, attempts BIGINT, green BIGINT, "
    "best_verdict STRING, worst_verdict STRING, first_at TIMESTAMP, last_flip_at TIMESTAMP, last_at TIMESTAMP"
)


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``flip_rate``: flips for each chance of one, which is a run after another; null of a single run.

    ``mixed_runs`` had attempts of different verdicts. Cases that were always the same are left out.
    """
    rows = case_runs(inputs, as_of)
    before = F.lag("worst").over(in_order(GRAIN, "last_us", "run_key"))
    flipped = rows.withColumn("flip", F.coalesce((before != F.col("worst")).cast("bigint"), F.lit(0)))
    counted = flipped.groupBy(*GRAIN).agg(
        F.first("suite").alias("suite"),
        F.first("level").alias("level"),
        F.count(F.lit(1)).alias("runs"),
        F.sum("flip").alias("flips"),
        F.sum((F.col("worst") != F.col("best")).cast("bigint")).alias("mixed_runs"),
        F.sum("attempts").alias("attempts"),
        F.sum("green").alias("green"),
        F.min("best").alias("best"),
        F.max("worst").alias("worst"),
        F.min("first_us").alias("first_us"),
        F.max(F.when(F.col("flip") == 1, F.col("last_us"))).alias("flip_us"),
        F.max("last_us").alias("last_us"),
    )
    unstable = counted.where("flips > 0 OR mixed_runs > 0").select(
        "*",
        F.when(F.col("runs") > 1, F.col("flips") / (F.col("runs") - 1)).alias("flip_rate"),
        verdict_word("best").alias("best_verdict"),
        verdict_word("worst").alias("worst_verdict"),
        at("first_us").alias("first_at"),
        at("flip_us").alias("last_flip_at"),
        at("last_us").alias("last_at"),
    )
    return fitted(unstable, SCHEMA)


MART = Mart("flakiness", GRAIN, SCHEMA, ("case_days", "runs", "cases"), table)
