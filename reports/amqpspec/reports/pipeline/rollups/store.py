"""Rollups on disk: one folder per day, written again only if the facts of that day changed.

Knows: ``LAKE/rollups/NAME/dt=…/``, the manifest of files that count. Must not know: what is rolled up.

A file that the manifest does not name does not exist. The manifest is replaced atomically after some days were
written, so that a killed refresh continues with the missing days.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property, reduce
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from amqpspec.record.lock import take
from amqpspec.record.observation import key
from amqpspec.record.reading import parse_json
from amqpspec.reports.files import atomic_text
from amqpspec.reports.pipeline.beside import side_by_side
from amqpspec.reports.pipeline.grain import GrainError, columns_of, complaint
from amqpspec.reports.pipeline.lake import Lake, observations
from amqpspec.reports.pipeline.progress import Say, silence
from amqpspec.reports.pipeline.rollups.rollup import Rollup
from amqpspec.reports.pipeline.schema import KINDS, LakeError
from amqpspec.reports.pipeline.tasks import as_planned, by_key

FOLDER, MANIFEST = "rollups", "manifest.json"
PARTITION_ROWS = 750_000
"""The number of facts that a task shuffles and aggregates at a time; two such tasks fit into a heap of 1 GB."""
TASK_ROWS = 1_250_000
"""Days with at most this many facts together are aggregated by one task without a shuffle; two such tasks also fit.
"""
CHUNK_ROWS = 8_000_000
"""Days are rolled up together up to this many facts; finished groups of days survive a kill."""
_WRITERS = "spark.sql.maxConcurrentOutputFileWriters"
_MOST_DAYS = 64


@dataclass(frozen=True, slots=True)
class Day:
    """A day of a rollup: its source, and its files."""

    made_of: str
    files: tuple[str, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The changes that a refresh made to a rollup."""

    days: int
    rewritten: tuple[str, ...]
    rows: int


