"""Rollup: the edges (state, production, reaction) of each campaign on a day.

Knows: edges by their keys, the families that used them. Must not know: names, which are in the dimension ``edges``.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.rollups.rollup import MICROS, Rollup

GRAIN = ("dt", "run_key", "edge")
SCHEMA = (
    "dt DATE, run_key BIGINT, edge BIGINT, inputs BIGINT, worst TINYINT, families BIGINT, first_us BIGINT, "
    "last_us BIGINT"
)
RANDOM_BIT = 0
"""In ``families``, bit n is set if family Cn used the edge, bit 0 if random mutation did."""
_RANDOM, _KNOWN = "random", 14


def family_bit() -> str:
    """The bit of a fact's family;

    ``family_hash`` is the hash of its name. Families are distinguished by their hash: extracting the number from the
    name, or comparing fifteen names, would cost more than the rest of the rollup.
    """
    bits = {_RANDOM: RANDOM_BIT, **{f"C{number:02}": number for number in range(1, _KNOWN + 1)}}
    known = " ".join(f"WHEN xxhash64('{name}') THEN {1 << bit}L" for name, bit in bits.items())
    number = f"coalesce(try_cast(substring(family, 2, 2) AS INT), {RANDOM_BIT})"
    return f"CASE family_hash {known} ELSE shiftleft(1L, {number}) END"


def rollup(facts: DataFrame) -> DataFrame:
    """The key of an edge is a hash of its names, so grouping by the key alone is sufficient."""
    table = grouped(
        facts.selectExpr("*", "xxhash64(family) AS family_hash"),
        GRAIN,
        "count(*) AS inputs",
        "max(verdict) AS worst",
        f"bit_or({family_bit()}) AS families",
        f"min({MICROS}) AS first_us",
        f"max({MICROS}) AS last_us",
    )
    return as_schema(table, SCHEMA)


ROLLUP = Rollup("edge_days", GRAIN, SCHEMA, rollup, kind="fuzz", version=2)
