"""Builds marts from a lake: refreshes the rollups, computes each mart, writes it as Parquet, CSV and JSON, and
replaces the old marts atomically.

Knows: reading, writing, the marts' manifest. Must not know: how any mart is computed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from amqpspec.record.observation import FUZZ
from amqpspec.reports.files import WholeFolder, atomic_text, swap
from amqpspec.reports.marts.files import MANIFEST
from amqpspec.reports.pipeline.beside import side_by_side
from amqpspec.reports.pipeline.export import export
from amqpspec.reports.pipeline.lake import Lake, dimension, observations, open_lake
from amqpspec.reports.pipeline.progress import Say, silence
from amqpspec.reports.pipeline.rollups.registry import ROLLUPS
from amqpspec.reports.pipeline.rollups.store import Refreshed, Store, open_store
from amqpspec.reports.pipeline.schema import DIMENSIONS, LakeError
from amqpspec.reports.pipeline.tables.mart import Mart
from amqpspec.reports.pipeline.tables.registry import MARTS, SHARED
from amqpspec.reports.pipeline.tasks import Tasks, as_planned, is_one_task, tasks_of

PLACE = WholeFolder(MANIFEST, "marts", "marts", LakeError)
MART_SCHEMA = 1
_SHARED = ".shared"


def _steps_of_marts() -> tuple[str, ...]:
    """First what others wait for, then the mart that takes longest, because it reads facts again."""
    return (*SHARED, *(mart.name for mart in sorted(MARTS, key=lambda mart: mart.fill is None)))


STEPS = (*(rollup.name for rollup in ROLLUPS), *_steps_of_marts())
"""The steps of a build, in the order in which they usually begin."""


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build: rows of each mart, and what happened to each rollup."""

    out: Path
    as_of: date
    marts: Mapping[str, int]
    rollups: Mapping[str, Refreshed]


def build(
    spark: SparkSession, lake: Lake | Path, out: Path, as_of: date | None = None, say: Say = silence
) -> Built:
    """Build marts of everything up to the day ``as_of`` (by default the lake's last one) in the folder ``out``.

    Raises LakeError, and GrainError if a mart is not unique by its grain; the old marts are then unchanged.
    """
    source = _saying_once(lake if isinstance(lake, Lake) else open_lake(lake, say=say))
    day = as_of or _last_day(source)
    source.check_dimensions()
    PLACE.check(out)
    draft = out.with_name(f".{out.name}.tmp")
    tasks = tasks_of(spark)
    with open_store(source) as store:
        shutil.rmtree(draft, ignore_errors=True)  # the draft of a build that was killed
        try:
            spark = tasks.session(source.rows())
            refreshed = {rollup.name: store.refresh(spark, rollup, say) for rollup in ROLLUPS}
            rows = make_marts(tasks, store, day, draft, _exported, say)
            _write_manifest(draft, store, day, rows, refreshed)
            swap(draft, out)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return Built(out, day, rows, refreshed)


def _saying_once(lake: Lake) -> Lake:
    """The lake; it is opened often, but reports skipped files only once."""
    known: set[str] = set()

    def say(line: str) -> None:
        if line not in known:
            known.add(line)
            lake.say(line)

    return replace(lake, say=say)


@dataclass(frozen=True, slots=True)
class Reader:
    """The inputs of marts by name: rollups, dimensions, and tables that several marts need.

    ``shared`` has the columns of the shared tables as soon as they are written; a reader waits for them.
    """

    tasks: Tasks
    store: Store
    folder: Path
    """Where the tables that several marts need are written."""
    shared: Mapping[str, Future[StructType]] = field(
        default_factory=lambda: {name: Future[StructType]() for name in SHARED}
    )
    _found: dict[tuple[SparkSession, str], DataFrame] = field(default_factory=dict)

    def read(self, names: Collection[str], session: SparkSession | None = None) -> dict[str, DataFrame]:
        """These tables; by default in the session that suits the number of rows of their rollups."""
        rollups = [rollup for rollup in ROLLUPS if rollup.name in names]
        spark = session or self.tasks.session(sum(map(self.store.rows, rollups)))
        # Two threads may compute the same table; one of the equal results is kept.
        for name in names:
            if (spark, name) not in self._found:
                self._found[spark, name] = as_planned(self._table(spark, name))
        return {name: self._found[spark, name] for name in names}

    def _table(self, spark: SparkSession, name: str) -> DataFrame:
        if name in self.shared:
            return spark.read.schema(self.shared[name].result()).parquet(self.place(name))
        if name in DIMENSIONS:
            return dimension(spark, self.store.lake, name)
        return self.store.read(spark, next(rollup for rollup in ROLLUPS if rollup.name == name))

    def place(self, name: str) -> str:
        """The path of a table that several marts need."""
        return str((self.folder / name).resolve())


