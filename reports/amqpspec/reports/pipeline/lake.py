"""The lake: where facts and dimensions lie, which files count, and how Spark reads them.

Knows: the folder layout and the reading of it. Must not know: journals, how files come to be, what is computed of them.

::

    LAKE/observations/dt=2026-11-21/kind=case/part-0f3a….parquet     facts, schema.FACTS
    LAKE/dims/cases/part-77b1….parquet                               one file a dimension, schema.DIMENSIONS
    LAKE/manifest/00000007.json                                      the newest one says which files count

**A file that the newest manifest does not name does not exist**: leftovers of a killed ingest, and strangers. The
manifest also has each file's size and digest, so that a damaged one is named before a job fails of it.
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
    """A lake as it stood when it was opened. ``skip_bad`` leaves damaged files out, and ``say`` reports each."""

    root: Path
    snapshot: Snapshot
    skip_bad: bool = False
    say: Say = silence
    _looked: dict[str, str] = field(default_factory=dict, repr=False, compare=False)
    """What was found out about files that were read as a whole."""

    def parts(
        self, days: Collection[str] | None = None, kind: str | None = None, *, whole: bool = False
    ) -> list[Part]:
        """The files of facts of these days (``2026-11-21``) and kind, sound ones only; raises LakeError.

        What is about to be read is looked at as a ``whole``: the facts of days that have not changed are not.
        """
        parts = []
        for name, entry in sorted(self.snapshot.files.items()):
            part = Part(self.root / name, *_partition(name), entry)
            wanted = (days is None or part.dt in days) and (kind is None or part.kind == kind)
            if wanted and self._sound(name, entry, whole=whole):
                parts.append(part)
        return parts

    def days(self, kind: str | None = None) -> Mapping[str, str]:
        """Each day that has facts, with a fingerprint of its facts; compacting does not change it."""
        pieces: dict[str, set[str]] = {}
        for name, entry in self.snapshot.files.items():
            dt, kind_of = _partition(name)
            if kind is None or kind == kind_of:
                pieces.setdefault(dt, set()).update(entry.pieces)
        return {dt: _digest(sorted(found)) for dt, found in sorted(pieces.items())}

    def rows(self) -> int:
        """How many facts the lake has, damaged ones among them."""
        return sum(entry.rows for entry in self.snapshot.files.values())

    def dimension_file(self, name: str) -> Path | None:
        """The file of a dimension, None where nothing is in it yet; raises LakeError where it is damaged."""
        found = self.snapshot.dims.get(name)
        if found is None:
            return None
        return self.root / found.path if self._sound(found.path, found.entry, whole=True) else None

    def dimension_print(self, name: str) -> str:
        """A fingerprint of a dimension's content."""
        found = self.snapshot.dims.get(name)
        return found.path if found else ""

    def check_dimensions(self) -> None:
        """That no dimension is missing because the lake is from before it; raises LakeError."""
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
    """The lake in this folder as it stands now; raises LakeError if there is none, or a newer build wrote it."""
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
    # The schema is given: else Spark opens a file to guess it, and an older one lacks columns that newer ones have.
    return spark.read.schema(FACTS_DDL).option("basePath", base).parquet(*paths)


def dimension(spark: SparkSession, lake: Lake, name: str) -> DataFrame:
    """A dimension (schema.DIMENSIONS; unique by schema.GRAIN)."""
    schema = ddl(DIMENSIONS[name])
    path = lake.dimension_file(name)
    if path is None:
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).parquet(str(path.resolve()))


def strangers(lake: Lake) -> list[str]:
    """Files below the lake's folders of data that no manifest names; no one reads them."""
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
