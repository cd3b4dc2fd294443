"""Which edges (state, production, reaction) each campaign went along on a day.

Knows: edges, their names, the families that found them. Must not know: targets, time beyond the day.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from reports.pipeline.grain import fitted
from reports.pipeline.rollups.rollup import Rollup, micros

GRAIN = ("dt", "run_key", "edge")
SCHEMA = (
    "dt DATE, run_key BIGINT, edge BIGINT, state STRING, production STRING, signature BIGINT, inputs BIGINT, "
    "worst TINYINT, families BIGINT, first_us BIGINT, last_us BIGINT"
)
RANDOM_BIT = 0
"""Of ``families``: bit n says that family Cn went along the edge, bit 0 that random mutation did."""


def family_bit() -> Column:
    """The bit of a fact's family; what follows no C is no number."""
    number = fn.coalesce(fn.substring("family", 2, 2).try_cast("int"), fn.lit(RANDOM_BIT))
    return fn.call_function("shiftleft", fn.lit(1).cast("bigint"), number)


def rollup(facts: DataFrame, partitions: int = 0) -> DataFrame:
    """An edge's key is made of its names, so that grouping by both splits nothing."""
    names = [fn.coalesce(fn.col(name), fn.lit("")).alias(name) for name in ("state", "production")]
    table = facts.groupBy("dt", "run_key", "edge", "signature", *names).agg(
        fn.count(fn.lit(1)).alias("inputs"),
        fn.max("verdict").alias("worst"),
        fn.bit_or(family_bit()).alias("families"),
        fn.min(micros()).alias("first_us"),
        fn.max(micros()).alias("last_us"),
    )
    return fitted(table, SCHEMA)


ROLLUP = Rollup("edge_days", GRAIN, SCHEMA, rollup, kind="fuzz", keyed=False)
