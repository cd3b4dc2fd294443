"""Rollup: the reactions of a target to each input on a day, the basis of differences between brokers.

Knows: inputs and the keys of reactions. Must not know: which inputs differ.

There are nearly as many groups as facts, so aggregating before a shuffle would fill a hash table without reducing the
data. Therefore one task aggregates a day that fits into memory, without a shuffle; the facts of a larger day are
first shuffled by input, and then aggregated once in parts that fit into memory.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import Rollup

GRAIN = ("dt", "run_key", "input_key")
SCHEMA = (
    "dt DATE, run_key BIGINT, input_key BIGINT, signature_low BIGINT, signature_high BIGINT, known TINYINT"
)
PARTITIONS = 4


def rollup(facts: DataFrame) -> DataFrame:
    """Cases are inputs too, identified by their key. Low and high differ if the reactions differ."""
    return spread(facts, PARTITIONS)


def spread(facts: DataFrame, partitions: int, day: str = "") -> DataFrame:
    """The same with this number of tasks; if all facts are of one ``day``, the day is not part of the key."""
    rows = facts.selectExpr(
        "dt",
        "run_key",
        "coalesce(input_key, case_key) AS input_key",
        "signature",
        "CASE WHEN baseline = 'known' THEN 1 ELSE 0 END AS known",
    )
    # coalesce moves no row; repartition shuffles, by the one column that no two tasks may share.
    shared = rows.coalesce(1) if partitions == 1 else rows.repartition(partitions, "input_key")
    table = grouped(
        shared,
        [name for name in GRAIN if not (day and name == "dt")],
        "min(signature) AS signature_low",
        "max(signature) AS signature_high",
        "max(known) AS known",
    )
    return as_schema(table.withColumn("dt", fn.lit(day)) if day else table, SCHEMA)


ROLLUP = Rollup("reaction_days", GRAIN, SCHEMA, rollup, spread)
