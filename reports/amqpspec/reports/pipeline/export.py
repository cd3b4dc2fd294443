"""Converts a mart's Parquet to CSV and JSON next to it, in batches.

Knows: files of one mart, its grain. Must not know: Spark, what the columns mean.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from amqpspec.reports.marts.files import columns, rows
from amqpspec.reports.marts.tables import write_tables
from amqpspec.reports.pipeline.grain import GrainError, complaint


def export(folder: Path, name: str, grain: Sequence[str]) -> int:
    """Write ``NAME.csv`` and ``NAME.json`` (a list of objects) into the mart's folder; returns the number of rows.

    The rows are in the order of their grain, so two rows with the same key are adjacent: raises GrainError then.
    """
    _without_leftovers(folder)
    return write_tables(folder, name, columns(folder), _unique(folder, name, grain))


def _unique(folder: Path, name: str, grain: Sequence[str]) -> Iterator[dict[str, Any]]:
    before = None
    for row in rows(folder):
        here = tuple(row[column] for column in grain)
        if here == before or None in here:
            raise GrainError(complaint(name, grain, here))
        before = here
        yield row


def _without_leftovers(folder: Path) -> None:
    """Remove Spark's markers and checksums."""
    for path in folder.iterdir():
        if path.name.startswith(("_", ".")):
            path.unlink()
    for number, path in enumerate(sorted(folder.glob("*.parquet"))):
        path.replace(folder / f"part-{number:04d}.parquet")
