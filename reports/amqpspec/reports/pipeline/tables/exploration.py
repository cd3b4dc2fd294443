"""Mart: how much of each target a fuzzer has seen, day by day: states, productions, families, edges, reactions, cells.

Knows: which day something was first met. Must not know: how much there is to meet; the grammar knows.
"""

from __future__ import annotations

from datetime import date
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import ExploredDay
from amqpspec.reports.pipeline.rollups.edge_days import RANDOM_BIT
from amqpspec.reports.pipeline.tables.mart import Inputs, Mart, campaigns, in_order, until

DIMENSIONS = ("state", "production", "family", "edge", "reaction", "cell")
_LINE = ("target", "dialect")
_FAMILIES = 63


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``met`` that day, ``new`` for the first time, ``covered`` since the first day; a row for each day of fuzzing."""
    # Both are small beside the days of a year, which are then not shuffled to meet them.
    runs = fn.broadcast(campaigns(inputs).select("run_key", *_LINE))
    names = fn.broadcast(inputs["edges"].select("edge", "state", "production", "signature"))
    edges = until(inputs["edge_days"], as_of).join(runs, "run_key").join(names, "edge", "left")
    cells = until(inputs["case_days"], as_of).join(runs, "run_key")
    met = reduce(_union, (_met(edges, cells, dimension) for dimension in DIMENSIONS))
    keys = (*_LINE, "dimension")
    first = met.withColumn("first", fn.min("dt").over(in_order((*keys, "value"), "dt")))
    daily = first.groupBy(*keys, "dt").agg(
        fn.count(fn.lit(1)).alias("met"),
        fn.sum((fn.col("first") == fn.col("dt")).cast("bigint")).alias("new"),
        fn.sum("inputs").alias("inputs"),
    )
    return daily.withColumn("covered", fn.sum("new").over(in_order(keys, "dt")))


def _union(first: DataFrame, second: DataFrame) -> DataFrame:
    return first.unionByName(second)


def _met(edges: DataFrame, cells: DataFrame, dimension: str) -> DataFrame:
    """What was met of one dimension on a day: its values, with the inputs that met them."""
    if dimension == "cell":
        rows = cells.select(
            *_LINE, "dt", fn.col("case_key").cast("string").alias("value"), fn.col("attempts").alias("n")
        )
    elif dimension == "family":
        rows = edges.select(
            *_LINE, "dt", fn.explode(_families()).alias("value"), fn.lit(None).cast("bigint").alias("n")
        )
    else:
        column = fn.col("signature" if dimension == "reaction" else dimension).cast("string")
        rows = edges.select(*_LINE, "dt", column.alias("value"), fn.col("inputs").alias("n"))
    counted = rows.where("value <> ''").groupBy(*_LINE, "dt", "value").agg(fn.sum("n").alias("inputs"))
    return counted.withColumn("dimension", fn.lit(dimension))


def _families() -> Column:
    """The names of the families whose bits are set."""
    numbers = fn.sequence(fn.lit(0), fn.lit(_FAMILIES - 1))
    is_set = fn.filter(numbers, lambda n: fn.call_function("getbit", "families", n) == 1)
    return fn.transform(
        is_set,
        lambda n: fn.when(n == RANDOM_BIT, fn.lit("random")).otherwise(
            fn.concat(fn.lit("C"), fn.lpad(n.cast("string"), 2, "0"))
        ),
    )


MART = Mart(ExploredDay, ("edge_days", "case_days", "edges", "runs"), table)
