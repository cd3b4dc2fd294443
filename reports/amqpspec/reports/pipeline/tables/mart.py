"""The interface of a mart, and common parts: runs of cases with their names, verdicts as words, versions in order.

Knows: rollups and dimensions by name. Must not know: files, facts.

Rollups and dimensions are small compared with the facts, so windows over them are safe.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date

from pyspark.sql import DataFrame

from amqpspec.record.evidence import evidence_path
from amqpspec.record.observation import CASE, FUZZ, VERDICT_CODES
from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.row import MartRow
from amqpspec.reports.pipeline.expressions import day, grouped, names
from amqpspec.reports.pipeline.grain import as_schema
from amqpspec.reports.pipeline.tasks import by_key, with_small

Inputs = Mapping[str, DataFrame]
"""Rollups and dimensions by name, without collisions; tables that several marts need may be included."""

HISTORIES, NEWEST_RUNS = "histories", "newest_runs"
_SUMS = ("attempts", "green", "known", "unexpected")
_ENDS = ("worst", "best", "first_us", "last_us")

NEWEST = "last_us DESC, run_key DESC"
"""An order in which the run that ended last is the first; among equal times, always the same one."""
NOT_RUN = VERDICT_CODES[Outcome.NOT_APPLICABLE]


@dataclass(frozen=True, slots=True)
class Mart:
    """The computation of a mart: ``table(inputs, as_of)`` returns its columns, from nothing later than ``as_of``.

    ``reads`` names the rollups and dimensions in ``inputs``; ``horizon_days`` is how far back it reads, 0 for all
    time; ``shares`` names the tables in ``inputs`` that several marts need. ``fill(inputs, table, facts)`` makes the
    columns of a table that is kept in between, with data that only the facts of the horizon have: the table determines
    which of the many facts are needed. Without facts, these data are missing.
    """

    row: type[MartRow]
    reads: tuple[str, ...]
    table: Callable[[Inputs, date], DataFrame]
    horizon_days: int = 0
    shares: tuple[str, ...] = ()
    fill: Callable[[Inputs, DataFrame, DataFrame | None], DataFrame] | None = None

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
        """The mart with its columns in order and with their types; what only facts have is missing."""
        return self.filled(inputs, self.table(inputs, as_of), None)

    def filled(self, inputs: Inputs, table: DataFrame, facts: DataFrame | None) -> DataFrame:
        """The mart of its table, with what only facts have."""
        whole = table if self.fill is None else self.fill(inputs, table, facts)
        return as_schema(whole, self.schema)


def until(rollup: DataFrame, as_of: date) -> DataFrame:
    """The rows that were known on that day."""
    return rollup.where(f"dt <= {day(as_of)}")


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
    dialects = inputs["cases"].selectExpr("case_key", "dialect")
    named = with_small(
        with_small(until(inputs["case_days"], as_of), runs, "run_key"), dialects, "case_key", "left"
    )
    pair = "xxhash64(target, target_version, suite_version, coalesce(dialect, run_dialect)) AS pair"
    return _whole_runs(by_key(named.selectExpr("run_key", "case_key", pair, *_SUMS, *_ENDS), "case_key"))


def _whole_runs(days: DataFrame) -> DataFrame:
    """A run over midnight as one row: the attempts of both days are added."""
    return grouped(
        days,
        ("run_key", "case_key", "pair"),
        *(f"sum({name}) AS {name}" for name in _SUMS),
        "max(worst) AS worst",
        "min(best) AS best",
        "min(first_us) AS first_us",
        "max(last_us) AS last_us",
    )


def with_names(rows: DataFrame, inputs: Inputs) -> DataFrame:
    """Rows of a run and a case with their names; a case without a name is identified by its key."""
    cases = inputs["cases"].selectExpr("case_key", "dialect", "`case`", "suite", "title", "level")
    of_runs = with_small(rows, named_runs(inputs["runs"], CASE), "run_key")
    joined = with_small(of_runs, cases, "case_key", "left")
    return joined.selectExpr(
        "* EXCEPT (dialect, `case`, run_dialect)",
        "coalesce(dialect, run_dialect) AS dialect",
        "coalesce(`case`, lower(hex(case_key))) AS `case`",
    )


def campaigns(inputs: Inputs) -> DataFrame:
    """Campaigns: key, target, version and dialect."""
    return named_runs(inputs["runs"], FUZZ).withColumnRenamed("run_dialect", "dialect")


def first_of(rows: DataFrame, keys: tuple[str, ...], order: str, **totals: str) -> DataFrame:
    """Of the rows with the same keys, the first one in this order, with totals of all of them.

    ``_place`` is its number.
    """
    same = f"PARTITION BY {names(*keys)} ORDER BY {order}"
    # With the order of the place, although a total needs none: one window, and one sort, serve all.
    whole = f"OVER ({same} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)"
    counted = (f"{total} {whole} AS {name}" for name, total in totals.items())
    return rows.selectExpr("*", f"row_number() OVER ({same}) AS _place", *counted).where("_place = 1")


def newest_versions(rows: DataFrame) -> DataFrame:
    """``target, dialect, newest_version``: the version in which each target was last seen in a dialect."""
    seen = grouped(rows, ("target", "dialect", "target_version"), "max(last_us) AS last_us")
    first = first_of(seen, ("target", "dialect"), "last_us DESC, target_version DESC")
    return first.selectExpr("target", "dialect", "target_version AS newest_version")


def with_newest(rows: DataFrame) -> DataFrame:
    """Rows with ``newest``: whether this is the version in which the target was last seen in the dialect."""
    last = "max(struct(last_us, target_version)) OVER (PARTITION BY target, dialect)"
    return rows.selectExpr("*", f"target_version = {last}.target_version AS newest")


def verdict_word(code: str) -> str:
    """A verdict's code as its word."""
    words = " ".join(f"WHEN {number} THEN '{outcome}'" for outcome, number in VERDICT_CODES.items())
    return f"CASE {code} {words} END"


BASELINE_WORD = "CASE WHEN unexpected > 0 THEN 'unexpected' WHEN known > 0 THEN 'known' ELSE '' END"
"""``unexpected`` if one attempt was, otherwise ``known`` if one was, otherwise empty."""
_PATH = f"concat_ws('/', folder, format_string('{evidence_path('%s')}', `case`))"
EVIDENCE = f"CASE WHEN worst > {NOT_RUN} THEN {_PATH} END"
"""The path of a case's transcript, if the case ran."""


def at(column: str) -> str:
    """Microseconds since 1970 as a time."""
    return f"timestamp_micros({column})"


def version_order(version: str) -> str:
    """Versions in the order of releases: 3.9 before 3.10, 4.0-rc.1 before 4.0 before 4.0.1."""
    parts = f"filter(split({version}, '[^0-9A-Za-z]+'), part -> part != '')"
    rank = "CASE WHEN part RLIKE '^[0-9]+$' THEN concat('2', lpad(part, 12, '0')) ELSE concat('0', part) END"
    return f"concat(transform({parts}, part -> {rank}), array('1'))"
