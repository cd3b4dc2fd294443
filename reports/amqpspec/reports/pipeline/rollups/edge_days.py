"""Rollup: the edges (state, production, reaction) of each campaign on a day.

Knows: edges by their keys, the families that used them. Must not know: names, which are in the dimension ``edges``.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import Rollup, micros

GRAIN = ("dt", "run_key", "edge")
SCHEMA = (
    "dt DATE, run_key BIGINT, edge BIGINT, inputs BIGINT, worst TINYINT, families BIGINT, first_us BIGINT, "
    "last_us BIGINT"
)
RANDOM_BIT = 0
"""In ``families``, bit n is set if family Cn used the edge, bit 0 if random mutation did."""
_RANDOM, _KNOWN = "random", 14


def family_bit() -> Column:
    """The bit of a fact's family;

    ``family_hash`` is the hash of its name. Families are distinguished by their hash: extracting the number from the
    name, or comparing fifteen names, would cost more than the rest of the rollup.
    """
    number = fn.coalesce(fn.substring("family", 2, 2).try_cast("int"), fn.lit(RANDOM_BIT))
    bit = fn.when(_is(_RANDOM), _only(RANDOM_BIT))
    for known in range(1, _KNOWN + 1):
        bit = bit.when(_is(f"C{known:02}"), _only(known))
    return bit.otherwise(fn.call_function("shiftleft", fn.lit(1).cast("bigint"), number))


def _is(family: str) -> Column:
    return fn.col("family_hash") == fn.xxhash64(fn.lit(family))


def _only(bit: int) -> Column:
    return fn.lit(1 << bit).cast("bigint")


def rollup(facts: DataFrame) -> DataFrame:
    """The key of an edge is a hash of its names, so grouping by the key alone is sufficient."""
    hashed = facts.withColumn("family_hash", fn.xxhash64("family"))
    table = hashed.groupBy(*GRAIN).agg(
        fn.count(fn.lit(1)).alias("inputs"),
        fn.max("verdict").alias("worst"),
        fn.bit_or(family_bit()).alias("families"),
        fn.min(micros()).alias("first_us"),
        fn.max(micros()).alias("last_us"),
    )
    return as_schema(table, SCHEMA)


ROLLUP = Rollup("edge_days", GRAIN, SCHEMA, rollup, kind="fuzz", version=2)
