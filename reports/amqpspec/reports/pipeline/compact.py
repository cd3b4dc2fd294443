"""Merges the many small files of a day, and removes a run from files that it shares with others.

Knows: files of facts and their contents. Must not know: journals, Spark.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pyarrow.compute as pc

from amqpspec.reports.pipeline.manifest import FileEntry, Snapshot, Source, commit, writing
from amqpspec.reports.pipeline.parquet import FactWriter, read_facts
from amqpspec.reports.pipeline.schema import LakeError

AUTOMATIC_FILES = 32
"""Ingest compacts a day and kind with more files than this."""
BIG_ROWS = 4_000_000
"""Files of at least this size are not merged."""


def compact(root: Path, more_than: int = 1) -> int:
    """Compact each day and kind with more small files than that; returns by how many the files were reduced.

    Raises LakeError, OSError.
    """
    with writing(root) as snapshot:
        after = compacted(root, snapshot, more_than)
        if after is not snapshot:
            commit(root, snapshot, after)
    return len(snapshot.files) - len(after.files)


def compacted(root: Path, snapshot: Snapshot, more_than: int) -> Snapshot:
    """The lake with its small files merged; not committed. The same object if there is nothing to do."""
    folders: dict[str, dict[str, FileEntry]] = {}
    for name, entry in sorted(snapshot.files.items()):
        if entry.rows < BIG_ROWS:
            folders.setdefault(name.rpartition("/")[0], {})[name] = entry
    for small in folders.values():
        if len(small) > more_than:
            snapshot = _rewrite(root, snapshot, small)
    return snapshot


def without_run(root: Path, snapshot: Snapshot, source: Source) -> Snapshot:
    """The lake without a source's facts; files that also contain facts of others are rewritten. Not committed."""
    mine = set(source.pieces)
    for name, entry in snapshot.files.items():
        if mine.isdisjoint(entry.pieces):
            continue
        if mine.issuperset(entry.pieces):
            files = {other: its for other, its in snapshot.files.items() if other != name}
            snapshot = replace(snapshot, files=files)
        else:
            snapshot = _rewrite(root, snapshot, {name: entry}, without=source.run_key, pieces=mine)
    return snapshot


def _rewrite(
    root: Path,
    snapshot: Snapshot,
    old: dict[str, FileEntry],
    without: int | None = None,
    pieces: Iterable[str] = (),
) -> Snapshot:
    """Merge these files, without the facts of one run."""
    left = {piece for entry in old.values() for piece in entry.pieces}.difference(pieces)
    with FactWriter(root) as writer:
        for name, entry in old.items():
            if complaint := entry.complaint(root / name, whole=True):
                raise LakeError(complaint)
            kind = name.split("/")[2].removeprefix("kind=")
            for batch in read_facts(root / name, kind):
                if without is not None:
                    batch = batch.filter(pc.not_equal(batch.column("run_key"), without))
                writer.add(batch)
        made = writer.finish_pieces(left, instead_of=old)
    files = {name: entry for name, entry in snapshot.files.items() if name not in old}
    return replace(snapshot, files={**files, **made})
