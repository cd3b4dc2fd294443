"""Writes Parquet into a lake: facts by day, in bounded memory; files get their names when they are complete.

Knows: files, row groups, which columns get dictionaries. Must not know: journals, manifests, Spark.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from amqpspec.reports.pipeline.manifest import FileEntry, sync_folder
from amqpspec.reports.pipeline.schema import FACTS, FEW_VALUES, LakeError, fitted

GROUP_ROWS = 250_000
"""The minimum number of rows of a row group, except for the last of a file."""
_HELD_ROWS = 2 * GROUP_ROWS
"""The maximum number of rows in memory; if many days are open at once, row groups are smaller."""
_MOST_DAYS = 400
_MOST_FILE_ROWS = 1 << 23


@dataclass(slots=True)
class _Part:
    """A file that is being written."""

    folder: str
    path: Path
    writer: Any
    held: list[pa.RecordBatch] = field(default_factory=list)
    held_rows: int = 0
    rows: int = 0


class FactWriter:
    """Receives batches of observations and writes one file for each day and kind; nothing if its block fails."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._parts: dict[str, list[_Part]] = {}
        self._held_rows = 0

    def add(self, batch: pa.RecordBatch) -> None:
        """Add facts of one batch (schema.OBSERVATION);

        ``at_us`` determines the day of each. Raises LakeError, OSError.
        """
        kinds = pc.fill_null(batch.column("kind"), "")
        days = pc.cast(batch.column("at_us"), pa.date32())
        facts = fitted(batch.select(FACTS.names), FACTS)
        for kind in pc.unique(kinds).to_pylist():
            for day in pc.unique(days).to_pylist():
                both = pc.and_(pc.equal(kinds, kind), pc.equal(days, pa.scalar(day, pa.date32())))
                chosen = facts.filter(both)
                if chosen.num_rows:
                    self._take(f"observations/dt={day}/kind={kind}", chosen)

    def finish(self, piece: str) -> dict[str, FileEntry]:
        """Close all files and give them their names, which derive from ``piece``, the name of their contents."""
        return self.finish_pieces((piece,))

    def finish_pieces(self, pieces: Iterable[str], instead_of: Iterable[str] = ()) -> dict[str, FileEntry]:
        """Like ``finish``, for several pieces from files that these replace; the name differs from those of the old
        files.
        """
        known = tuple(sorted(pieces))
        made = {}
        try:
            for folder, parts in sorted(self._parts.items()):
                for number, part in enumerate(parts):
                    name = f"{folder}/part-{fingerprint(folder, str(number), *known, *sorted(instead_of))}.parquet"
                    self._close(part)
                    part.path.replace(self._root / name)
                    made[name] = FileEntry.of(self._root / name, part.rows, known)
                sync_folder(self._root / folder)
        except BaseException:
            self._abandon()
            raise
        self._parts = {}
        return made

    def __enter__(self) -> FactWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        """Remove all unfinished files."""
        if kind is not None:
            self._abandon()

    def _abandon(self) -> None:
        for parts in self._parts.values():
            for part in parts:
                with suppress(Exception):
                    part.writer.close()
                part.path.unlink(missing_ok=True)
        self._parts = {}

    def _take(self, folder: str, batch: pa.RecordBatch) -> None:
        part = self._part(folder)
        part.held.append(batch)
        part.held_rows += batch.num_rows
        self._held_rows += batch.num_rows
        if part.held_rows >= GROUP_ROWS:
            self._flush(part)
        while self._held_rows > _HELD_ROWS:
            self._flush(max((p[-1] for p in self._parts.values()), key=lambda p: p.held_rows))

    def _part(self, folder: str) -> _Part:
        parts = self._parts.setdefault(folder, [])
        if not parts or parts[-1].rows >= _MOST_FILE_ROWS:
            if len(self._parts) > _MOST_DAYS:
                raise LakeError(
                    f"{folder}: expected at most {_MOST_DAYS} days in one journal, actual more: its clock is wrong"
                )
            if parts:
                self._close(parts[-1])
            parts.append(self._open(folder))
        return parts[-1]

    def _open(self, folder: str) -> _Part:
        place = self._root / folder
        place.mkdir(parents=True, exist_ok=True)
        path = place / f".part-{os.getpid()}-{len(self._parts.get(folder, ()))}.parquet.tmp"
        try:
            writer = pq.ParquetWriter(path, FACTS, compression="zstd", use_dictionary=list(FEW_VALUES))
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return _Part(folder, path, writer)

    def _flush(self, part: _Part) -> None:
        if part.held:
            part.writer.write_table(pa.Table.from_batches(part.held), row_group_size=2 * GROUP_ROWS)
            part.rows += part.held_rows
            self._held_rows -= part.held_rows
            part.held, part.held_rows = [], 0

    def _close(self, part: _Part) -> None:
        if part.writer.is_open:
            self._flush(part)
            part.writer.close()
            with part.path.open("rb") as file:
                os.fsync(file.fileno())


def write_table(root: Path, folder: str, table: pa.Table) -> tuple[str, FileEntry]:
    """A complete small table as one file named after its content. Raises OSError."""
    name = f"{folder}/part-{_content(table)}.parquet"
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.tmp")
    try:
        pq.write_table(table, partial, compression="zstd")
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)
    return name, FileEntry.of(path, table.num_rows)


def read_facts(path: Path, kind: str) -> Iterator[pa.RecordBatch]:
    """A file of facts as observations, batch by batch. Raises LakeError."""
    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1 << 16):
                whole = fitted(batch)
                place = whole.schema.get_field_index("kind")
                yield whole.set_column(place, "kind", pa.array([kind] * len(whole), pa.string()))
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise LakeError(f"{path}: expected a Parquet file, actual: {error}") from error


def _content(table: pa.Table) -> str:
    digest = blake2b(str(table.schema).encode(), digest_size=8)
    for batch in table.combine_chunks().to_batches():
        digest.update(batch.serialize())
    return digest.hexdigest()


def fingerprint(*parts: str) -> str:
    """A short name for these texts: equal texts give the same name."""
    return blake2b("\0".join(parts).encode(), digest_size=8).hexdigest()
