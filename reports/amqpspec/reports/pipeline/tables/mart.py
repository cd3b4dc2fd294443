"""The interface of a mart, and common parts: runs of cases with their names, verdicts as words, versions in order.

Knows: rollups and dimensions by name. Must not know: files, facts.

Rollups and dimensions are small compared with the facts, so windows over them are safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as fn

from amqpspec.record.evidence import evidence_path
from amqpspec.record.observation import CASE, FUZZ, VERDICT_CODES
from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.row import MartRow
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.tasks import by_key, with_small

Inputs = Mapping[str, DataFrame]
"""Rollups and dimensions by name, without collisions; tables that several marts need may be included."""

HISTORIES, NEWEST_RUNS = "histories", "newest_runs"
_SUMS = ("attempts", "green", "known", "unexpected")
_ENDS = ("worst", "best", "first_us", "last_us")

NOT_RUN = VERDICT_CODES[Outcome.NOT_APPLICABLE]


@dataclass(frozen=True, slots=True)
class Mart:
    """The computation of a mart: ``table(inputs, as_of)`` returns its columns, from nothing later than ``as_of``.

    ``reads`` names the rollups and dimensions in ``inputs``; ``horizon_days`` is how far back it reads, 0 for all
    time; ``shares`` names the tables in ``inputs`` that several marts need. ``fill(mart, facts)`` adds data that only
    the facts of the horizon have, in a second step, because the mart determines which of the many facts are needed.
    """

    row: type[MartRow]
    reads: tuple[str, ...]
    table: Callable[[Inputs, date], DataFrame]
    horizon_days: int = 0
    shares: tuple[str, ...] = ()
    fill: Callable[[DataFrame, DataFrame], DataFrame] | None = None

    @property
    def name(self) -> str:
        """The name of the mart."""
        return self.row.NAME

    @property
    def grain(self) -> tuple[str, ...]:
        """The grain of its rows."""
        return self.row.GRAIN

    @property
    def schema(self) -> str:
        """Its columns as Spark writes them."""
        return self.row.ddl()

    def make(self, inputs: Inputs, as_of: date) -> DataFrame:
        """The mart with its columns in order and with their types."""
        return as_schema(self.table(inputs, as_of), self.schema)


def until(rollup: DataFrame, as_of: date) -> DataFrame:
    """The rows that were known on that day."""
    return rollup.where(fn.col("dt") <= fn.lit(as_of))


def named_runs(runs: DataFrame, kind: str) -> DataFrame:
    """Runs of a kind: target, suite, and the folder of the run."""
    known = [
        f"coalesce({name}, '') AS {name}" for name in ("target", "product", "target_version", "suite_version")
    ]
    dialect = "coalesce(dialect, '') AS run_dialect"
    return runs.where(f"kind = '{kind}'").selectExpr("run_key", "run", *known, dialect, "folder")


def case_runs(inputs: Inputs, as_of: date) -> DataFrame:
    """One row for each conformance run and case, with numbers only: attempts, the verdict (the worst of them), times.

    ``pair`` is the key of target, versions and dialect. The days are shuffled once, by the case alone, which serves
    all following groups and windows by case; names are added by a small join.
    """
    runs = named_runs(inputs["runs"], CASE).drop("run", "product", "folder")
    dialects = inputs["cases"].select("case_key", "dialect")
    named = with_small(
        with_small(until(inputs["case_days"], as_of), runs, "run_key"), dialects, "case_key", "left"
    )
    days = named.withColumn("dialect", fn.coalesce("dialect", "run_dialect")).withColumn(
        "pair", fn.xxhash64("target", "target_version", "suite_version", "dialect")
    )
    return _whole_runs(by_key(days.select("run_key", "case_key", "pair", *_SUMS, *_ENDS), "case_key"))


def _whole_runs(days: DataFrame) -> DataFrame:
    """A run over midnight as one row: the attempts of both days are added."""
    return days.groupBy("run_key", "case_key", "pair").agg(
        *(fn.sum(name).alias(name) for name in _SUMS),
        fn.max("worst").alias("worst"),
        fn.min("best").alias("best"),
        fn.min("first_us").alias("first_us"),
        fn.max("last_us").alias("last_us"),
    )


def with_names(rows: DataFrame, inputs: Inputs) -> DataFrame:
    """Rows of a run and a case with their names; a case without a name is identified by its key."""
    cases = inputs["cases"].select("case_key", "dialect", "case", "suite", "title", "level")
    of_runs = with_small(rows, named_runs(inputs["runs"], CASE), "run_key")
    joined = with_small(of_runs, cases, "case_key", "left")
    return joined.select(
        *joined.drop("dialect", "case", "run_dialect").columns,
        fn.coalesce("dialect", "run_dialect").alias("dialect"),
        fn.coalesce("case", fn.lower(fn.hex("case_key"))).alias("case"),
    )


def campaigns(inputs: Inputs) -> DataFrame:
    """Campaigns: key, target, version and dialect."""
    return named_runs(inputs["runs"], FUZZ).withColumnRenamed("run_dialect", "dialect")


def newest(rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """Of the rows with the same keys, the one that ended last; among equal times, always the same one."""
    ordered = Window.partitionBy(*keys).orderBy(fn.desc("last_us"), fn.desc("run_key"))
    return rows.withColumn("_place", fn.row_number().over(ordered)).where("_place = 1").drop("_place")


def newest_versions(rows: DataFrame) -> DataFrame:
    """``target, dialect, target_version``: the version in which each target was last seen in a dialect."""
    seen = rows.groupBy("target", "dialect", "target_version").agg(fn.max("last_us").alias("last_us"))
    ordered = Window.partitionBy("target", "dialect").orderBy(fn.desc("last_us"), fn.desc("target_version"))
    first = seen.withColumn("_place", fn.row_number().over(ordered)).where("_place = 1")
    return first.select("target", "dialect", "target_version")


def with_newest(rows: DataFrame, seen: DataFrame) -> DataFrame:
    """Rows with ``newest``: whether this is the version in which the target was last seen, among all that were
    ``seen``.
    """
    marked = newest_versions(seen).withColumn("newest", fn.lit(True))
    joined = with_small(rows, marked, ("target", "dialect", "target_version"), "left")
    return joined.withColumn("newest", fn.coalesce("newest", fn.lit(False)))


def verdict_word(code: str) -> Column:
    """A verdict's code as its word."""
    words = " ".join(f"WHEN {number} THEN '{outcome}'" for outcome, number in VERDICT_CODES.items())
    return fn.expr(f"CASE {code} {words} END")


