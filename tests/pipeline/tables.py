"""Rollups and dimensions of a few literal rows: what is not given is null, keys are made of names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from amqpspec.record.observation import VERDICT_CODES, key
from amqpspec.record.rows import Outcome
from amqpspec.reports.pipeline.grain import columns_of
from amqpspec.reports.pipeline.rollups.registry import ROLLUPS
from amqpspec.reports.pipeline.schema import DIMENSIONS, ddl
from amqpspec.reports.pipeline.tables.mart import Mart

AS_OF = date(2026, 11, 30)
DIALECT = "amqp-0-9-1"
_SCHEMAS = {rollup.name: rollup.schema for rollup in ROLLUPS} | {n: ddl(s) for n, s in DIMENSIONS.items()}

Row = Mapping[str, Any]


def code(word: str) -> int:
    return VERDICT_CODES[Outcome(word)]


def us(day: date, hour: int = 2) -> int:
    return int(datetime(day.year, day.month, day.day, hour, tzinfo=UTC).timestamp()) * 1_000_000


def frame(spark: SparkSession, schema: str, rows: Iterable[Row]) -> DataFrame:
    names = [name.strip("`") for name in columns_of(schema)]
    whole = [tuple(row.get(name) for name in names) for row in rows]
    assert all(set(row) <= set(names) for row in rows), "a column that there is not"
    return spark.createDataFrame(whole, schema)


def table(spark: SparkSession, name: str, rows: Iterable[Row] = ()) -> DataFrame:
    """A rollup or a dimension of these rows."""
    return frame(spark, _SCHEMAS[name], rows)


def made(spark: SparkSession, mart: Mart, as_of: date = AS_OF, **rows: list[Row]) -> list[dict[str, Any]]:
    """The mart of these rollups and dimensions, in the order of its grain; unique by it, and of its schema."""
    assert set(rows) <= set(mart.reads)
    whole = mart.make({name: table(spark, name, rows.get(name, [])) for name in mart.reads}, as_of)
    assert whole.dtypes == frame(spark, mart.schema, []).dtypes
    found = [row.asDict() for row in whole.collect()]
    grains = [tuple(row[name] for name in mart.grain) for row in found]
    assert len(set(grains)) == len(grains)
    return sorted(found, key=lambda row: [str(row[name]) for name in mart.grain])


def run(
    name: str,
    kind: str = "case",
    target: str = "rabbitmq",
    version: str = "4.0",
    suite: str = "0.1",
    dialect: str = DIALECT,
) -> Row:
    return {
        "run_key": key(name), "run": name, "kind": kind, "target": target, "product": target.title(),
        "target_version": version, "suite_version": suite, "dialect": dialect, "folder": f"out/{name}",
    }  # fmt: skip


def case(name: str, level: str = "MUST") -> Row:
    return {
        "case_key": key(DIALECT, name), "dialect": DIALECT, "case": name, "suite": name.split(".")[0],
        "title": f"Title of {name}.", "level": level,
    }  # fmt: skip


def judged(
    run: str, case: str, day: date, *verdicts: str, known: int = 0, unexpected: int = 0, hour: int = 2
) -> Row:
    """A row of ``case_days``: the verdicts of a case's attempts."""
    codes = [code(word) for word in verdicts]
    return {
        "dt": day, "run_key": key(run), "case_key": key(DIALECT, case), "attempts": len(codes),
        "green": sum(word in ("pass", "observed") for word in verdicts), "worst": max(codes), "best": min(codes),
        "known": known, "unexpected": unexpected, "first_us": us(day, hour), "last_us": us(day, hour),
        "latency_us": 10,
    }  # fmt: skip
