"""What a mart is, and what several of them need: runs of cases with their names, verdicts as words, versions in order.

Knows: rollups and dimensions by name. Must not know: files, facts.

Rollups and dimensions are small beside the facts, so that windows over them are no trap.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from harness.record.observation import CASE, FUZZ, VERDICT_CODES
from harness.record.rows import Outcome

Inputs = Mapping[str, DataFrame]
"""Rollups and dimensions by name; their names do not meet."""

GREEN = (VERDICT_CODES[Outcome.PASS], VERDICT_CODES[Outcome.OBSERVED])
_NOT_RUN = VERDICT_CODES[Outcome.NOT_APPLICABLE]


@dataclass(frozen=True, slots=True)
class Mart:
    """``make(inputs, as_of)`` gives ``schema``, unique by ``grain``, of nothing later than the day ``as_of``.

    ``reads`` names the rollups and dimensions in ``inputs``; ``horizon_days`` how far back it looks, 0 for all time.
    """

    name: str
    grain: tuple[str, ...]
    schema: str
    reads: tuple[str, ...]
    make: Callable[[Inputs, date], DataFrame]
    horizon_days: int = 0


def until(rollup: DataFrame, as_of: date) -> DataFrame:
    """What was known on that day."""
    return rollup.where(F.col("dt") <= F.lit(as_of))


def named_runs(runs: DataFrame, kind: str) -> DataFrame:
    """Runs of a kind: who was certified, by which suite, and where the run lies."""
    texts = [F.coalesce(F.col(name), F.lit("")).alias(name) for name in ("product", "target_version", "suite_version")]
    target = F.coalesce("target", F.lit(""))
    dialect = F.coalesce("dialect", F.lit(""))
    return runs.where(F.col("kind") == kind).select(
        "run_key", "run", target.alias("target"), *texts, dialect.alias("run_dialect"), "folder"
    )


def case_runs(inputs: Inputs, as_of: date) -> DataFrame:
    """One row a conformance run and case: its attempts, its verdict (the worst of them), its names."""
    cases = inputs["cases"].select("case_key", "dialect", "case", "suite", "title", "level")
    joined = (
        _whole_runs(until(inputs["case_days"], as_of))
        .join(named_runs(inputs["runs"], CASE), "run_key")
        .join(cases, "case_key", "left")
    )
    return joined.select(
        *joined.drop("dialect", "case", "run_dialect").columns,
        F.coalesce("dialect", "run_dialect").alias("dialect"),
        F.coalesce("case", F.lower(F.hex("case_key"))).alias("case"),
    )


def _whole_runs(days: DataFrame) -> DataFrame:
    """A run over midnight as one."""
    sums = [F.sum(name).alias(name) for name in ("attempts", "green", "known", "unexpected")]
    return days.groupBy("run_key", "case_key").agg(
        *sums,
        F.max("worst").alias("worst"),
        F.min("best").alias("best"),
        F.min("first_us").alias("first_us"),
        F.max("last_us").alias("last_us"),
    )


def campaigns(inputs: Inputs) -> DataFrame:
    """Campaigns: key, target, version and dialect."""
    return named_runs(inputs["runs"], FUZZ).withColumnRenamed("run_dialect", "dialect")


def newest(rows: DataFrame, keys: tuple[str, ...]) -> DataFrame:
    """Of the rows with the same keys the one that ended last; of those that ended together, one and always the same."""
    ordered = Window.partitionBy(*keys).orderBy(F.desc("last_us"), F.desc("run_key"))
    return rows.withColumn("_place", F.row_number().over(ordered)).where("_place = 1").drop("_place")


def newest_versions(rows: DataFrame) -> DataFrame:
    """``target, dialect, target_version``: the version that each target was last seen with in a dialect."""
    seen = rows.groupBy("target", "dialect", "target_version").agg(F.max("last_us").alias("last_us"))
    ordered = Window.partitionBy("target", "dialect").orderBy(F.desc("last_us"), F.desc("target_version"))
    first = seen.withColumn("_place", F.row_number().over(ordered)).where("_place = 1")
    return first.select("target", "dialect", "target_version")


def verdict_word(code: str) -> Column:
    """A verdict's code as its word."""
    word = F.lit(None).cast("string")
    for outcome, number in VERDICT_CODES.items():
        word = F.when(F.col(code) == number, F.lit(str(outcome))).otherwise(word)
    return word


def baseline_word() -> Column:
    """``unexpected`` where one attempt was, else ``known`` where one was, else nothing."""
    known = F.when(F.col("known") > 0, F.lit("known")).otherwise(F.lit(""))
    return F.when(F.col("unexpected") > 0, F.lit("unexpected")).otherwise(known)


def evidence() -> Column:
    """Where a case's transcript lies, if the case ran."""
    path = F.concat_ws("/", "folder", F.lit("evidence"), F.concat("case", F.lit(".jsonl")))
    return F.when(F.col("worst") > _NOT_RUN, path)


def at(column: str) -> Column:
    """Microseconds since 1970 as a time."""
    return F.timestamp_micros(F.col(column))


def version_order(version: Column) -> Column:
    """Versions in the order of releases: 3.9 before 3.10, 4.0-rc.1 before 4.0 before 4.0.1."""
    parts = F.filter(F.split(version, "[^0-9A-Za-z]+"), lambda part: part != "")
    ranked = F.transform(
        parts,
        lambda part: F.when(part.rlike("^[0-9]+$"), F.concat(F.lit("2"), F.lpad(part, 12, "0"))).otherwise(
            F.concat(F.lit("0"), part)
        ),
    )
    return F.concat(ranked, F.array(F.lit("1")))


def in_order(keys: tuple[str, ...], *order: str) -> WindowSpec:
    """A window over the rows with the same keys in an order."""
    return Window.partitionBy(*keys).orderBy(*order)