def baseline_word() -> Column:
    """``unexpected`` if one attempt was, otherwise ``known`` if one was, otherwise empty."""
    known = fn.when(fn.col("known") > 0, fn.lit("known")).otherwise(fn.lit(""))
    return fn.when(fn.col("unexpected") > 0, fn.lit("unexpected")).otherwise(known)


def evidence() -> Column:
    """The path of a case's transcript, if the case ran."""
    path = fn.concat_ws("/", "folder", fn.format_string(evidence_path("%s"), "case"))
    return fn.when(fn.col("worst") > NOT_RUN, path)


def at(column: str) -> Column:
    """Microseconds since 1970 as a time."""
    return fn.timestamp_micros(fn.col(column))


def version_order(version: Column) -> Column:
    """Versions in the order of releases: 3.9 before 3.10, 4.0-rc.1 before 4.0 before 4.0.1."""
    parts = fn.filter(fn.split(version, "[^0-9A-Za-z]+"), lambda part: part != "")
    ranked = fn.transform(
        parts,
        lambda part: fn.when(
            part.rlike("^[0-9]+$"), fn.concat(fn.lit("2"), fn.lpad(part, 12, "0"))
        ).otherwise(fn.concat(fn.lit("0"), part)),
    )
    return fn.concat(ranked, fn.array(fn.lit("1")))


def in_order(keys: tuple[str, ...], *order: str) -> WindowSpec:
    """A window over the rows with the same keys in an order."""
    return Window.partitionBy(*keys).orderBy(*order)
