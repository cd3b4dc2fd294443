"""Mart: what the fuzzer has covered on each target, day by day: states, productions, families, edges, reactions,
cells.

Knows: the day on which each value was first seen. Must not know: how many values exist; the grammar knows that.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import ExploredDay
from amqpspec.reports.pipeline.tables.mart import Inputs, Mart, campaigns, in_order, until
from amqpspec.reports.pipeline.tasks import as_planned, with_small

_LINE = ("target", "dialect")
_KEYS = ("line", "dimension")
_FAMILIES = 63


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``met`` is the number seen that day, ``new`` for the first time, ``covered`` since the first day; a row for
    each day of fuzzing.
    """
    runs = campaigns(inputs).select("run_key", *_LINE, fn.xxhash64(*_LINE).alias("line"))
    met = _met(inputs, runs.select("run_key", "line"), as_of)
    first = met.withColumn("first", fn.min("dt").over(Window.partitionBy(*_KEYS, "value")))
    daily = first.groupBy(*_KEYS, "dt").agg(
        fn.count(fn.lit(1)).alias("met"),
        fn.sum((fn.col("first") == fn.col("dt")).cast("bigint")).alias("new"),
        fn.sum("inputs").alias("inputs"),
    )
    covered = daily.withColumn("covered", fn.sum("new").over(in_order(_KEYS, "dt")))
    return with_small(covered, runs.select("line", *_LINE).distinct(), "line")


def _met(inputs: Inputs, runs: DataFrame, as_of: date) -> DataFrame:
    """Each value that was seen on a day, with its number of inputs. A value is a number: a key, a hash or a bit."""
    edges = with_small(until(inputs["edge_days"], as_of), runs, "run_key")
    cells = with_small(until(inputs["case_days"], as_of), runs, "run_key")
    rows = (
        _values_of(with_small(edges, _named(inputs), "edge", "left"))
        .unionByName(
            cells.select("line", "dt", _is("cell"), fn.col("case_key").alias("value"), _n("attempts"))
        )
        .unionByName(_families_of(edges))
    )
    return (
        as_planned(rows)
        .where("value IS NOT NULL")
        .groupBy(*_KEYS, "dt", "value")
        .agg(fn.sum("n").alias("inputs"))
    )


def _named(inputs: Inputs) -> DataFrame:
    """The parts of each edge; a missing name is not a value."""
    names = [fn.when(fn.col(name) != "", fn.xxhash64(name)).alias(name) for name in ("state", "production")]
    return inputs["edges"].select("edge", *names, fn.col("signature").alias("reaction"))


def _values_of(edges: DataFrame) -> DataFrame:
    """A row for each part of an edge, from a single scan of the days."""
    rows = edges.select("line", "dt", _n("inputs"), "state", "production", "edge", "reaction")
    return rows.unpivot(
        ["line", "dt", "n"], ["state", "production", "edge", "reaction"], "dimension", "value"
    )


def _families_of(edges: DataFrame) -> DataFrame:
    """The families of a day; their numbers of inputs are not known."""
    daily = edges.groupBy("line", "dt").agg(fn.bit_or("families").alias("families"))
    none = fn.lit(None).cast("bigint").alias("n")
    return daily.select("line", "dt", _is("family"), fn.explode(_families()).alias("value"), none)


def _is(dimension: str) -> Column:
    return fn.lit(dimension).alias("dimension")


def _n(column: str) -> Column:
    return fn.col(column).alias("n")


def _families() -> Column:
    """The numbers of the families whose bits are set."""
    numbers = fn.sequence(fn.lit(0), fn.lit(_FAMILIES - 1))
    is_set = fn.filter(numbers, lambda n: fn.call_function("getbit", "families", n) == 1)
    return fn.transform(is_set, lambda n: n.cast("bigint"))


MART = Mart(ExploredDay, ("edge_days", "case_days", "edges", "runs"), table)
