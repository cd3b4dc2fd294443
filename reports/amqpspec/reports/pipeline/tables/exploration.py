"""Mart: what the fuzzer has covered on each target, day by day: states, productions, families, edges, reactions,
cells.

Knows: the day on which each value was first seen. Must not know: how many values exist; the grammar knows that.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import ExploredDay
from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.tables.mart import Inputs, Mart, campaigns, until
from amqpspec.reports.pipeline.tasks import as_planned, with_small

_LINE = ("target", "dialect")
_KEYS = ("line", "part")
_PARTS = ("state", "production", "edge", "reaction")
_DIMENSIONS = (*_PARTS, "cell", "family")
"""A part is the number of its dimension: rows that only have numbers are grouped and sorted faster."""
_FAMILIES = 63


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``met`` is the number seen that day, ``new`` for the first time, ``covered`` since the first day; a row for
    each day of fuzzing.
    """
    runs = campaigns(inputs).selectExpr("run_key", *_LINE, "xxhash64(target, dialect) AS line")
    met = _met(inputs, runs.selectExpr("run_key", "line"), as_of)
    # The value comes first because Spark sorts by a prefix, which distinguishes most rows.
    first = met.selectExpr("*", "min(dt) OVER (PARTITION BY value, part, line) AS first")
    daily = grouped(
        first,
        (*_KEYS, "dt"),
        "count(*) AS met",
        "count_if(first = dt) AS new",
        "sum(inputs) AS inputs",
    )
    words = ", ".join(f"'{name}'" for name in _DIMENSIONS)
    covered = daily.selectExpr(
        "*",
        "sum(new) OVER (PARTITION BY line, part ORDER BY dt) AS covered",
        f"array({words})[part] AS dimension",
    )
    return with_small(covered, runs.selectExpr("line", *_LINE).distinct(), "line")


def _met(inputs: Inputs, runs: DataFrame, as_of: date) -> DataFrame:
    """Each value that was seen on a day, with its number of inputs. A value is a number: a key, a hash or a bit."""
    edges = with_small(until(inputs["edge_days"], as_of), runs, "run_key")
    cells = with_small(until(inputs["case_days"], as_of), runs, "run_key")
    rows = (
        _values_of(with_small(edges, _named(inputs), "edge", "left"))
        .unionByName(
            cells.selectExpr("line", "dt", f"{_part('cell')} AS part", "case_key AS value", "attempts AS n")
        )
        .unionByName(_families_of(edges))
    )
    return grouped(as_planned(rows).where("value IS NOT NULL"), (*_KEYS, "dt", "value"), "sum(n) AS inputs")


def _named(inputs: Inputs) -> DataFrame:
    """The parts of each edge; a missing name is not a value."""
    parts = (
        f"CASE WHEN {name} != '' THEN xxhash64({name}) END AS {name}" for name in ("state", "production")
    )
    return inputs["edges"].selectExpr("edge", *parts, "signature AS reaction")


def _values_of(edges: DataFrame) -> DataFrame:
    """A row for each part of an edge, from a single scan of the days."""
    pairs = ", ".join(f"{_part(name)}, {name}" for name in _PARTS)
    return edges.selectExpr("line", "dt", "inputs AS n", f"stack({len(_PARTS)}, {pairs}) AS (part, value)")


def _families_of(edges: DataFrame) -> DataFrame:
    """The families of a day, by their bits; their numbers of inputs are not known."""
    daily = grouped(edges, ("line", "dt"), "bit_or(families) AS families")
    bits = f"filter(sequence(0L, {_FAMILIES - 1}L), n -> getbit(families, n) = 1)"
    return daily.selectExpr(
        "line", "dt", f"{_part('family')} AS part", f"explode({bits}) AS value", "CAST(NULL AS BIGINT) AS n"
    )


def _part(dimension: str) -> int:
    return _DIMENSIONS.index(dimension)


MART = Mart(ExploredDay, ("edge_days", "case_days", "edges", "runs"), table)
