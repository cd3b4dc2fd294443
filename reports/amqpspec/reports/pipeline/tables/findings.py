"""Mart: the findings of campaigns, one row for each cluster: a target, a dialect and a crash signature.

Knows: findings and the inputs that they blame. Must not know: cases.
"""

from __future__ import annotations

from datetime import date, timedelta

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import FindingCluster
from amqpspec.reports.pipeline.expressions import day, grouped
from amqpspec.reports.pipeline.tables.mart import (
    Inputs,
    Mart,
    at,
    campaigns,
    first_of,
    newest_versions,
    until,
)
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
    return with_small(joined, _newest_fuzzed(inputs, as_of), ("target", "dialect"), "left").selectExpr(
        *clusters.columns,
        *_OF_THE_SMALLEST,
        "last_version = newest_version AS open",
        "coalesce(crash, lower(hex(crash_key))) AS crash",
        "coalesce(input_octets, sent_octets) AS smallest_octets",
        "input AS smallest_input",
        f"{at('first_us')} AS first_seen",
        f"{at('last_us')} AS last_seen",
    )


def _clusters(seen: DataFrame, as_of: date) -> DataFrame:
    return grouped(
        seen,
        _CLUSTER,
        # Sets, not distinct counts, which would multiply the rows and shuffle them twice more.
        "size(collect_set(run_key)) AS campaigns",
        "size(collect_set(dt)) AS days",
        "sum(inputs) AS inputs",
        f"sum({_inputs_between(as_of, 0)}) AS recent",
        f"sum({_inputs_between(as_of, 1)}) AS earlier",
        "min(first_us) AS first_us",
        "max(last_us) AS last_us",
        "min(smallest_octets) AS sent_octets",
        "min_by(target_version, struct(first_us, run_key)) AS first_version",
        "max_by(target_version, struct(last_us, run_key)) AS last_version",
    )


def _seen(inputs: Inputs, as_of: date) -> DataFrame:
    """Each campaign's clusters by day: blamed inputs, and findings that blame no single input."""
    days = until(inputs["crash_days"], as_of)
    blamed = days.selectExpr("run_key", "crash_key").distinct()
    bare = with_small(_findings(inputs, as_of), blamed, ("run_key", "crash_key"), "anti").selectExpr(
        "to_date(seen_at) AS dt",
        "run_key",
        "crash_key",
        "0 AS inputs",
        "unix_micros(seen_at) AS first_us",
        "unix_micros(seen_at) AS last_us",
        "CAST(NULL AS BIGINT) AS smallest_octets",
    )
    return with_small(as_planned(days.unionByName(bare)), campaigns(inputs), "run_key")


def _findings(inputs: Inputs, as_of: date) -> DataFrame:
    return inputs["crashes"].where(f"crash_key != 0 AND to_date(seen_at) <= {day(as_of)}")


def _newest_fuzzed(inputs: Inputs, as_of: date) -> DataFrame:
    """The version of each target that was fuzzed last, whether or not anything was found."""
    # Every input belongs to a cell, and there are fewer cells than edges.
    cells = until(inputs["case_days"], as_of).selectExpr("run_key", "last_us")
    return newest_versions(with_small(cells, campaigns(inputs), "run_key"))


def _inputs_between(as_of: date, weeks_ago: int) -> str:
    last = as_of - timedelta(days=GROWTH_DAYS * weeks_ago)
    within = f"dt <= {day(last)} AND dt > {day(last - timedelta(days=GROWTH_DAYS))}"
    return f"CASE WHEN {within} THEN inputs ELSE 0 END"


def _smallest(inputs: Inputs, as_of: date) -> DataFrame:
    """The finding with the smallest input of each cluster; its words and replay represent the cluster."""
    found = _findings(inputs, as_of).drop("dialect")
    of_campaigns = campaigns(inputs).selectExpr("run_key", "run", "target", "dialect")
    rows = with_small(found, of_campaigns, "run_key")
    return first_of(rows, _CLUSTER, "input_octets NULLS LAST, seen_at DESC, run_key")


MART = Mart(FindingCluster, ("crash_days", "case_days", "runs", "crashes"), table)
