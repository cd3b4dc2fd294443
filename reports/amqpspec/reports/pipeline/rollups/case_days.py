"""Rollup: the verdicts of each run and case on a day; for a campaign, of each cell.

Knows: attempts, worst and best verdict, baseline status, times. Must not know: names, which are in dimensions.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import GREEN_CODES, Rollup, count_where, micros

GRAIN = ("dt", "run_key", "case_key")
SCHEMA = (
    "dt DATE, run_key BIGINT, case_key BIGINT, attempts BIGINT, green BIGINT, worst TINYINT, best TINYINT, "
    "known BIGINT, unexpected BIGINT, first_us BIGINT, last_us BIGINT, latency_us BIGINT"
)


def rollup(facts: DataFrame) -> DataFrame:
    """``green`` counts green attempts; ``latency_us`` is the sum over all attempts."""
    # Worst and best by code, since the greatest code is the worst verdict: a number needs neither a sort nor a
    # struct.
    table = facts.groupBy(*GRAIN).agg(
        fn.count(fn.lit(1)).alias("attempts"),
        count_where(fn.col("verdict").isin(*GREEN_CODES)).alias("green"),
        fn.max("verdict").alias("worst"),
        fn.min("verdict").alias("best"),
        count_where(fn.col("baseline") == "known").alias("known"),
        count_where(fn.col("baseline") == "unexpected").alias("unexpected"),
        fn.min(micros()).alias("first_us"),
        fn.max(micros()).alias("last_us"),
        fn.sum("latency_us").alias("latency_us"),
    )
    return as_schema(table, SCHEMA)


ROLLUP = Rollup("case_days", GRAIN, SCHEMA, rollup)
