"""A mart's Parquet as CSV and JSON beside it, in batches.

Knows: files of one mart. Must not know: Spark, what the columns mean.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path

from amqpspec.reports.files import atomic_text
from amqpspec.reports.marts.files import columns, rows
from amqpspec.reports.pipeline.grain import GrainError, complaint
from amqpspec.reports.text import csv_cell


def export(folder: Path, name: str, grain: Sequence[str]) -> int:
    """Write ``NAME.csv`` and ``NAME.json`` (a list of objects) into the mart's folder; how many rows there are.

    The rows lie in the order of their grain, so that two of the same key are neighbours: raises GrainError then.
    """
    _without_leftovers(folder)
    count, before = 0, None
    with atomic_text(folder / f"{name}.csv") as table, atomic_text(folder / f"{name}.json") as document:
        lines = csv.writer(table, lineterminator="\n")
        lines.writerow(columns(folder))
        document.write("[")
        for row in rows(folder):
            here = tuple(row[column] for column in grain)
            if here == before or None in here:
                raise GrainError(complaint(name, grain, here))
            before = here
            lines.writerow([csv_cell(_text(value)) for value in row.values()])
            document.write(("," if count else "") + "\n" + json.dumps(row, ensure_ascii=False, default=_text))
            count += 1
        document.write("\n]\n")
    return count


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
