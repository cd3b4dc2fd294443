"""The lake: where facts and dimensions are stored, which files count, and how Spark reads them.

Knows: the folder layout and how to read it. Must not know: journals, how files are written, what is computed from
them.

::

    LAKE/observations/dt=2026-11-21/kind=case/part-0f3a….parquet     facts, schema.FACTS
    LAKE/dims/cases/part-77b1….parquet                               one file a dimension, schema.DIMENSIONS
    LAKE/manifest/00000007.json                                      the newest one says which files count

**A file that the newest manifest does not name does not exist**: leftovers of a killed ingest, and foreign files. The
manifest also has each file's size and digest, so that a damaged file is reported before a job fails on it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from amqpspec.reports.pipeline.manifest import FileEntry, Snapshot, read_snapshot
from amqpspec.reports.pipeline.progress import Say, silence
from amqpspec.reports.pipeline.schema import DIMENSIONS, FACTS_DDL, LakeError, ddl

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

OBSERVATIONS, DIMS = "observations", "dims"


@dataclass(frozen=True, slots=True)
class Part:
    """One file of facts."""

    path: Path
    dt: str
    kind: str
    entry: FileEntry


@dataclass(frozen=True, slots=True)
class Lake:
    """A lake in the state in which it was opened. ``skip_bad`` leaves damaged files out, and ``say`` reports each."""

    root: Path
    snapshot: Snapshot
    skip_bad: bool = False
    say: Say = silence
    _looked: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """The results of checking complete files."""

    def parts(
        self, days: Collection[str] | None = None, kind: str | None = None, *, whole: bool = False
    ) -> list[Part]:
        """The undamaged files of facts of these days (``2026-11-21``) and kind; raises LakeError.

        With ``whole``, the complete files are checked, because they will be read; files of unchanged days are not.
        """
        parts = []
        for name, entry in sorted(self.snapshot.files.items()):
            part = Part(self.root / name, *_partition(name), entry)
            wanted = (days is None or part.dt in days) and (kind is None or part.kind == kind)
            if wanted and self._sound(name, entry, whole=whole):
                parts.append(part)
        return parts

    def days(self, kind: str | None = None) -> Mapping[str, str]:
        """Each day with facts, with a fingerprint of its facts; compacting does not change it."""
        pieces: dict[str, set[str]] = {}
        for name, entry in self.snapshot.files.items():
            dt, kind_of = _partition(name)
            if kind is None or kind == kind_of:
                pieces.setdefault(dt, set()).update(entry.pieces)
        return {dt: _digest(sorted(found)) for dt, found in sorted(pieces.items())}

    def rows(self) -> int:
        """The number of facts in the lake, including damaged ones."""
        return sum(entry.rows for entry in self.snapshot.files.values())

    def dimension_file(self, name: str) -> Path | None:
        """The file of a dimension, None if it is empty; raises LakeError if it is damaged."""
        found = self.snapshot.dims.get(name)
        if found is None:
            return None
        return self.root / found.path if self._sound(found.path, found.entry, whole=True) else None

    def dimension_print(self, name: str) -> str:
        """A fingerprint of a dimension's content."""
        found = self.snapshot.dims.get(name)
        return found.path if found else ""

    def check_dimensions(self) -> None:
        """Check that the lake has all dimensions; an older lake may lack some. Raises LakeError."""
        if "edges" not in self.snapshot.dims and self.days("fuzz"):
            raise LakeError(
                f"{self.root}: expected the dimension edges, actual: an older lake; "
                "amqpspec pipeline ingest adds it"
            )

    def _sound(self, name: str, entry: FileEntry, *, whole: bool) -> bool:
        complaint = self._looked.get(name)
        if complaint is None:
            complaint = entry.complaint(self.root / name, whole=whole)
        if whole:
            self._looked[name] = complaint
        if complaint and not self.skip_bad:
            raise LakeError(f"{complaint}; --skip-bad leaves it out")
        if complaint:
            self.say(f"left out: {complaint}")
        return not complaint


def open_lake(root: Path, *, skip_bad: bool = False, say: Say = silence) -> Lake:
    """Open the current state of the lake in this folder; raises LakeError if there is none, or if a newer version
    wrote it.
    """
    snapshot = read_snapshot(root)
    if snapshot.number == 0:
        raise LakeError(f"{root}: expected a lake, actual: no manifest; amqpspec pipeline ingest creates one")
    return Lake(root, snapshot, skip_bad, say)


def observations(
    spark: SparkSession, lake: Lake, *, days: Collection[str] | None = None, kind: str | None = None
) -> DataFrame:
    """The facts (schema.FACTS_DDL, ``dt`` and ``kind`` last) of some days and of one kind, or of all."""
    paths = [str(part.path.resolve()) for part in lake.parts(days, kind, whole=True)]
    if not paths:
        return spark.createDataFrame([], FACTS_DDL)
    base = str((lake.root / OBSERVATIONS).resolve())
    # With an explicit schema: otherwise Spark opens a file to infer it, and an older file lacks columns of newer
    # ones.
    return spark.read.schema(FACTS_DDL).option("basePath", base).parquet(*paths)


def dimension(spark: SparkSession, lake: Lake, name: str) -> DataFrame:
    """A dimension (schema.DIMENSIONS; unique by schema.GRAIN)."""
    schema = ddl(DIMENSIONS[name])
    path = lake.dimension_file(name)
    if path is None:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(str(path.resolve()))


def strangers(lake: Lake) -> list[str]:
    """Files below the lake's data folders that no manifest names; no process reads them."""
    known = {*lake.snapshot.files, *(dim.path for dim in lake.snapshot.dims.values())}
    found = [
        str(path.relative_to(lake.root))
        for top in (OBSERVATIONS, DIMS)
        for path in sorted((lake.root / top).rglob("*"))
        if path.is_file()
    ]
    return [name for name in found if name not in known and name not in lake.snapshot.dropped]


def _partition(name: str) -> tuple[str, str]:
    """``observations/dt=2026-11-21/kind=case/part-….parquet`` → day and kind."""
    _, dt, kind, _ = name.split("/")
    return dt.removeprefix("dt="), kind.removeprefix("kind=")


def _digest(parts: Collection[str]) -> str:
    return blake2b("\n".join(parts).encode(), digest_size=16).hexdigest()
