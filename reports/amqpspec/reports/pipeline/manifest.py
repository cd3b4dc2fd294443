"""The manifest of a lake: which files count and which journals were ingested; each change is one new file, written
atomically.

Knows: manifest files, their order, the writer's lock. Must not know: Parquet, journals, Spark.

A change is prepared next to the existing files and takes effect when its manifest is renamed. A writer that is killed
before leaves files that no manifest names; one that is killed after leaves files that the manifest lists as
``dropped``, and the next writer removes them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from amqpspec.record.lock import take
from amqpspec.record.reading import parse_json
from amqpspec.reports.files import atomic_text
from amqpspec.reports.pipeline.schema import SCHEMA, LakeError

T = TypeVar("T")
MANIFEST = "manifest"
_CHUNK_OCTETS = 1 << 20
_LONGEST = 300
_FACTS = re.compile(r"observations/dt=\d{4}-\d\d-\d\d/kind=\w+/part-\w+\.parquet")
_DIMENSION = re.compile(r"dims/\w+/part-\w+\.parquet")
_MOST_MANIFESTS = 8
"""The number of manifests that are kept; the newest counts. A reader that started with an older one can finish."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file that counts.

    ``pieces`` name its contents: files with the same pieces have the same rows. ``digest`` is that of its octets;
    older lakes have none.
    """

    rows: int
    octets: int
    pieces: tuple[str, ...] = ()
    digest: str = ""

    @classmethod
    def of(cls, path: Path, rows: int, pieces: tuple[str, ...] = ()) -> FileEntry:
        """The entry of an existing file."""
        octets = path.stat().st_size
        return cls(rows, octets, pieces, digest_of(path, octets))

    def complaint(self, path: Path, *, whole: bool) -> str:
        """Why a file does not match its entry, empty if it does; without ``whole``, only its size and its last octets
        are checked.
        """
        try:
            with path.open("rb") as file:
                octets = file.seek(0, 2)
                file.seek(max(0, octets - 4))
                tail = file.read()
            if octets != self.octets:
                return (
                    f"{path}: expected {self.octets} octets, actual {octets}: not the file that was ingested"
                )
            if tail != b"PAR1":
                return f"{path}: expected a Parquet file, actual: it ends in {tail!r}"
            if whole and self.digest and digest_of(path, octets) != self.digest:
                return f"{path}: damaged or changed: expected the file that was ingested"
        except OSError as error:
            return f"{path}: cannot be read: {error.strerror}"
        return ""


@dataclass(frozen=True, slots=True)
class DimEntry:
    """The file of a dimension."""

    path: str
    entry: FileEntry


class Extent(NamedTuple):
    """How far a file was read: the number of octets, their digest, the batches in them."""

    octets: int
    digest: str
    batches: int = 0


@dataclass(frozen=True, slots=True)
class Source:
    """An ingested journal; ``read`` says how far, file by file."""

    kind: str
    run: str
    run_key: int
    folder: str
    read: Mapping[str, Extent]
    pieces: tuple[str, ...] = ()
    rows: int = 0
    ended: str = ""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a lake at one moment. Number 0 is a lake that does not exist yet."""

    number: int = 0
    schema: int = SCHEMA
    files: Mapping[str, FileEntry] = field(default_factory=dict)
    dims: Mapping[str, DimEntry] = field(default_factory=dict)
    sources: Mapping[str, Source] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


def read_snapshot(root: Path) -> Snapshot:
    """The newest manifest; raises LakeError if it cannot be read or a newer version wrote it."""
    path = _newest(root)
    if path is None:
        return Snapshot()
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        if data["schema"] > SCHEMA:
            raise LakeError(
                f"{path}: written by a newer amqpspec (lake schema {data['schema']}; this one reads up to {SCHEMA})"
            )
        return _from_json(data)
    except LakeError:
        raise
    except OSError as error:
        raise LakeError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise LakeError(f"{path}: expected a manifest of schema {SCHEMA}, actual: {error!r}") from error


