"""Mart: how much of each target a fuzzer has seen, day by day: states, productions, families, edges, reactions, cells.

Knows: which day something was first met. Must not know: how much there is to meet; the grammar knows.
"""

from __future__ import annotations

from datetime import date
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from reports.pipeline.grain import fitted
from reports.pipeline.rollups.edge_days import RANDOM_BIT
from reports.pipeline.tables.mart import Inputs, Mart, campaigns, in_order, until

GRAIN = ("target", "dialect", "dimension", "dt")
SCHEMA = (
    "target STRING, dialect STRING, dimension STRING, dt DATE, met BIGINT, new BIGINT, covered BIGINT, inputs BIGINT"
)
DIMENSIONS = ("state", "production", "family", "edge", "reaction", "cell")
_LINE = ("target", "dialect")
_FAMILIES = 63


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``met`` that day, ``new`` for the first time, ``covered`` since the first day; a row for each day of fuzzing."""
    runs = F.broadcast(campaigns(inputs).select("run_key", *_LINE))
    edges = until(inputs["edge_days"], as_of).join(runs, "run_key")
    cells = until(inputs["case_days"], as_of).join(runs, "run_key")
    met = reduce(DataFrame.unionByName, [_met(edges, cells, dimension) for dimension in DIMENSIONS])
    keys = (*_LINE, "dimension")
    first = met.withColumn("first", F.min("dt").over(in_order((*keys, "value"), "dt")))
    daily = first.groupBy(*keys, "dt").agg(
        F.count(F.lit(1)).alias("met"),
        F.sum((F.col("first") == F.col("dt")).cast("bigint")).alias("new"),
        F.sum("inputs").alias("inputs"),
    )
    return fitted(daily.withColumn("covered", F.sum("new").over(in_order(keys, "dt"))), SCHEMA)


def _met(edges: DataFrame, cells: DataFrame, dimension: str) -> DataFrame:
    """What was met of one dimension on a day: its values, with the inputs that met them."""
    if dimension == "cell":
        rows = cells.select(*_LINE, "dt", F.col("case_key").cast("string").alias("value"), F.col("attempts").alias("n"))
    elif dimension == "family":
        rows = edges.select(*_LINE, "dt", F.explode(_families()).alias("value"), F.lit(None).cast("bigint").alias("n"))
    else:
        column = F.col("signature" if dimension == "reaction" else dimension).cast("string")
        rows = edges.select(*_LINE, "dt", column.alias("value"), F.col("inputs").alias("n"))
    counted = rows.where("value <> ''").groupBy(*_LINE, "dt", "value").agg(F.sum("n").alias("inputs"))
    return counted.withColumn("dimension", F.lit(dimension))


def _families() -> Column:
    """The names of the families whose bits are set."""
    numbers = F.sequence(F.lit(0), F.lit(_FAMILIES - 1))
    is_set = F.filter(numbers, lambda n: F.call_function("getbit", "families", n) == 1)
    return F.transform(
        is_set,
        lambda n: F.when(n == RANDOM_BIT, F.lit("random")).otherwise(
            F.concat(F.lit("C"), F.lpad(n.cast("string"), 2, "0"))
        ),
    )


MART = Mart("exploration", GRAIN, SCHEMA, ("edge_days", "case_days", "runs"), table)
