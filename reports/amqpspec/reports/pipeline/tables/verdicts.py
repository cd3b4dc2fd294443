"""Mart: the latest verdict of each target and version on each case.

Knows: runs of cases. Must not know: requirements.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import (
    HISTORIES,
    Inputs,
    Mart,
    at,
    baseline_word,
    evidence,
    newest,
    verdict_word,
    with_newest,
)


def latest(inputs: Inputs, as_of: date) -> DataFrame:
    """The last run of each target, version, dialect and case; ``runs`` counts all of them."""
    rows = histories(inputs, as_of)
    # A window, not a group: the complete row of the last run is needed, and histories are few.
    counted = rows.withColumn("runs", fn.sum("runs").over(Window.partitionBy(*LatestVerdict.GRAIN)))
    return with_newest(newest(counted, LatestVerdict.GRAIN), rows)


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``newest`` means that the target was last seen in this version; a verdict is that of the worst attempt."""
    return latest(inputs, as_of).select(
        "*",
        verdict_word("worst").alias("verdict"),
        fn.col("worst").alias("verdict_code"),
        baseline_word().alias("baseline"),
        at("last_us").alias("at"),
        evidence().alias("evidence"),
    )


MART = Mart(LatestVerdict, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
