"""The dimensions of a lake: small tables, merged independently of the order of journals.

Knows: rows of dimensions, which of two rows wins. Must not know: journals, Spark.

If several rows have the same key, the latest wins (``seen_at``: the start of the run that wrote it); if the times are
equal, the greatest. Therefore the contents of a lake do not depend on the order of ingests. The rows of a journal
about its own run and findings replace its earlier ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from amqpspec.reports.pipeline.manifest import DimEntry, Snapshot
from amqpspec.reports.pipeline.parquet import write_table
from amqpspec.reports.pipeline.schema import DIMENSIONS, GRAIN, LakeError, check_columns, fitted

_OF_A_JOURNAL = frozenset({"runs", "crashes"})

Rows = dict[str, list[dict[str, Any]]]
"""New rows by dimension."""


def merge(
    root: Path, snapshot: Snapshot, rows: Mapping[str, Iterable[Mapping[str, Any]]]
) -> dict[str, DimEntry]:
    """All dimensions merged with these rows; changed dimensions are written to files. Raises LakeError, OSError."""
    dims = dict(snapshot.dims)
    for name, new in rows.items():
        table = pa.Table.from_pylist(list(new), schema=DIMENSIONS[name])
        if table.num_rows:
            merged = _merged(name, [*_remaining(name, _old(root, snapshot, name), table), table])
            dims[name] = DimEntry(*write_table(root, f"dims/{name}", merged))
    return dims


def dimension_rows(root: Path, snapshot: Snapshot, name: str) -> list[dict[str, Any]]:
    """A dimension as rows; for small dimensions. Raises LakeError."""
    tables = _old(root, snapshot, name)
    return list(tables[0].to_pylist()) if tables else []


def _old(root: Path, snapshot: Snapshot, name: str) -> list[pa.Table]:
    if name not in snapshot.dims:
        return []
    path = root / snapshot.dims[name].path
    try:
        table = pq.read_table(path, partitioning=None)
    except (OSError, ValueError, OverflowError, pa.ArrowException) as error:
        raise LakeError(f"{path}: expected the dimension {name}, actual: {error}") from error
    check_columns(path, table.schema, DIMENSIONS[name])
    whole = [fitted(batch, DIMENSIONS[name]) for batch in table.to_batches()]
    return [pa.Table.from_batches(whole, DIMENSIONS[name])]


def _remaining(name: str, old: Sequence[pa.Table], new: pa.Table) -> list[pa.Table]:
    """The old rows that stay when the new ones are added."""
    if name not in _OF_A_JOURNAL:
        return list(old)
    renewed = pc.unique(new.column("run_key"))
    return [table.filter(pc.invert(pc.is_in(table.column("run_key"), renewed))) for table in old]


def _merged(name: str, tables: Sequence[pa.Table]) -> pa.Table:
    table = pa.concat_tables(tables)
    grain = GRAIN[name]
    last = ("seen_at",) if "seen_at" in table.column_names else ()
    rest = [column for column in table.column_names if column not in (*grain, *last)]
    order = [(column, "ascending") for column in (*grain, *last, *rest)]
    table = table.take(pc.sort_indices(table, sort_keys=order)).combine_chunks()
    table = table.filter(_last_of_each(table, grain))
    return _newest_links(table) if name == "case_requirements" else table


def _last_of_each(table: pa.Table, grain: Sequence[str]) -> pa.Array:
    differs = pa.array([False] * (table.num_rows - 1), pa.bool_())
    for column in grain:
        values = table.column(column).combine_chunks()
        differs = pc.or_(differs, pc.not_equal(values[:-1], values[1:]))
    return pa.concat_arrays([differs, pa.array([True])])


def _newest_links(table: pa.Table) -> pa.Table:
    """Remove links to requirements that a case no longer covers."""
    newest: dict[int, Any] = {}
    pairs = list(zip(table.column("case_key").to_pylist(), table.column("seen_at").to_pylist(), strict=True))
    for case, seen in pairs:
        newest[case] = max(seen, newest.get(case, seen))
    return table.filter(pa.array([newest[case] == seen for case, seen in pairs], pa.bool_()))
