"""A mart's Parquet as CSV and JSON beside it, in batches.

Knows: files of one mart. Must not know: Spark, what the columns mean.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from amqpspec.reports.files import atomic_text
from amqpspec.reports.pipeline.grain import GrainError, complaint

BATCH_ROWS = 10_000


def export(folder: Path, name: str, grain: Sequence[str]) -> int:
    """Write ``NAME.csv`` and ``NAME.json`` (a list of objects) into the mart's folder; how many rows there are.

    The rows lie in the order of their grain, so that two of the same key are neighbours: raises GrainError then.
    """
    _without_leftovers(folder)
    files = sorted(folder.glob("*.parquet"))
    columns = pq.read_schema(files[0]).names
    rows, before = 0, None
    with atomic_text(folder / f"{name}.csv") as table, atomic_text(folder / f"{name}.json") as document:
        lines = csv.writer(table, lineterminator="\n")
        lines.writerow(columns)
        document.write("[")
        for row in _rows(files):
            here = tuple(row[column] for column in grain)
            if here == before or None in here:
                raise GrainError(complaint(name, grain, here))
            before = here
            lines.writerow([_text(value) for value in row.values()])
            document.write(("," if rows else "") + "\n" + json.dumps(row, ensure_ascii=False, default=_text))
            rows += 1
        document.write("\n]\n")
    return rows


def _rows(files: list[Path]) -> Iterator[dict[str, Any]]:
    for path in files:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(BATCH_ROWS):
                yield from batch.to_pylist()


def _text(value: object) -> object:
    """Times in UTC as ``2026-11-21T02:00:00.000000Z``, truth as JSON writes it."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else value


def _without_leftovers(folder: Path) -> None:
    """What Spark leaves beside its data: markers and checksums."""
    for path in folder.iterdir():
        if path.name.startswith(("_", ".")):
            path.unlink()
    for number, path in enumerate(sorted(folder.glob("*.parquet"))):
        path.replace(folder / f"part-{number:04d}.parquet")
