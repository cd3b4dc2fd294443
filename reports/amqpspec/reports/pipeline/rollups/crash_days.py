"""Rollup: how often each campaign found each crash signature on a day, and the smallest input.

Knows: inputs that a finding blames. Must not know: details of findings, which are in the dimension ``crashes``.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import MICROS, Rollup

GRAIN = ("dt", "run_key", "crash_key")
SCHEMA = (
    "dt DATE, run_key BIGINT, crash_key BIGINT, inputs BIGINT, first_us BIGINT, last_us BIGINT, "
    "smallest_octets BIGINT"
)


def rollup(facts: DataFrame) -> DataFrame:
    """Only inputs that a finding blames."""
    table = grouped(
        facts.where("crash_key != 0"),
        GRAIN,
        "count(*) AS inputs",
        f"min({MICROS}) AS first_us",
        f"max({MICROS}) AS last_us",
        "min(sent_octets) AS smallest_octets",
    )
    return as_schema(table, SCHEMA)


ROLLUP = Rollup("crash_days", GRAIN, SCHEMA, rollup, kind="fuzz")
