"""What a lake holds, read by pyarrow alone, in a form that can be compared."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from amqpspec.reports.pipeline.dimensions import dimension_rows
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.manifest import MANIFEST, read_snapshot
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


def crafted(root: Path, octets: bytes) -> Path:
    """A file of facts, whatever it is, that the manifest calls its own."""
    part = open_lake(root).parts()[0]
    part.path.write_bytes(octets)
    path = max((root / MANIFEST).glob("*.json"))
    document = json.loads(path.read_text())
    name = part.path.relative_to(root).as_posix()
    document["files"][name].update(octets=len(octets), digest="")
    path.write_text(json.dumps(document))
    return part.path


def parquet(**columns: object) -> bytes:
    written = io.BytesIO()
    pq.write_table(pa.table(columns), written)
    return written.getvalue()


CRAFTED = {
    "empty": b"PAR1" + b"\0" * 90 + b"PAR1",
    "announcing": b"PAR1" + b"\xff" * 90 + b"\xff\xff\xff\x7fPAR1",
    "nested": parquet(at_us=["yesterday"], run=[1], case=[[1]]),
    "other-types": parquet(at_us=[1 << 62], latency_us=["soon"], run_key=[b"\xff"]),
}
