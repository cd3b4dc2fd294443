"""Which edges (state, production, reaction) each campaign went along on a day.

Knows: edges by their keys, the families that found them. Must not know: names, which stand in the dimension ``edges``.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from reports.pipeline.grain import fitted
from reports.pipeline.rollups.rollup import Rollup, micros

GRAIN = ("dt", "run_key", "edge")
SCHEMA = (
    "dt DATE, run_key BIGINT, edge BIGINT, inputs BIGINT, worst TINYINT, families BIGINT, first_us BIGINT, "
    "last_us BIGINT"
)
RANDOM_BIT = 0
"""Of ``families``: bit n says that family Cn went along the edge, bit 0 that random mutation did."""
_RANDOM, _KNOWN = "random", 14


def family_bit() -> Column:
    """The bit of a fact's family; what follows no C is no number.

    Families that there are, are compared as a whole: to cut a number out of a text costs more than all of the rest.
    """
    number = fn.coalesce(fn.substring("family", 2, 2).try_cast("int"), fn.lit(RANDOM_BIT))
    bit = fn.when(fn.col("family") == _RANDOM, fn.lit(1 << RANDOM_BIT).cast("bigint"))
    for known in range(1, _KNOWN + 1):
        bit = bit.when(fn.col("family") == f"C{known:02}", fn.lit(1 << known).cast("bigint"))
    return bit.otherwise(fn.call_function("shiftleft", fn.lit(1).cast("bigint"), number))


def rollup(facts: DataFrame, partitions: int = 0) -> DataFrame:
    """An edge's key is made of its names, so that grouping by it alone splits nothing and joins nothing."""
    table = facts.groupBy(*GRAIN).agg(
        fn.count(fn.lit(1)).alias("inputs"),
        fn.max("verdict").alias("worst"),
        fn.bit_or(family_bit()).alias("families"),
        fn.min(micros()).alias("first_us"),
        fn.max(micros()).alias("last_us"),
    )
    return fitted(table, SCHEMA)


ROLLUP = Rollup("edge_days", GRAIN, SCHEMA, rollup, kind="fuzz", version=2)
