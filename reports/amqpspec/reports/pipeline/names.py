"""Dimensions whose rows are in the observations: reactions and edges, each once with its key.

Knows: which columns belong to a key, which lakes lack a dimension. Must not know: journals, Spark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from amqpspec.record.observation import FUZZ
from amqpspec.reports.pipeline.dimensions import Rows, merge
from amqpspec.reports.pipeline.manifest import Snapshot
from amqpspec.reports.pipeline.parquet import read_facts
from amqpspec.reports.pipeline.schema import DIMENSIONS, GRAIN

_NAMED = ("signatures", "edges")
_ONLY: Mapping[str, str] = {"edges": FUZZ}
"""Only campaigns have edges; a run uses the state column for its suite."""


@dataclass(frozen=True, slots=True)
class Names:
    """The names of one journal that were seen so far; a repeated key costs only a lookup."""

    known: Mapping[str, dict[int, dict[str, Any]]] = field(
        default_factory=lambda: {name: {} for name in _NAMED}
    )

    def add(self, batch: pa.RecordBatch) -> None:
        """The new names in a batch of observations."""
        for name, known in self.known.items():
            for row in _unknown(batch, name, known):
                known[row[GRAIN[name][0]]] = row

    def rows(self) -> Rows:
        """All names so far, as rows of the dimensions."""
        return {name: list(known.values()) for name, known in self.known.items()}


def edges() -> Names:
    """Only the names of edges, from facts, which have no texts of reactions."""
    return Names({"edges": {}})


def with_edges(root: Path, snapshot: Snapshot) -> Snapshot:
    """Add the dimension of edges to a lake that was created before it existed. Not committed. Raises LakeError."""
    files = [name for name in snapshot.files if f"/kind={FUZZ}/" in name]
    if "edges" in snapshot.dims or not files:
        return snapshot
    found = edges()
    for name in files:
        for batch in read_facts(root / name, FUZZ):
            found.add(batch)
    return replace(snapshot, dims=merge(root, snapshot, found.rows()))


def _unknown(batch: pa.RecordBatch, name: str, known: Mapping[int, object]) -> Iterable[dict[str, Any]]:
    """The rows of a dimension that are new in a batch; a null text counts as empty."""
    (grain,) = GRAIN[name]
    fresh = [
        key for key in pc.unique(batch.column(grain)).to_pylist() if key not in known and key is not None
    ]
    if not fresh:
        return ()
    chosen = pc.is_in(batch.column(grain), pa.array(fresh, pa.int64()))
    if name in _ONLY:
        chosen = pc.and_(chosen, pc.fill_null(pc.equal(batch.column("kind"), _ONLY[name]), False))
    columns = {each.name: _whole(batch.column(each.name)).filter(chosen) for each in DIMENSIONS[name]}
    rows: list[dict[str, Any]] = pa.table(columns).group_by(list(columns)).aggregate([]).to_pylist()
    return rows


def _whole(column: pa.Array) -> pa.Array:
    return pc.fill_null(column, "") if pa.types.is_string(column.type) else column
