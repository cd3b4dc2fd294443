"""Mart: verdicts that changed from one version to the next, of the target and of the suite, kept separate.

Knows: the last verdict under each pair of versions. Must not know: changes within one pair; that is flakiness.

Two neighbours are compared at a time: the next version of the target under the same suite, and the next version of
the suite on the same target. Where a pair has neither neighbour, because both were changed at once, it is compared with
the pair that was seen before it, and the row says ``both``: nobody can know whose change it was.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import Regression
from amqpspec.reports.pipeline.rollups.rollup import GREEN_CODES
from amqpspec.reports.pipeline.tables.mart import (
    Inputs,
    Mart,
    at,
    case_runs,
    evidence,
    newest,
    verdict_word,
    version_order,
)

_CASE = ("target", "dialect", "case")
_PAIR = (*_CASE, "target_version", "suite_version")
_CARRIED = ("target_version", "suite_version", "worst", "mixed", "run")
TARGET, SUITE, BOTH = "target-version", "suite-version", "both"


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``direction``: regressed from green, fixed to green, else changed. ``flaky``: a side had other verdicts, too."""
    pairs = _pairs(case_runs(inputs, as_of)).select(
        "*",
        version_order(fn.col("target_version")).alias("target_order"),
        version_order(fn.col("suite_version")).alias("suite_order"),
    )
    by_target = _before(Window.partitionBy(*_CASE, "suite_version").orderBy("target_order", "target_version"))
    by_suite = _before(Window.partitionBy(*_CASE, "target_version").orderBy("suite_order", "suite_version"))
    by_time = _before(Window.partitionBy(*_CASE).orderBy("first_us", "target_order", "suite_order"))
    placed = pairs.select(
        "*", by_target.alias("by_target"), by_suite.alias("by_suite"), by_time.alias("by_time")
    )
    alone = fn.col("by_target").isNull() & fn.col("by_suite").isNull()
    compared = [
        _compared(placed, TARGET, "by_target"),
        _compared(placed, SUITE, "by_suite"),
        _compared(placed.where(alone), BOTH, "by_time"),
    ]
    return compared[0].unionByName(compared[1]).unionByName(compared[2])


def _pairs(rows: DataFrame) -> DataFrame:
    """One row a case and pair of versions: its last run, when it was first seen, whether its runs agree."""
    same = Window.partitionBy(*_PAIR)
    mixed = (fn.max("worst").over(same) != fn.min("worst").over(same)) | (
        fn.max(fn.col("worst") - fn.col("best")).over(same) > 0
    )
    return newest(rows.withColumns({"mixed": mixed, "first_us": fn.min("first_us").over(same)}), _PAIR)


def _before(window: WindowSpec) -> Column:
    """The pair before this one, as a struct."""
    return fn.lag(fn.struct(*_CARRIED)).over(window)


def _compared(placed: DataFrame, change: str, before: str) -> DataFrame:
    """Each pair beside the one before it, where the verdicts differ."""
    old = fn.col(before)
    rows = placed.where(old.isNotNull() & (old["worst"] != fn.col("worst"))).select(
        *_CASE, "suite", "level", "folder", "worst",
        fn.lit(change).alias("change"),
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


MART = Mart(Regression, ("case_days", "runs", "cases"), table)