def make_marts(
    tasks: Tasks,
    store: Store,
    as_of: date,
    draft: Path,
    made: Callable[[Mart, Path], int],
    say: Say = silence,
) -> dict[str, int]:
    """All marts as Parquet, each in a folder of ``draft``;

    ``made`` is called with each folder and returns the number of rows.
    """
    reader, rows = Reader(tasks, store, draft / _SHARED), dict.fromkeys((mart.name for mart in MARTS), 0)

    def step(name: str) -> None:
        say(name)
        if name in SHARED:
            make_shared(reader, name, as_of)
            return
        mart, folder = next(mart for mart in MARTS if mart.name == name), draft / name
        write_mart(reader, mart, as_of, folder)
        rows[name] = made(mart, folder)

    list(side_by_side(step, _steps_of_marts()))
    shutil.rmtree(draft / _SHARED)
    return rows


def make_shared(reader: Reader, name: str, as_of: date) -> None:
    """A table that several marts need: written once, because planning it costs more than reading it.

    Its error is also the error of the marts that wait for it.
    """
    try:
        table = SHARED[name].table(reader.read(SHARED[name].reads), as_of)
        # Written, not cached: a cache would use heap that the marts need, and would keep the plan.
        table.write.mode("overwrite").parquet(reader.place(name))
        reader.shared[name].set_result(table.schema)
    except BaseException as error:
        reader.shared[name].set_exception(error)
        raise


def _exported(mart: Mart, folder: Path) -> int:
    """Check a mart, and write CSV and JSON next to its Parquet."""
    return export(folder, mart.name, mart.grain)


def write_mart(reader: Reader, mart: Mart, as_of: date, folder: Path) -> None:
    """Write a mart as Parquet into a separate folder."""
    inputs = reader.read((*mart.reads, *mart.shares))
    if mart.fill is None:
        table = mart.make(inputs, as_of)
        _write_table(mart, table.coalesce(1) if is_one_task(table) else table.repartition(1), folder)
        return
    # In two steps: what is needed from the facts is known, and small, only after the table was computed.
    kept = folder.with_name(f".{folder.name}")
    table = mart.table(inputs, as_of)
    table.write.mode("overwrite").parquet(str(kept.resolve()))
    # Only the facts are many, and their part of the work does not depend on the number of tasks of this one.
    _write_table(mart, _filled(reader, mart, kept, table.schema, as_of).coalesce(1), folder)
    shutil.rmtree(kept)


def _write_table(mart: Mart, table: DataFrame, folder: Path) -> None:
    """The table in one file, in the order of its grain, so that the export finds rows with the same key next to each
    other.
    """
    ordered = table.sortWithinPartitions(*mart.grain)
    ordered.write.mode("overwrite").parquet(str(folder.resolve()))


def _filled(reader: Reader, mart: Mart, kept: Path, schema: StructType, as_of: date) -> DataFrame:
    """A mart with data that only the facts of its horizon contain: inputs of campaigns."""
    lake, first = reader.store.lake, as_of - timedelta(days=mart.horizon_days - 1)
    days = [dt for dt in lake.days(FUZZ) if first <= date.fromisoformat(dt) <= as_of]
    spark = reader.tasks.session(sum(part.entry.rows for part in lake.parts(days, FUZZ)))
    facts = as_planned(observations(spark, lake, days=days, kind=FUZZ))
    table = as_planned(spark.read.schema(schema).parquet(str(kept.resolve())))
    return mart.filled(reader.read((*mart.reads, *mart.shares), spark), table, facts)


def _write_manifest(
    draft: Path, store: Store, as_of: date, rows: Mapping[str, int], refreshed: Mapping[str, Refreshed]
) -> None:
    lake = store.lake
    document: dict[str, Any] = {
        "schema": MART_SCHEMA,
        "as_of": as_of.isoformat(),
        "lake": {
            "manifest": lake.snapshot.number,
            "facts": lake.rows(),
        },
        "rollups": {
            rollup.name: {
                "grain": rollup.grain,
                "rows": refreshed[rollup.name].rows,
                "days": store.prints(rollup),
            }
            for rollup in ROLLUPS
        },
        "dimensions": {name: lake.dimension_print(name) for name in DIMENSIONS},
        "marts": {
            mart.name: {
                "grain": mart.grain,
                "columns": mart.row.names(),
                "rows": rows[mart.name],
                "reads": mart.reads,
                "horizon_days": mart.horizon_days,
            }
            for mart in MARTS
        },
    }
    with atomic_text(draft / MANIFEST) as file:
        json.dump(document, file, indent=1)
        file.write("\n")


def _last_day(lake: Lake) -> date:
    days = list(lake.days())
    if not days:
        raise LakeError(f"{lake.root}: expected observations, actual: the lake has none")
    return date.fromisoformat(days[-1])
