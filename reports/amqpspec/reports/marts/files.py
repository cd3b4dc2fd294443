"""The marts of a build, read row by row.

Knows: the folder that ``amqpspec pipeline build`` leaves, Parquet. Must not know: Spark, what a column means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from amqpspec.record.reading import parse_json
from amqpspec.reports.load import ReportError
from amqpspec.reports.marts.row import MartRow

MANIFEST = "manifest.json"
_BATCH_ROWS = 10_000

R = TypeVar("R", bound=MartRow)


def manifest(marts: Path) -> dict[str, Any]:
    """What a build says of its marts, ``marts`` and ``as_of`` among it; raises ReportError."""
    path = marts / MANIFEST
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
        sorted(data["marts"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ReportError(
            f"{path}: expected the folder of `amqpspec pipeline build`, actual: {error}"
        ) from error
    return dict(data)


def names(marts: Path) -> list[str]:
    """The marts in a folder; raises ReportError where it is no such folder."""
    return sorted(manifest(marts)["marts"])


def columns(folder: Path) -> tuple[str, ...]:
    """The columns of one mart."""
    with _read(_files(folder)[0]) as file:
        return tuple(file.schema_arrow.names)


def rows(folder: Path, wanted: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """Every row of one mart, in the order of its grain; with ``wanted``, of these columns, which it has to have."""
    for path in _files(folder):
        with _read(path) as file:
            missing = sorted(set(wanted or ()).difference(file.schema_arrow.names))
            if missing:
                raise ReportError(
                    f"{path}: expected the column {missing[0]!r}, actual: none; build the marts again"
                )
            try:
                for batch in file.iter_batches(_BATCH_ROWS, columns=wanted):
                    yield from batch.to_pylist()
            except (OSError, pa.ArrowException) as error:
                raise ReportError(f"{path}: expected whole Parquet, actual: {error}") from error


def typed(marts: Path, kind: type[R]) -> Iterator[R]:
    """Every row of the mart that ``kind`` declares; raises ReportError where there is no such mart."""
    folder = marts / kind.NAME
    if not folder.is_dir():
        raise ReportError(f"{marts}: expected the mart {kind.NAME}, actual: none; build the marts again")
    return (kind(**row) for row in rows(folder, kind.names()))


def _read(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException) as error:
        raise ReportError(f"{path}: expected Parquet, actual: {error}") from error


def _files(folder: Path) -> list[Path]:
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise ReportError(f"{folder}: expected Parquet files, actual: none")
    return files
