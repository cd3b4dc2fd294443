"""How a target reacted to each input on a day: the raw material of differences between brokers.

Knows: inputs and the keys of reactions. Must not know: which inputs differ.

There are nearly as many groups as facts. Aggregating before a shuffle would fill a hash table and throw nothing away.
So what one task can hold is aggregated by one task, without a shuffle; of more, the facts are shuffled first, by the
input alone, and aggregated once, in pieces that fit into memory.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import Rollup

GRAIN = ("dt", "run_key", "input_key")
SCHEMA = (
    "dt DATE, run_key BIGINT, input_key BIGINT, signature_low BIGINT, signature_high BIGINT, known TINYINT"
)
PARTITIONS = 4


def rollup(facts: DataFrame) -> DataFrame:
    """A case is an input, too: its key stands for one. Low and high differ where reactions did."""
    return spread(facts, PARTITIONS)


def spread(facts: DataFrame, partitions: int, day: str = "") -> DataFrame:
    """The same, by so many tasks; of one ``day`` only, which then is no key that each row has to be hashed by."""
    rows = facts.select(
        "dt",
        "run_key",
        fn.coalesce("input_key", "case_key").alias("input_key"),
        "signature",
        fn.when(fn.col("baseline") == "known", fn.lit(1)).otherwise(fn.lit(0)).alias("known"),
    )
    # coalesce moves no row; repartition shuffles, by the one column that no two tasks may share.
    shared = rows.coalesce(1) if partitions == 1 else rows.repartition(partitions, "input_key")
    keys = [name for name in GRAIN if not (day and name == "dt")]
    table = shared.groupBy(*keys).agg(
        fn.min("signature").alias("signature_low"),
        fn.max("signature").alias("signature_high"),
        fn.max("known").alias("known"),
    )
    return as_schema(table.withColumn("dt", fn.lit(day)) if day else table, SCHEMA)


ROLLUP = Rollup("reaction_days", GRAIN, SCHEMA, rollup, spread)
