"""Mart: the latest verdict of each target and version on each case.

Knows: runs of cases. Must not know: requirements.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.grain import fitted
from amqpspec.reports.pipeline.tables.mart import (
    LATEST,
    Inputs,
    Mart,
    at,
    baseline_word,
    case_runs,
    evidence,
    newest,
    newest_versions,
    verdict_word,
)

GRAIN = ("target", "target_version", "dialect", "case")
SCHEMA = (
    "target STRING, target_version STRING, dialect STRING, case STRING, product STRING, newest BOOLEAN, "
    "suite STRING, title STRING, level STRING, verdict STRING, verdict_code TINYINT, baseline STRING, "
    "attempts BIGINT, green BIGINT, runs BIGINT, suite_version STRING, run STRING, at TIMESTAMP, evidence STRING"
)


def latest(inputs: Inputs, as_of: date) -> DataFrame:
    """The last run of each target, version, dialect and case; ``runs`` counts all of them."""
    if LATEST in inputs:
        return inputs[LATEST]
    rows = case_runs(inputs, as_of)
    counted = rows.withColumn("runs", fn.count(fn.lit(1)).over(Window.partitionBy(*GRAIN)))
    newest_one = newest_versions(rows).withColumn("newest", fn.lit(True))
    joined = newest(counted, GRAIN).join(newest_one, ["target", "dialect", "target_version"], "left")
    return joined.withColumn("newest", fn.coalesce("newest", fn.lit(False)))


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``newest`` says that it is the version that the target was last seen with; a verdict is the worst attempt's."""
    rows = latest(inputs, as_of).select(
        "*",
        verdict_word("worst").alias("verdict"),
        fn.col("worst").alias("verdict_code"),
        baseline_word().alias("baseline"),
        at("last_us").alias("at"),
        evidence().alias("evidence"),
    )
    return fitted(rows, SCHEMA)


MART = Mart("verdicts", GRAIN, SCHEMA, ("case_days", "runs", "cases"), table)
