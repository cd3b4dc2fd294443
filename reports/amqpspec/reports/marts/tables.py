"""Writes a mart's rows as CSV and JSON.

Knows: the two formats. Must not know: Spark, what the columns mean.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

from amqpspec.reports.files import atomic_text
from amqpspec.reports.text import csv_cell


def write_tables(out: Path, name: str, columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> int:
    """Write ``NAME.csv`` and ``NAME.json`` (a list of objects) into the folder ``out``; returns the number of rows."""
    count = 0
    with atomic_text(out / f"{name}.csv") as table, atomic_text(out / f"{name}.json") as document:
        lines = csv.writer(table, lineterminator="\n")
        lines.writerow(columns)
        document.write("[")
        for row in rows:
            lines.writerow([csv_cell(_text(value)) for value in row.values()])
            document.write(("," if count else "") + "\n" + json.dumps(row, ensure_ascii=False, default=_text))
            count += 1
        document.write("\n]\n")
    return count


def _text(value: object) -> object:
    """Times in UTC as ``2026-11-21T02:00:00.000000Z``, booleans as in JSON."""
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    return str(value).lower() if isinstance(value, bool) else value
