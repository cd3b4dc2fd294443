"""The basis of verdicts, regressions and flakiness: all runs of a case under one pair of versions, as one row.

Knows: runs of cases in order. Must not know: marts, how one pair of versions compares with another.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.tables.mart import HISTORIES, Inputs, case_runs, in_order, with_names

_CASE = ("pair", "case_key")
_OF_THE_LAST = ("run_key", "attempts", "green", "known", "unexpected", "worst", "last_us")


def histories(inputs: Inputs, as_of: date) -> DataFrame:
    """One row for each target, pair of versions, dialect and case: its last run, and totals of all its runs.

    ``run_key`` to ``last_us`` belong to the last run; ``flips`` counts runs whose verdict differs from that of the
    previous run, and ``mixed_runs`` those with attempts of different verdicts.
    """
    if HISTORIES in inputs:
        # Few rows, however many facts there are: one task needs no shuffle for the windows of the marts.
        return inputs[HISTORIES].coalesce(1)
    order = in_order(_CASE, "last_us", "run_key")
    before = fn.lag("worst").over(order)
    placed = case_runs(inputs, as_of).select(
        "*",
        fn.coalesce((before != fn.col("worst")).cast("bigint"), fn.lit(0)).alias("flip"),
        fn.lead("run_key").over(order).isNull().alias("is_last"),
    )
    return with_names(_as_one(placed), inputs)


def _as_one(placed: DataFrame) -> DataFrame:
    """Only numbers, which are aggregated in place, in the partition that the window has made."""
    return placed.groupBy(*_CASE).agg(
        *(_of_the_last(name) for name in _OF_THE_LAST),
        fn.count(fn.lit(1)).alias("runs"),
        fn.sum("flip").alias("flips"),
        fn.max(fn.when(fn.col("flip") == 1, fn.col("last_us"))).alias("flip_us"),
        fn.sum((fn.col("worst") != fn.col("best")).cast("bigint")).alias("mixed_runs"),
        fn.sum("attempts").alias("all_attempts"),
        fn.sum("green").alias("all_green"),
        fn.min("best").alias("all_best"),
        fn.max("worst").alias("all_worst"),
        fn.min("first_us").alias("first_us"),
    )


def _of_the_last(name: str) -> Column:
    return fn.max(fn.when(fn.col("is_last"), fn.col(name))).alias(name)
