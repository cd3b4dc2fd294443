"""The two sides that are measured: Spark over a lake, and DuckDB over the same files; and whether they say the same.

Knows: how each side makes a rollup or a mart as a file. Must not know: rounds, sizes, how long anything takes.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import psutil

from amqpspec.reports.pipeline.build import make_marts
from amqpspec.reports.pipeline.grain import columns_of
from amqpspec.reports.pipeline.lake import Lake
from amqpspec.reports.pipeline.rollups.registry import ROLLUPS
from amqpspec.reports.pipeline.rollups.rollup import Rollup
from amqpspec.reports.pipeline.rollups.store import FOLDER, open_store
from amqpspec.reports.pipeline.schema import DIMENSIONS
from amqpspec.reports.pipeline.tables.mart import Mart
from amqpspec.reports.pipeline.tables.registry import MARTS
from amqpspec.reports.pipeline.tasks import Tasks, tasks_of
from bench.pipeline_sql import MART_SQL, NOT_COMPARED, ROLLUP_SQL, VIEWS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Steps = Mapping[str, Callable[[], object]]
"""By name, each a thing to make, in the order in which they are to be made."""


def last_day(lake: Lake) -> date:
    """The day that marts are made for."""
    return date.fromisoformat(list(lake.days())[-1])


@dataclass(frozen=True)
class Ours:
    """Spark: rollups into the lake, marts as Parquet next to it."""

    spark: SparkSession
    lake: Lake
    place: Path

    @cached_property
    def tasks(self) -> Tasks:
        """The sessions that a build has."""
        return tasks_of(self.spark)

    def rollups(self) -> Steps:
        """Every rollup from nothing."""
        shutil.rmtree(self.lake.root / FOLDER, ignore_errors=True)
        return {rollup.name: partial(self._rollup, rollup) for rollup in ROLLUPS}

    def marts(self) -> Steps:
        """All marts together as a build makes them, of rollups that are there."""
        return {"all": self._marts}

    def files(self, mart: Mart) -> str:
        """The folder of a mart."""
        return str(self.place / "ours" / mart.name / "*.parquet")

    def _rollup(self, rollup: Rollup) -> None:
        with open_store(self.lake) as store:
            store.refresh(self.tasks.session(self.lake.rows()), rollup)

    def _marts(self) -> None:
        out = self.place / "ours"
        shutil.rmtree(out, ignore_errors=True)
        with open_store(self.lake) as store:
            make_marts(self.tasks, store, last_day(self.lake), out, lambda mart, folder: 0)


@dataclass(frozen=True)
class Theirs:
    """DuckDB, with as many threads as there are processors, and the memory that the pipeline promises to keep to."""

    lake: Lake
    place: Path

    @cached_property
    def connection(self) -> Any:
        """One for all; views are read again with each query."""
        made = connect(self.place)
        facts = self.lake.root / "observations/*/*/*.parquet"
        made.execute(f"CREATE VIEW facts AS SELECT * FROM read_parquet('{facts}', hive_partitioning = true)")
        return made

    def rollups(self) -> Steps:
        """Every rollup, each as one file."""
        return {name: partial(self._copy, name, query) for name, query in ROLLUP_SQL.items()}

    def marts(self) -> Steps:
        """Every mart over the lake's own rollups and dimensions, which have to be there."""
        self._see()
        return {name: partial(self._copy, name, query) for name, query in MART_SQL.items()}

    def file(self, name: str) -> Path:
        """The folder of DuckDB's results."""
        return self.place / f"theirs-{name}.parquet"

    def _copy(self, name: str, query: str) -> None:
        self.connection.execute(
            f"COPY ({query}) TO '{self.file(name)}' (FORMAT parquet, COMPRESSION zstd)"
        ).fetchall()

    def _see(self) -> None:
        """Rollups, dimensions, and what several marts need."""
        run = self.connection.execute
        run(f"SET VARIABLE as_of = DATE '{last_day(self.lake)}'")
        for rollup in ROLLUPS:
            run(f"CREATE OR REPLACE VIEW {rollup.name} AS {_rollup_rows(self.lake, rollup)}")
        for name in DIMENSIONS:
            path = self.lake.dimension_file(name)
            run(f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM read_parquet('{path}')")
        for name, query in VIEWS.items():
            run(f"CREATE OR REPLACE VIEW {name} AS {query}")


def connect(place: Path) -> Any:
    """A DuckDB that keeps to the bounds of the pipeline and to one folder."""
    made = duckdb.connect()
    made.execute(f"SET threads = {psutil.cpu_count() or 2}")
    made.execute("SET memory_limit = '2GB'")
    made.execute("SET TimeZone = 'UTC'")
    made.execute(f"SET temp_directory = '{place / 'duck'}'")
    return made


# --- whether they say the same


def _rollup_rows(lake: Lake, rollup: Rollup) -> str:
    source = lake.root / FOLDER / rollup.name / "*/*.parquet"
    return f"SELECT {_columns(rollup.schema)} FROM read_parquet('{source}', hive_partitioning = true)"


def _columns(schema: str, without: frozenset[str] = frozenset()) -> str:
    """The columns by name; times as microseconds, because the two write them differently."""
    return ", ".join(
        f'epoch_us("{name}") AS "{name}"' if kind == "TIMESTAMP" else f'"{name}"'
        for name, kind in columns_of(schema).items()
        if name not in without
    )


def differences(ours: Ours, theirs: Theirs) -> Iterator[str]:
    """A line for each rollup and mart of which one side has rows that the other has not, or has them less often."""
    days = list(ours.lake.days())
    for rollup in ROLLUPS:
        mine = _rollup_rows(ours.lake, rollup)
        other = f"SELECT {_columns(rollup.schema)} FROM '{theirs.file(rollup.name)}'"
        # A big one day by day: the comparison of all at once would need more memory than either side took.
        for only in [""] if rollup.small else [f" WHERE dt = DATE '{dt}'" for dt in days]:
            yield from _differing(rollup.name + only, theirs, mine + only, other + only)
        yield from _differing(
            f"{rollup.name}, days",
            theirs,
            f"SELECT DISTINCT dt FROM ({mine})",
            f"SELECT DISTINCT dt FROM ({other})",
        )
    for mart in MARTS:
        columns = _columns(mart.schema, NOT_COMPARED.get(mart.name, frozenset()))
        yield from _differing(
            mart.name,
            theirs,
            f"SELECT {columns} FROM '{ours.files(mart)}'",
            f"SELECT {columns} FROM '{theirs.file(mart.name)}'",
        )


def _differing(name: str, theirs: Theirs, mine: str, other: str) -> Iterator[str]:
    for who, left, right in (("the pipeline", mine, other), ("DuckDB", other, mine)):
        query = f"SELECT count(*) FROM ({left} EXCEPT ALL {right})"
        (count,) = theirs.connection.execute(query).fetchone()
        if count:
            example = theirs.connection.execute(f"({left} EXCEPT ALL {right}) LIMIT 1").fetchone()
            yield f"{name}: expected the same rows, actual: {count} of {who} only, such as {example}"
