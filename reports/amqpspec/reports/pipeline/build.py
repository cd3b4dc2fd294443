"""From a lake to marts: refresh the rollups, make each mart, write it as Parquet, CSV and JSON, swap it in as a whole.

Knows: reading, writing, the marts' manifest. Must not know: what any mart is made of.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

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

PLACE = WholeFolder(MANIFEST, "marts", "marts", LakeError)
MART_SCHEMA = 1
_SHARED = ".shared"
STEPS = tuple(
    [rollup.name for rollup in ROLLUPS]
    + [*SHARED]
    + [m.name for m in sorted(MARTS, key=lambda m: not m.fill)]
)
"""What a build tells of, in the order in which it mostly begins."""


@dataclass(frozen=True, slots=True)
class Built:
    """What a build left behind: rows of each mart, what happened to each rollup."""

    out: Path
    as_of: date
    marts: Mapping[str, int]
    rollups: Mapping[str, Refreshed]


def build(
    spark: SparkSession, lake: Lake | Path, out: Path, as_of: date | None = None, say: Say = silence
) -> Built:
    """Marts of everything up to the day ``as_of`` (the lake's last one where it is not given) in the folder ``out``.

    Raises LakeError, and GrainError where a mart is not unique by its grain; the marts from before stay then.
    """
    source = _saying_once(lake if isinstance(lake, Lake) else open_lake(lake, say=say))
    day = as_of or _last_day(source)
    source.check_dimensions()
    PLACE.check(out)
    draft = out.with_name(f".{out.name}.tmp")
    with open_store(source) as store:
        shutil.rmtree(draft, ignore_errors=True)  # of a build that was killed
        try:
            refreshed = {rollup.name: store.refresh(spark, rollup, say) for rollup in ROLLUPS}
            rows = make_marts(spark, store, day, draft, _exported, say)
            _write_manifest(draft, store, day, rows, refreshed)
            swap(draft, out)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return Built(out, day, rows, refreshed)


def _saying_once(lake: Lake) -> Lake:
    """The lake, which is looked at often, but says only once what it leaves out."""
    known: set[str] = set()

    def say(line: str) -> None:
        if line not in known:
            known.add(line)
            lake.say(line)

    return replace(lake, say=say)


def read_inputs(spark: SparkSession, store: Store) -> dict[str, DataFrame]:
    """All rollups and dimensions by name."""
    return {rollup.name: store.read(spark, rollup) for rollup in ROLLUPS} | {
        name: dimension(spark, store.lake, name) for name in DIMENSIONS
    }


def make_marts(
    spark: SparkSession,
    store: Store,
    as_of: date,
    draft: Path,
    made: Callable[[Mart, Path], int],
    say: Say = silence,
) -> dict[str, int]:
    """All marts as Parquet, each in a folder of ``draft``; ``made`` gets each folder, and says how many rows it has."""
    inputs = _make_shared(spark, read_inputs(spark, store), as_of, draft / _SHARED, say)

    def write(mart: Mart) -> int:
        say(mart.name)
        reads = {name: inputs[name] for name in (*mart.reads, *SHARED)}
        write_mart(spark, mart, reads, store.lake, as_of, draft / mart.name)
        return made(mart, draft / mart.name)

    rows = _write_all(write)
    shutil.rmtree(draft / _SHARED)
    return rows


def _make_shared(
    spark: SparkSession, inputs: Mapping[str, DataFrame], as_of: date, folder: Path, say: Say
) -> Mapping[str, DataFrame]:
    """The inputs, and what several marts need: made once, because planning it costs more than reading it."""

    def write(name: str) -> DataFrame:
        say(name)
        table = SHARED[name](inputs, as_of)
        # Written, not cached: a cache would take the heap from the marts, and keeps the plan that made it.
        place = str((folder / name).resolve())
        table.write.mode("overwrite").parquet(place)
        return spark.read.schema(table.schema).parquet(place)

    return {**inputs, **dict(zip(SHARED, side_by_side(write, SHARED), strict=True))}


def _write_all(write: Callable[[Mart], int]) -> dict[str, int]:
    """All marts, some at once."""
    # The one that goes back to the facts takes longest: it begins first, so that nobody waits for it alone.
    marts = sorted(MARTS, key=lambda mart: mart.fill is None)
    rows = dict(zip((mart.name for mart in marts), side_by_side(write, marts), strict=True))
    return {mart.name: rows[mart.name] for mart in MARTS}


def _exported(mart: Mart, folder: Path) -> int:
    """A mart checked, and beside its Parquet for people."""
    return export(folder, mart.name, mart.grain)


def write_mart(
    spark: SparkSession, mart: Mart, inputs: Mapping[str, DataFrame], lake: Lake, as_of: date, folder: Path
) -> None:
    """A mart as Parquet in a folder of its own."""
    _write_table(mart, mart.make(inputs, as_of), folder)
    if mart.fill is not None:
        # In two steps: what the facts are asked for is known, and small, only when the mart has been computed.
        bare = folder.with_name(f".{folder.name}")
        folder.rename(bare)
        table = spark.read.schema(mart.schema).parquet(str(bare.resolve()))
        _write_table(mart, mart.fill(table, _facts(spark, lake, mart, as_of)), folder)
        shutil.rmtree(bare)


def _write_table(mart: Mart, table: DataFrame, folder: Path) -> None:
    """The table in one file, in the order of its grain: neighbours of one key are found as the file is exported."""
    ordered = table.repartition(1).sortWithinPartitions(*mart.grain)
    ordered.write.mode("overwrite").parquet(str(folder.resolve()))


def _facts(spark: SparkSession, lake: Lake, mart: Mart, as_of: date) -> DataFrame:
    """The inputs of campaigns within the horizon of a mart."""
    first = as_of - timedelta(days=mart.horizon_days - 1)
    days = [dt for dt in lake.days(FUZZ) if first <= date.fromisoformat(dt) <= as_of]
    return observations(spark, lake, days=days, kind=FUZZ)


def _write_manifest(
    draft: Path, store: Store, as_of: date, rows: Mapping[str, int], refreshed: Mapping[str, Refreshed]
) -> None:
    lake = store.lake
    document: dict[str, Any] = {
        "schema": MART_SCHEMA,
        "as_of": as_of.isoformat(),
        "lake": {
            "manifest": lake.snapshot.number,
            "facts": sum(e.rows for e in lake.snapshot.files.values()),
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
