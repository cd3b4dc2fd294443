"""Prints matching rows as a table for a terminal, as JSON or as CSV.

Knows: formats. Must not know: queries.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from typing import TextIO

from amqpspec.reports.query.evaluate import Row, text
from amqpspec.reports.text import csv_cell

_WIDEST = 60


def as_json(rows: Iterable[Row], file: TextIO) -> int:
    """Print a list of objects; returns their number."""
    count = 0
    file.write("[")
    for row in rows:
        file.write(("," if count else "") + "\n" + json.dumps(dict(row), ensure_ascii=False, default=text))
        count += 1
    file.write("\n]\n")
    return count


def as_csv(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> int:
    """Print a line of names, then one line per row; returns the number of rows."""
    lines = csv.writer(file, lineterminator="\n")
    lines.writerow(columns)
    count = 0
    for row in rows:
        lines.writerow([text(csv_cell(row[column])) for column in columns])
        count += 1
    return count


def as_table(rows: Iterable[Row], columns: Sequence[str], file: TextIO) -> int:
    """Print aligned columns; returns the number of rows."""
    cells = [[_cell(row[column]) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in (list(columns), *cells) if cells else ():
        padded = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        file.write("  ".join(padded).rstrip() + "\n")
    return len(cells)


def _cell(value: object) -> str:
    """A cell on one line, without control characters for terminals."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text(value)).split())
    return line if len(line) <= _WIDEST else line[: _WIDEST - 1] + "…"
