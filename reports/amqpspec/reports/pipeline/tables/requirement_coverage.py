"""Mart: the result of each target and version for each requirement: the worst verdict of its cases, with the
evidence.

Knows: the ledger, cases, latest verdicts. Must not know: how verdicts change over time.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import LatestVerdict, RequirementStatus
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
from amqpspec.reports.pipeline.tasks import with_small

_WHO = ("target", "target_version", "dialect")


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``status``: judged; not-run if it has cases, but none ran; open without a case; excluded with a reason."""
    seen = histories(inputs, as_of)
    worst = _worst(inputs, newest(seen, LatestVerdict.GRAIN))
    # The joined tables have no more rows than the mart.
    judged = with_small(_targets_times_requirements(inputs, seen), worst, (*_WHO, "requirement_key"), "left")
    rows = with_small(judged, _linked(inputs), "requirement_key", "left")
    return rows.select(
        *(column for column in rows.columns if column not in ("cases", "judged", "green")),
        _status().alias("status"),
        verdict_word("worst").alias("verdict"),
        fn.col("worst").alias("verdict_code"),
        baseline_word().alias("baseline"),
        *(fn.coalesce(name, fn.lit(0)).alias(name) for name in ("cases", "judged", "green")),
        at("last_us").alias("at"),
        evidence().alias("evidence"),
    )


def _targets_times_requirements(inputs: Inputs, seen: DataFrame) -> DataFrame:
    who = with_newest(seen.select(*_WHO).distinct(), seen)
    rows = inputs["requirements"].select(
        "requirement_key", "dialect", "requirement", "level", "section", "same_as", "excluded"
    )
    return with_small(who, rows, "dialect")


def _linked(inputs: Inputs) -> DataFrame:
    """The number of cases that cover a requirement."""
    return inputs["case_requirements"].groupBy("requirement_key").agg(fn.count(fn.lit(1)).alias("cases"))


def _worst(inputs: Inputs, latest: DataFrame) -> DataFrame:
    """For each target and requirement the worst verdict, and the first case by name with it."""
    links = inputs["case_requirements"].select("case_key", "requirement_key")
    same = Window.partitionBy(*_WHO, "requirement_key")
    rows = with_small(latest, links, "case_key").select(
        *_WHO, "requirement_key", "case", "run", "folder", "worst", "last_us", "known", "unexpected",
        fn.count(fn.lit(1)).over(same).alias("judged"),
        fn.sum((fn.col("green") == fn.col("attempts")).cast("bigint")).over(same).alias("green"),
        fn.row_number().over(same.orderBy(fn.desc("worst"), "case")).alias("_place"),
    )  # fmt: skip
    return rows.where("_place = 1").drop("_place")


def _status() -> Column:
    return (
        fn.when(fn.col("worst").isNotNull(), fn.lit("judged"))
        .when(fn.length(fn.coalesce("excluded", fn.lit(""))) > 0, fn.lit("excluded"))
        .when(fn.col("cases") > 0, fn.lit("not-run"))
        .otherwise(fn.lit("open"))
    )


MART = Mart(
    RequirementStatus,
    ("case_days", "runs", "cases", "requirements", "case_requirements"),
    table,
    shares=(HISTORIES,),
)
