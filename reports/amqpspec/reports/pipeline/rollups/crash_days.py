"""Rollup: how often each campaign found each crash signature on a day, and the smallest input.

Knows: inputs that a finding blames. Must not know: details of findings, which are in the dimension ``crashes``.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import Rollup, micros

GRAIN = ("dt", "run_key", "crash_key")
SCHEMA = (
    "dt DATE, run_key BIGINT, crash_key BIGINT, inputs BIGINT, first_us BIGINT, last_us BIGINT, "
    "smallest_octets BIGINT"
)


def rollup(facts: DataFrame) -> DataFrame:
    """Only inputs that a finding blames."""
    blamed = facts.where(fn.col("crash_key") != 0)
    table = blamed.groupBy(*GRAIN).agg(
        fn.count(fn.lit(1)).alias("inputs"),
        fn.min(micros()).alias("first_us"),
        fn.max(micros()).alias("last_us"),
        fn.min("sent_octets").alias("smallest_octets"),
    )
    return as_schema(table, SCHEMA)


ROLLUP = Rollup("crash_days", GRAIN, SCHEMA, rollup, kind="fuzz")
