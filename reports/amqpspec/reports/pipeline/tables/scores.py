"""Mart: the score of each run by suite and level, the source of trends.

Knows: runs of cases. Must not know: which run is the last.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from amqpspec.record.observation import VERDICT_CODES
from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.rows import RunScore
from amqpspec.reports.pipeline.rollups.rollup import GREEN_CODES
from amqpspec.reports.pipeline.tables.mart import NOT_RUN, Inputs, Mart, at, case_runs, with_names


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``green`` of ``counted`` is the score; excluded and inapplicable cases do not count, blocked ones do.

    A case counts with its worst attempt.
    """
    rows = with_names(case_runs(inputs, as_of), inputs).withColumns(
        {"suite": fn.coalesce("suite", fn.lit("")), "level": fn.coalesce("level", fn.lit(""))}
    )
    counted = rows.groupBy(*RunScore.GRAIN).agg(
        fn.first("product").alias("product"),
        fn.count(fn.lit(1)).alias("cases"),
        _where(fn.col("worst") > NOT_RUN).alias("counted"),
        _where(fn.col("worst").isin(*GREEN_CODES)).alias("green"),
        _where(fn.col("worst") == VERDICT_CODES[Outcome.FAIL]).alias("failed"),
        _where((fn.col("known") > 0) & (fn.col("unexpected") == 0)).alias("known"),
        _where(fn.col("unexpected") > 0).alias("unexpected"),
        fn.min("first_us").alias("first_us"),
    )
    return counted.withColumn("at", at("first_us"))


def _where(condition: Column) -> Column:
    return fn.sum(condition.cast("bigint"))


MART = Mart(RunScore, ("case_days", "runs", "cases"), table)
