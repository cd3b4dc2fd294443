"""What a lake holds, read by pyarrow alone, in a form that can be compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from amqpspec.reports.pipeline.dimensions import dimension_rows
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.manifest import read_snapshot
from amqpspec.reports.pipeline.schema import DIMENSIONS

Row = dict[str, Any]


def facts(root: Path) -> list[Row]:
    """All facts that count, with their day and kind, in an order of their own."""
    rows = []
    for part in open_lake(root).parts():
        with pq.ParquetFile(part.path) as file:
            rows += [row | {"dt": part.dt, "kind": part.kind} for row in file.read().to_pylist()]
    return sorted(
        rows, key=lambda row: (row["run"], row["dt"], row["case"], row["attempt"], row["input"] or "")
    )


def content(root: Path) -> tuple[list[Row], dict[str, list[Row]], dict[str, Any]]:
    """Everything that a lake says: facts, dimensions, and which journals are in how far."""
    snapshot = read_snapshot(root)
    dims = {name: dimension_rows(root, snapshot, name) for name in DIMENSIONS}
    return facts(root), dims, {name: source.read for name, source in snapshot.sources.items()}