@contextmanager
def writing(root: Path) -> Iterator[Snapshot]:
    """The newest snapshot, with the lake locked against other writers; raises LakeError if another one is active."""
    snapshot = read_snapshot(root)
    root.mkdir(parents=True, exist_ok=True)
    fd = os.open(root / ".writer", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            take(fd)
        except BlockingIOError as error:
            raise LakeError(f"{root}: expected no other writer, actual: one is running") from error
        snapshot = read_snapshot(root)
        _tidy(root, snapshot)
        yield snapshot
    finally:
        os.close(fd)


def commit(root: Path, before: Snapshot, after: Snapshot) -> Snapshot:
    """Make ``after`` the newest snapshot; files that only ``before`` names are dropped.

    Returns it with its number.
    """
    named = {*after.files, *(dim.path for dim in after.dims.values())}
    still = {name for name in before.dropped if (root / name).exists()}
    once = {*before.files, *(dim.path for dim in before.dims.values()), *still}
    after = replace(after, number=before.number + 1, schema=SCHEMA, dropped=tuple(sorted(once - named)))
    path = root / MANIFEST / f"{after.number:08d}.json"
    with atomic_text(path) as file:
        json.dump(asdict(after), file, separators=(",", ":"), ensure_ascii=False)
    sync_folder(path.parent)
    for old in sorted(path.parent.glob("[0-9]*.json"))[:-_MOST_MANIFESTS]:
        old.unlink(missing_ok=True)
    return after


def sync_folder(folder: Path) -> None:
    """Make sure that a new name in this folder survives a power failure."""
    fd = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def digest_of(path: Path, octets: int) -> str:
    """The digest of a file's first octets. Raises OSError."""
    digest = blake2b(digest_size=16)
    with path.open("rb") as file:
        while octets > 0 and (chunk := file.read(min(octets, _CHUNK_OCTETS))):
            digest.update(chunk)
            octets -= len(chunk)
    return digest.hexdigest()


def _newest(root: Path) -> Path | None:
    return max((root / MANIFEST).glob("[0-9]*.json"), default=None)


def _tidy(root: Path, snapshot: Snapshot) -> None:
    """Remove files that earlier writers dropped, and unfinished files of killed writers."""
    for name in snapshot.dropped:
        (root / name).unlink(missing_ok=True)
    for pattern in (".part-*.tmp", ".[0-9]*.json.*tmp"):
        for path in root.rglob(pattern):
            path.unlink(missing_ok=True)


def _from_json(data: Mapping[str, Any]) -> Snapshot:
    return Snapshot(
        number=_is(int, data["number"]),
        schema=_is(int, data["schema"]),
        files={_named(name, _FACTS): _entry(entry) for name, entry in data["files"].items()},
        dims={
            name: DimEntry(_named(dim["path"], _DIMENSION), _entry(dim["entry"]))
            for name, dim in data["dims"].items()
        },
        sources={name: _source(source) for name, source in data["sources"].items()},
        # Only files of a lake are deleted, and nothing outside it.
        dropped=tuple(_named(name, _FACTS, _DIMENSION) for name in data["dropped"]),
    )


def _entry(data: Mapping[str, Any]) -> FileEntry:
    pieces = tuple(_is(str, piece) for piece in data["pieces"])
    return FileEntry(
        _is(int, data["rows"]), _is(int, data["octets"]), pieces, _is(str, data.get("digest", ""))
    )


def _source(data: Mapping[str, Any]) -> Source:
    read = {name: _extent(*extent) for name, extent in data["read"].items()}
    pieces = tuple(_is(str, piece) for piece in data["pieces"])
    source = Source(**{**data, "read": read, "pieces": pieces})
    for value, kind in ((source.kind, str), (source.run, str), (source.run_key, int), (source.folder, str),
                        (source.rows, int), (source.ended, str)):  # fmt: skip
        _is(kind, value)
    return source


def _extent(octets: Any, digest: Any, batches: Any = 0) -> Extent:
    return Extent(_is(int, octets), _is(str, digest), _is(int, batches))


def _is(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"expected {kind.__name__}, actual {value!r}"[:_LONGEST])
    return value


def _named(name: Any, *patterns: re.Pattern[str]) -> str:
    if not any(pattern.fullmatch(_is(str, name)) for pattern in patterns):
        raise ValueError(f"expected the name of a file of a lake, actual {name!r}"[:_LONGEST])
    return str(name)
