"""Rollup: the verdicts of each run and case on a day; for a campaign, of each cell.

Knows: attempts, worst and best verdict, baseline status, times. Must not know: names, which are in dimensions.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import IS_GREEN, MICROS, Rollup

GRAIN = ("dt", "run_key", "case_key")
SCHEMA = (
    "dt DATE, run_key BIGINT, case_key BIGINT, attempts BIGINT, green BIGINT, worst TINYINT, best TINYINT, "
    "known BIGINT, unexpected BIGINT, first_us BIGINT, last_us BIGINT, latency_us BIGINT"
)


def rollup(facts: DataFrame) -> DataFrame:
    """``green`` counts green attempts; ``latency_us`` is the sum over all attempts."""
    # Worst and best by code, since the greatest code is the worst verdict: a number needs neither a sort nor a
    # struct.
    table = grouped(
        facts,
        GRAIN,
        "count(*) AS attempts",
        f"count_if(verdict {IS_GREEN}) AS green",
        "max(verdict) AS worst",
        "min(verdict) AS best",
        "count_if(baseline = 'known') AS known",
        "count_if(baseline = 'unexpected') AS unexpected",
        f"min({MICROS}) AS first_us",
        f"max({MICROS}) AS last_us",
        "sum(latency_us) AS latency_us",
    )
    return as_schema(table, SCHEMA)


ROLLUP = Rollup("case_days", GRAIN, SCHEMA, rollup)
