"""Mart: verdicts that changed from one version to the next, of the target and of the suite, kept separate.

Knows: the last verdict under each pair of versions. Must not know: changes within one pair; that is flakiness.

Two neighbours are compared at a time: the next version of the target under the same suite, and the next version of
the suite on the same target. If a pair has neither neighbour, because both changed at once, it is compared with the
previous pair, and the row says ``both``, because the cause cannot be determined.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import Regression
from amqpspec.reports.pipeline.rollups.rollup import GREEN_CODES
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import (
    HISTORIES,
    Inputs,
    Mart,
    at,
    evidence,
    verdict_word,
    version_order,
)

_CASE = ("target", "dialect", "case")
_CARRIED = ("target_version", "suite_version", "worst", "run", "mixed")
TARGET, SUITE, BOTH = "target-version", "suite-version", "both"


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``direction``: regressed from green, fixed to green, otherwise changed.

    ``flaky``: a side also had other verdicts.
    """
    pairs = histories(inputs, as_of).select(
        *_CASE, *_CARRIED[:-1], "suite", "level", "folder", "first_us",
        (fn.col("all_best") != fn.col("all_worst")).alias("mixed"),
        version_order(fn.col("target_version")).alias("target_order"),
        version_order(fn.col("suite_version")).alias("suite_order"),
    )  # fmt: skip
    by_target = _before(Window.partitionBy(*_CASE, "suite_version").orderBy("target_order", "target_version"))
    by_suite = _before(Window.partitionBy(*_CASE, "target_version").orderBy("suite_order", "suite_version"))
    by_time = _before(Window.partitionBy(*_CASE).orderBy("first_us", "target_order", "suite_order"))
    placed = pairs.select(
        "*", by_target.alias("by_target"), by_suite.alias("by_suite"), by_time.alias("by_time")
    )
    return _compared(placed.select("*", fn.inline(_neighbours())))


def _neighbours() -> Column:
    """The pairs with which each pair is compared, and the kind of change; null if there is none."""
    alone = fn.col("by_target").isNull() & fn.col("by_suite").isNull()
    found = (
        (TARGET, fn.col("by_target")),
        (SUITE, fn.col("by_suite")),
        (BOTH, fn.when(alone, fn.col("by_time"))),
    )
    return fn.array(*(fn.struct(fn.lit(change).alias("change"), old.alias("old")) for change, old in found))


def _before(window: WindowSpec) -> Column:
    """The previous pair, as a struct."""
    return fn.lag(fn.struct(*_CARRIED)).over(window)


def _compared(placed: DataFrame) -> DataFrame:
    """Each pair next to a previous one with a different verdict."""
    old = fn.col("old")
    rows = placed.where(old.isNotNull() & (old["worst"] != fn.col("worst"))).select(
        *_CASE, "suite", "level", "folder", "worst", "change",
        fn.col("target_version").alias("to_target_version"),
        fn.col("suite_version").alias("to_suite_version"),
        old["target_version"].alias("from_target_version"),
        old["suite_version"].alias("from_suite_version"),
        old["worst"].alias("was"),
        (old["mixed"] | fn.col("mixed")).alias("flaky"),
        old["run"].alias("from_run"),
        fn.col("run").alias("to_run"),
        at("first_us").alias("at"),
    )  # fmt: skip
    return rows.withColumns(
        {
            "from_verdict": verdict_word("was"),
            "to_verdict": verdict_word("worst"),
            "direction": _direction(),
            "evidence": evidence(),
        }
    )


def _direction() -> Column:
    was_green, is_green = fn.col("was").isin(*GREEN_CODES), fn.col("worst").isin(*GREEN_CODES)
    return (
        fn.when(was_green & ~is_green & (fn.col("worst") > fn.col("was")), fn.lit("regressed"))
        .when(~was_green & is_green & (fn.col("was") > fn.col("worst")), fn.lit("fixed"))
        .otherwise(fn.lit("changed"))
    )


MART = Mart(Regression, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
