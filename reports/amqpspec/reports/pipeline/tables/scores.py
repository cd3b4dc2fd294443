"""Mart: the score of each run by suite and level, the source of trends.

Knows: runs of cases. Must not know: which run is the last.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.record.observation import CASE, VERDICT_CODES
from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.rows import RunScore
from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.rollups.rollup import IS_GREEN
from amqpspec.reports.pipeline.tables.mart import NOT_RUN, Inputs, Mart, at, case_runs, named_runs
from amqpspec.reports.pipeline.tasks import with_small


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``green`` of ``counted`` is the score; excluded and inapplicable cases do not count, blocked ones do.

    A case counts with its worst attempt.
    """
    runs = named_runs(inputs["runs"], CASE)
    cases = inputs["cases"].selectExpr("case_key", "dialect", "suite", "level")
    named = with_small(case_runs(inputs, as_of), runs.selectExpr("run_key", "run_dialect"), "run_key")
    rows = with_small(named, cases, "case_key", "left").selectExpr(
        "* EXCEPT (dialect, suite, level)",
        "coalesce(dialect, run_dialect) AS dialect",
        "coalesce(suite, '') AS suite",
        "coalesce(level, '') AS level",
    )
    # By the key of the run, whose names are joined afterwards: Spark sorts if a group's results are not all numbers.
    counted = grouped(
        rows,
        ("run_key", "dialect", "suite", "level"),
        "count(*) AS cases",
        f"count_if(worst > {NOT_RUN}) AS counted",
        f"count_if(worst {IS_GREEN}) AS green",
        f"count_if(worst = {VERDICT_CODES[Outcome.FAIL]}) AS failed",
        "count_if(known > 0 AND unexpected = 0) AS known",
        "count_if(unexpected > 0) AS unexpected",
        "min(first_us) AS first_us",
    )
    return with_small(counted, runs, "run_key").selectExpr("*", f"{at('first_us')} AS at")


MART = Mart(RunScore, ("case_days", "runs", "cases"), table)
