"""What each run said of each case on a day; of a campaign, what it said of each cell.

Knows: attempts, worst and best verdict, what the baseline knew, when. Must not know: names, which stand in dimensions.
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
    """``green`` counts attempts that were; ``latency_us`` is the sum over all of them."""
    # Worst and best by code, since the greatest code is the worst verdict: a number needs no sort and no struct.
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
