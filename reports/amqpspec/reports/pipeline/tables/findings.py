"""Mart: the findings of campaigns, one row for each cluster: a target, a dialect and a crash signature.

Knows: findings and the inputs that they blame. Must not know: cases.
"""

from __future__ import annotations

from datetime import date, timedelta

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as fn

from amqpspec.reports.marts.rows import FindingCluster
from amqpspec.reports.pipeline.tables.mart import Inputs, Mart, at, campaigns, newest_versions, until
from amqpspec.reports.pipeline.tasks import as_planned, with_small

GROWTH_DAYS = 7
_CLUSTER = ("target", "dialect", "crash_key")
_OF_THE_SMALLEST = (
    "oracle", "status", "family", "state", "top", "detail", "requirement", "words", "replay", "folder", "run",
)  # fmt: skip


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``recent`` and ``earlier`` count the blamed inputs of the last seven days and of the seven days before.

    ``open``: found in the version that was fuzzed last. ``smallest_input`` is the smallest minimized input, with
    words, replay and folder of its finding.
    """
    clusters = _clusters(_seen(inputs, as_of), as_of)
    # Both have at most one row for each row of the mart.
    joined = with_small(clusters, _smallest(inputs, as_of), _CLUSTER, "left")
    return with_small(joined, _newest_fuzzed(inputs, as_of), ("target", "dialect"), "left").select(
        *clusters.columns,
        *_OF_THE_SMALLEST,
        (fn.col("last_version") == fn.col("newest_version")).alias("open"),
        fn.coalesce("crash", fn.lower(fn.hex("crash_key"))).alias("crash"),
        fn.coalesce("input_octets", "sent_octets").alias("smallest_octets"),
        fn.col("input").alias("smallest_input"),
        at("first_us").alias("first_seen"),
        at("last_us").alias("last_seen"),
    )


def _clusters(seen: DataFrame, as_of: date) -> DataFrame:
    return seen.groupBy(*_CLUSTER).agg(
        # Sets, not distinct counts, which would multiply the rows and shuffle them twice more.
        fn.size(fn.collect_set("run_key")).alias("campaigns"),
        fn.size(fn.collect_set("dt")).alias("days"),
        fn.sum("inputs").alias("inputs"),
        fn.sum(_inputs_between(as_of, 0)).alias("recent"),
        fn.sum(_inputs_between(as_of, 1)).alias("earlier"),
        fn.min("first_us").alias("first_us"),
        fn.max("last_us").alias("last_us"),
        fn.min("smallest_octets").alias("sent_octets"),
        fn.min_by("target_version", fn.struct("first_us", "run_key")).alias("first_version"),
        fn.max_by("target_version", fn.struct("last_us", "run_key")).alias("last_version"),
    )


def _seen(inputs: Inputs, as_of: date) -> DataFrame:
    """Each campaign's clusters by day: blamed inputs, and findings that blame no single input."""
    days = until(inputs["crash_days"], as_of)
    blamed = days.select("run_key", "crash_key").distinct()
    recorded_us = fn.unix_micros("seen_at")
    bare = with_small(_findings(inputs, as_of), blamed, ("run_key", "crash_key"), "anti").select(
        fn.to_date("seen_at").alias("dt"),
        "run_key",
        "crash_key",
        fn.lit(0).alias("inputs"),
        recorded_us.alias("first_us"),
        recorded_us.alias("last_us"),
        fn.lit(None).cast("bigint").alias("smallest_octets"),
    )
    return with_small(as_planned(days.unionByName(bare)), campaigns(inputs), "run_key")


def _findings(inputs: Inputs, as_of: date) -> DataFrame:
    return inputs["crashes"].where((fn.col("crash_key") != 0) & (fn.to_date("seen_at") <= fn.lit(as_of)))


def _newest_fuzzed(inputs: Inputs, as_of: date) -> DataFrame:
    """The version of each target that was fuzzed last, whether or not anything was found."""
    # Every input belongs to a cell, and there are fewer cells than edges.
    cells = until(inputs["case_days"], as_of).select("run_key", "last_us")
    fuzzed = with_small(cells, campaigns(inputs), "run_key")
    return newest_versions(fuzzed).withColumnRenamed("target_version", "newest_version")


def _inputs_between(as_of: date, weeks_ago: int) -> Column:
    last = as_of - timedelta(days=GROWTH_DAYS * weeks_ago)
    within = (fn.col("dt") <= fn.lit(last)) & (fn.col("dt") > fn.lit(last - timedelta(days=GROWTH_DAYS)))
    return fn.when(within, fn.col("inputs")).otherwise(fn.lit(0))


def _smallest(inputs: Inputs, as_of: date) -> DataFrame:
    """The finding with the smallest input of each cluster; its words and replay represent the cluster."""
    found = _findings(inputs, as_of).drop("dialect")
    rows = with_small(found, campaigns(inputs).select("run_key", "run", "target", "dialect"), "run_key")
    order = (fn.asc_nulls_last("input_octets"), fn.desc("seen_at"), fn.asc("run_key"))
    placed = rows.withColumn("_place", fn.row_number().over(Window.partitionBy(*_CLUSTER).orderBy(*order)))
    return placed.where("_place = 1").drop("_place")


MART = Mart(FindingCluster, ("crash_days", "case_days", "runs", "crashes"), table)