@dataclass
class Store:
    """The rollups of a lake."""

    lake: Lake
    days: dict[str, dict[str, Day]] = field(default_factory=dict)

    @cached_property
    def _facts(self) -> Mapping[tuple[str, str], int]:
        """The number of facts of each day and kind in undamaged files."""
        rows: Counter[tuple[str, str]] = Counter()
        for part in self.lake.parts():
            rows[part.dt, part.kind] += part.entry.rows
        return rows

    @property
    def root(self) -> Path:
        """The folder of the rollups."""
        return self.lake.root / FOLDER

    def refresh(self, spark: SparkSession, rollup: Rollup, say: Say = silence) -> Refreshed:
        """Update a rollup from the lake."""
        have = self.days.setdefault(rollup.name, {})
        wanted, stale = self._wanted(rollup, have)
        if stale:
            # Damaged files are found before anything is counted, so that a repaired file is read again.
            self.lake.parts(stale, rollup.kind, whole=True)
            vars(self).pop("_facts", None)
            wanted, stale = self._wanted(rollup, have)
        if removed := set(have) - set(wanted):
            for dt in removed:
                del have[dt]
            self._commit()
        # The executor is closed in any case, so that no thread writes when the store is tidied.
        with closing(self._write_stale(spark, rollup, {dt: wanted[dt] for dt in stale}, say)) as chunks:
            for made in chunks:
                have.update(made)
                self._commit()
        return Refreshed(len(have), tuple(stale), self.rows(rollup))

    def _wanted(self, rollup: Rollup, have: Mapping[str, Day]) -> tuple[dict[str, str], list[str]]:
        """The source of each day, and the days that have to be computed."""
        wanted = {
            dt: _made_of(rollup, facts, self._rows(rollup, dt))
            for dt, facts in self.lake.days(rollup.kind).items()
        }
        return wanted, [dt for dt, made_of in wanted.items() if dt not in have or have[dt].made_of != made_of]

    def _write_stale(
        self, spark: SparkSession, rollup: Rollup, wanted: Mapping[str, str], say: Say
    ) -> Generator[dict[str, Day]]:
        """Process the days in order, several at a time."""

        def write(chunk: Sequence[str]) -> dict[str, Day]:
            say(f"{rollup.name}: {chunk[0]}" + (f" to {chunk[-1]}" if len(chunk) > 1 else ""))
            return self._write(spark, rollup, {dt: wanted[dt] for dt in chunk})

        with _several_writers(spark):
            yield from side_by_side(write, self._chunks(rollup, wanted, 0 if rollup.small else CHUNK_ROWS))

    def read(self, spark: SparkSession, rollup: Rollup) -> DataFrame:
        """A rollup as a table of its schema."""
        names = [name for day in self.days.get(rollup.name, {}).values() for name in day.files]
        if not names:
            return spark.createDataFrame([], rollup.schema)
        # Without its base path Spark would not see the partition column; with it, Spark puts that column last.
        base = (self.root / rollup.name).resolve()
        paths = [str((self.root / name).resolve()) for name in sorted(names)]
        table = spark.read.schema(rollup.schema).option("basePath", str(base)).parquet(*paths)
        return table.select(*columns_of(rollup.schema))

    def rows(self, rollup: Rollup) -> int:
        """The number of rows of a rollup."""
        return sum(day.rows for day in self.days.get(rollup.name, {}).values())

    def prints(self, rollup: Rollup) -> Mapping[str, str]:
        """The source of each day of a rollup."""
        return {dt: day.made_of for dt, day in sorted(self.days.get(rollup.name, {}).items())}

    def _rows(self, rollup: Rollup, dt: str) -> int:
        return sum(self._facts.get((dt, kind), 0) for kind in ((rollup.kind,) if rollup.kind else KINDS))

    def _chunks(self, rollup: Rollup, days: Iterable[str], most: int) -> Iterator[list[str]]:
        """Groups of days in order, each with at most this many facts; 0 means no limit."""
        chunk: list[str] = []
        rows = 0
        for dt in days:
            own = self._rows(rollup, dt)
            if chunk and (len(chunk) == _MOST_DAYS or (most and rows + own > most)):
                yield chunk
                chunk, rows = [], 0
            chunk.append(dt)
            rows += own
        if chunk:
            yield chunk

    def _write(self, spark: SparkSession, rollup: Rollup, wanted: Mapping[str, str]) -> dict[str, Day]:
        groups = [list(wanted)] if rollup.small else self._chunks(rollup, wanted, TASK_ROWS)
        table = reduce(DataFrame.unionAll, [self._roll_up(spark, rollup, days) for days in groups])
        draft = self.root / f".{rollup.name}.{next(iter(wanted))}.tmp"
        # A small rollup gets one file per day, not one for each task and day: each file costs a reader some
        # milliseconds.
        spread = by_key(table, "dt") if rollup.small else table
        spread.write.mode("overwrite").partitionBy("dt").parquet(str(draft.resolve()))
        made = {dt: self._move_day(draft, rollup, dt, made_of) for dt, made_of in wanted.items()}
        shutil.rmtree(draft)
        return made

    def _roll_up(self, spark: SparkSession, rollup: Rollup, days: Sequence[str]) -> DataFrame:
        rows = sum(self._rows(rollup, dt) for dt in days)
        facts = as_planned(observations(spark, self.lake, days=days, kind=rollup.kind))
        if rollup.spread is None:
            return rollup.make(facts)
        tasks = 1 if rows <= TASK_ROWS else -(-rows // PARTITION_ROWS)
        return rollup.spread(facts, tasks, days[0] if len(days) == 1 else "")

    def _move_day(self, draft: Path, rollup: Rollup, dt: str, made_of: str) -> Day:
        """Give the files of a day their names; a day without rows has none."""
        files, rows = [], 0
        for number, path in enumerate(sorted((draft / f"dt={dt}").glob("*.parquet"))):
            name = f"{rollup.name}/dt={dt}/{made_of}-{number:04d}.parquet"
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            rows += pq.read_metadata(path).num_rows
            path.replace(self.root / name)
            files.append(name)
        if files and not rollup.keyed:
            _check_day(rollup, dt, [self.root / name for name in files])
        return Day(made_of, tuple(files), rows)

    def _commit(self) -> None:
        days = {name: {dt: asdict(day) for dt, day in sorted(of.items())} for name, of in self.days.items()}
        with atomic_text(self.root / MANIFEST) as file:
            json.dump({"schema": 1, "rollups": days}, file, indent=1)

    def tidy(self) -> None:
        """Remove files that no day names, and drafts of killed builds."""
        named = {name for of in self.days.values() for day in of.values() for name in day.files}
        for path in self.root.rglob("*.parquet"):
            if str(path.relative_to(self.root)) not in named:
                path.unlink()
        for draft in self.root.glob(".*.tmp"):
            shutil.rmtree(draft, ignore_errors=True)


@contextmanager
def open_store(lake: Lake) -> Iterator[Store]:
    """The rollups of a lake, locked against other builds; raises LakeError if another one is active."""
    root = lake.root / FOLDER
    root.mkdir(parents=True, exist_ok=True)
    fd = os.open(root / ".writer", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        take(fd)
        store = Store(lake, _read_manifest(root / MANIFEST))
        store.tidy()
        try:
            yield store
        finally:
            store.tidy()
    except BlockingIOError as error:
        raise LakeError(f"{root}: expected no other build, actual: one is running") from error
    finally:
        os.close(fd)


def _read_manifest(path: Path) -> dict[str, dict[str, Day]]:
    """The existing manifest; an unreadable one counts as empty, because rollups can be computed again."""
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        found = {
            name: {dt: Day(day["made_of"], tuple(day["files"]), day["rows"]) for dt, day in days.items()}
            for name, days in data["rollups"].items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
    root = path.parent
    return {
        name: {dt: day for dt, day in days.items() if all((root / file).is_file() for file in day.files)}
        for name, days in found.items()
    }


def _made_of(rollup: Rollup, facts: str, rows: int) -> str:
    """A name for a day's facts and the rollup's definition; skipped damaged files are not included."""
    return f"{key(facts, str(rows), rollup.name, rollup.schema, str(rollup.version)) & (2**64 - 1):016x}"


def _check_day(rollup: Rollup, dt: str, files: Sequence[Path]) -> None:
    """Check that a day is unique by its grain; raises GrainError."""
    keys = [name for name in rollup.grain if name != "dt"]
    rows = pa.concat_tables(pq.read_table(path, columns=keys, partitioning=None) for path in files)
    counted = rows.group_by(keys).aggregate([([], "count_all")])
    bad = counted.filter(pc.greater(counted.column("count_all"), 1)).slice(0, 1).to_pylist()
    if bad:
        raise GrainError(complaint(rollup.name, rollup.grain, [dt, *(bad[0][name] for name in keys)]))


@contextmanager
def _several_writers(spark: SparkSession) -> Iterator[None]:
    """A task keeps one file open for each day, instead of sorting its rows by day."""
    before = spark.conf.get(_WRITERS)
    spark.conf.set(_WRITERS, str(_MOST_DAYS))
    try:
        yield
    finally:
        spark.conf.set(_WRITERS, before or "0")
