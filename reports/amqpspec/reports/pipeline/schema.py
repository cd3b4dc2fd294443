"""The columns of the lake: facts in Parquet and dimensions, both as Arrow schema and as Spark DDL.

Knows: columns, types, versions, which columns use dictionaries. Must not know: files, Spark sessions. Columns are
only added, at the end and nullable; SCHEMA increases with each addition, and old files read as null.
"""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from amqpspec.record import observation
from amqpspec.reports.load import ReportError

SCHEMA = 3
"""Of the lake: its layout, its facts and its dimensions."""

KINDS = (observation.CASE, observation.FUZZ)

_LEFT_OUT = frozenset({"kind", "reaction", "crash"})
"""Kind is a partition; the texts of reactions and crashes are stored once each, in their dimensions."""


class LakeError(ReportError):
    """The lake, or the data to ingest, is not as expected; the message is one line that names file and column."""


def _plain(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


OBSERVATION = pa.schema([pa.field(name, _plain(kind)) for name, kind, _ in observation.COLUMNS])
"""An observation during ingest: all columns, names as plain text."""

FACTS = pa.schema([field for field in OBSERVATION if field.name not in _LEFT_OUT])
"""A fact as stored in Parquet."""

FEW_VALUES: tuple[str, ...] = (
    "run",
    *(
        name
        for name, kind, _ in observation.COLUMNS
        if pa.types.is_dictionary(kind) and name not in _LEFT_OUT
    ),
)
"""Columns with dictionaries; ids, octets and hashes have none."""

_TIME = pa.timestamp("us", tz="UTC")
_TEXT, _INT, _YES = pa.string(), pa.int64(), pa.bool_()


def _table(*columns: tuple[str, pa.DataType]) -> pa.Schema:
    return pa.schema([pa.field(name, kind) for name, kind in columns])


DIMENSIONS: Mapping[str, pa.Schema] = {
    # One row for each run or campaign, with everything that all its observations share.
    "runs": _table(
        ("run_key", _INT), ("run", _TEXT), ("kind", _TEXT), ("target_key", _INT), ("target", _TEXT), ("product", _TEXT),
        ("target_version", _TEXT), ("dialect", _TEXT), ("suite_version", _TEXT), ("grammar", _TEXT),
        ("started_at", _TIME), ("ended_at", _TIME), ("partial", _YES), ("strict", _YES), ("seed", _INT),
        ("shard", _TEXT), ("command", _TEXT), ("platform", _TEXT), ("note", _TEXT), ("folder", _TEXT),
        ("seen_at", _TIME),
    ),
    "targets": _table(
        ("target_key", _INT), ("target", _TEXT), ("product", _TEXT), ("target_version", _TEXT), ("dialect", _TEXT),
        ("profile", _TEXT), ("url", _TEXT), ("announced", _TEXT), ("seen_at", _TIME),
    ),
    "cases": _table(
        ("case_key", _INT), ("dialect", _TEXT), ("case", _TEXT), ("suite", _TEXT), ("title", _TEXT), ("level", _TEXT),
        ("suite_version", _TEXT), ("seen_at", _TIME),
    ),
    "requirements": _table(
        ("requirement_key", _INT), ("dialect", _TEXT), ("requirement", _TEXT), ("level", _TEXT), ("binds", _TEXT),
        ("section", _TEXT), ("says", _TEXT), ("reading", _TEXT), ("same_as", _TEXT), ("source", _TEXT),
        ("excluded", _TEXT), ("seen_at", _TIME),
    ),
    # Which case covers which requirement, according to the newest run with that case.
    "case_requirements": _table(
        ("case_key", _INT), ("requirement_key", _INT), ("dialect", _TEXT), ("case", _TEXT), ("requirement", _TEXT),
        ("seen_at", _TIME),
    ),
    "signatures": _table(("signature", _INT), ("reaction", _TEXT)),
    # The parts of an edge's key; ``signature`` is that of the reaction.
    "edges": _table(
        ("edge", _INT), ("dialect", _TEXT), ("state", _TEXT), ("production", _TEXT), ("signature", _INT),
    ),
    # One row for each finding of a campaign.
    "crashes": _table(
        ("crash_key", _INT), ("run_key", _INT), ("crash", _TEXT), ("oracle", _TEXT), ("status", _TEXT), ("top", _TEXT),
        ("detail", _TEXT), ("dialect", _TEXT), ("family", _TEXT), ("state", _TEXT), ("input", _TEXT),
        ("words", _TEXT), ("requirement", _TEXT), ("input_octets", _INT), ("replay", _TEXT), ("folder", _TEXT),
        ("found_after_ms", _INT), ("seen_at", _TIME),
    ),
}  # fmt: skip

GRAIN: Mapping[str, tuple[str, ...]] = {
    "runs": ("run_key",),
    "targets": ("target_key",),
    "cases": ("case_key",),
    "requirements": ("requirement_key",),
    "case_requirements": ("case_key", "requirement_key"),
    "signatures": ("signature",),
    "edges": ("edge",),
    "crashes": ("crash_key", "run_key"),
}
"""The key of each dimension."""

_DDL = {
    pa.string(): "STRING", pa.int64(): "BIGINT", pa.int32(): "INT", pa.int16(): "SMALLINT", pa.int8(): "TINYINT",
    pa.binary(): "BINARY", pa.bool_(): "BOOLEAN", _TIME: "TIMESTAMP",
}  # fmt: skip


def ddl(schema: pa.Schema) -> str:
    """The schema as Spark writes it."""
    return ", ".join(f"`{field.name}` {_DDL[field.type]}" for field in schema)


FACTS_DDL = f"{ddl(FACTS)}, `dt` DATE, `kind` STRING"
"""The columns of ``lake.observations``: the facts, then the two partition columns."""


def check_columns(where: object, schema: pa.Schema, expected: pa.Schema = OBSERVATION) -> None:
    """Check that each column is known and has its type; raises LakeError with file and column.

    Missing columns read as null.
    """
    for field in schema:
        place = expected.get_field_index(field.name)
        if place < 0:
            raise LakeError(
                f"{where}: column {field.name!r}: expected one of schema {SCHEMA}, actual: unknown"
            )
        if _plain(field.type) != expected.field(place).type:
            raise LakeError(
                f"{where}: column {field.name!r}: expected {expected.field(place).type}, actual {_plain(field.type)}"
            )


def fitted(batch: pa.RecordBatch, expected: pa.Schema = OBSERVATION) -> pa.RecordBatch:
    """The batch with all columns in order: without dictionaries, missing columns null."""
    columns = []
    for field in expected:
        place = batch.schema.get_field_index(field.name)
        column = pa.nulls(batch.num_rows, field.type) if place < 0 else batch.column(place)
        columns.append(column.cast(field.type) if column.type != field.type else column)
    return pa.record_batch(columns, schema=expected)
