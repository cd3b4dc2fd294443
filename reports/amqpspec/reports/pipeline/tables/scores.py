"""Mart: the score of each run by suite and level, the source of trends.

Knows: runs of cases. Must not know: which run is the last.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from amqpspec.record.observation import CASE, VERDICT_CODES
from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.rows import RunScore
from amqpspec.reports.pipeline.rollups.rollup import GREEN_CODES
from amqpspec.reports.pipeline.tables.mart import NOT_RUN, Inputs, Mart, at, case_runs, named_runs
from amqpspec.reports.pipeline.tasks import with_small


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``green`` of ``counted`` is the score; excluded and inapplicable cases do not count, blocked ones do.

    A case counts with its worst attempt.
    """
    runs = named_runs(inputs["runs"], CASE)
    cases = inputs["cases"].select("case_key", "dialect", "suite", "level")
    named = with_small(case_runs(inputs, as_of), runs.select("run_key", "run_dialect"), "run_key")
    rows = with_small(named, cases, "case_key", "left").withColumns(
        {
            "dialect": fn.coalesce("dialect", "run_dialect"),
            "suite": fn.coalesce("suite", fn.lit("")),
            "level": fn.coalesce("level", fn.lit("")),
        }
    )
    # By the key of the run, whose names are joined afterwards: Spark sorts if a group's results are not all numbers.
    counted = rows.groupBy("run_key", "dialect", "suite", "level").agg(
        fn.count(fn.lit(1)).alias("cases"),
        _where(fn.col("worst") > NOT_RUN).alias("counted"),
        _where(fn.col("worst").isin(*GREEN_CODES)).alias("green"),
        _where(fn.col("worst") == VERDICT_CODES[Outcome.FAIL]).alias("failed"),
        _where((fn.col("known") > 0) & (fn.col("unexpected") == 0)).alias("known"),
        _where(fn.col("unexpected") > 0).alias("unexpected"),
        fn.min("first_us").alias("first_us"),
    )
    return with_small(counted, runs, "run_key").withColumn("at", at("first_us"))


def _where(condition: Column) -> Column:
    return fn.sum(condition.cast("bigint"))


MART = Mart(RunScore, ("case_days", "runs", "cases"), table)
