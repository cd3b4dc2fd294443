"""Reads the marts of a build, row by row.

Knows: the output folder of ``amqpspec pipeline build``, Parquet. Must not know: Spark, what a column means.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from amqpspec.record.reading import parse_json
from amqpspec.reports.load import ReportError
from amqpspec.reports.marts.row import MartRow
from amqpspec.reports.marts.rows import DECLARED

MANIFEST = "manifest.json"
_BATCH_ROWS = 10_000
_LONGEST = 300
_NAME = re.compile(r"\w[\w.-]*")

R = TypeVar("R", bound=MartRow)


def manifest(marts: Path) -> dict[str, Any]:
    """The manifest of a build, with ``marts`` and ``as_of``; raises ReportError."""
    path = marts / MANIFEST
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        for name, about in data["marts"].items():
            if not _NAME.fullmatch(name) or not isinstance(about.get("rows", 0), int):
                raise ValueError(f"the mart {name!r} with {about}"[:_LONGEST])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ReportError(
            f"{path}: expected the folder of `amqpspec pipeline build`, actual: {error}"
        ) from error
    return dict(data)


def names(marts: Path) -> list[str]:
    """The marts in a folder; raises ReportError if it is not such a folder."""
    return sorted(manifest(marts)["marts"])


def columns(folder: Path) -> tuple[str, ...]:
    """The columns of one mart."""
    path = _files(folder)[0]
    with _told(path), pq.ParquetFile(path) as file:
        return tuple(file.schema_arrow.names)


def rows(folder: Path, wanted: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Every row of one mart, in the order of its grain; with ``wanted``, only these columns, which it must have."""
    declared = DECLARED.get(folder.name)
    for path in _files(folder):
        with _told(path), pq.ParquetFile(path) as file:
            _check_columns(path, file.schema_arrow, declared, wanted)
            left = file.metadata.num_rows
            for batch in file.iter_batches(_BATCH_ROWS, columns=wanted):
                _check_nulls(path, batch, declared)
                left -= batch.num_rows
                yield from batch.to_pylist()
            if left:
                raise ValueError(f"{left} rows fewer than it announces")


def typed(marts: Path, kind: type[R]) -> Iterator[R]:
    """Every row of the mart that ``kind`` declares; raises ReportError if there is no such mart."""
    folder = marts / kind.NAME
    if not folder.is_dir():
        raise ReportError(f"{marts}: expected the mart {kind.NAME}, actual: none; build the marts again")
    return (kind(**row) for row in rows(folder, kind.names()))


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Report a file that is not Parquet, or is damaged, in one line that names it."""
    try:
        yield
    except ReportError:
        raise
    except (OSError, ValueError, OverflowError, MemoryError, pa.ArrowException) as error:
        raise ReportError(f"{path}: expected whole Parquet, actual: {str(error)[:_LONGEST]}") from error


def _check_columns(
    path: Path, schema: pa.Schema, declared: type[MartRow] | None, wanted: Sequence[str] | None
) -> None:
    """Check that the columns exist and have the declared types; raises ReportError."""
    if missing := sorted(set(wanted or ()).difference(schema.names)):
        raise ReportError(f"{path}: expected the column {missing[0]!r}, actual: none; build the marts again")
    if nested := [field for field in schema if pa.types.is_nested(field.type)]:
        raise ReportError(
            f"{path}: column {nested[0].name!r}: expected plain values, actual {nested[0].type}"
        )
    for column in declared.columns() if declared else ():
        if column.name in schema.names and not column.holds(actual := str(schema.field(column.name).type)):
            raise ReportError(f"{path}: column {column.name!r}: expected {column.spark}, actual {actual}")


def _check_nulls(path: Path, batch: pa.RecordBatch, declared: type[MartRow] | None) -> None:
    """Check that no required value is missing; raises ReportError."""
    for column in declared.columns() if declared else ():
        if not column.optional and column.name in batch.schema.names and batch.column(column.name).null_count:
            raise ReportError(f"{path}: column {column.name!r}: expected {column.spark}, actual: null")


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise ReportError(f"{folder}: expected Parquet files, actual: none")
    return files
