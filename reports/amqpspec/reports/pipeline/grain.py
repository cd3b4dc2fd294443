"""Checks that a table is unique by its grain.

Knows: grains, keys, the message for a violation. Must not know: which tables exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from amqpspec.reports.pipeline.schema import LakeError


class GrainError(LakeError):
    """Two rows have the same key, or a key has a null; the message names table, grain and an example."""


def complaint(what: str, grain: Sequence[str], example: Sequence[object]) -> str:
    """The message for a violated grain."""
    key = ", ".join(f"{name}={value!r}" for name, value in zip(grain, example, strict=True))
    return f"{what}: expected one row for each {', '.join(grain)}, actual: more, or a key that is not whole, at {key}"


def as_schema(table: DataFrame, schema: str) -> DataFrame:
    """The columns of a DDL schema, with its order and types."""
    # As text: in Python, each step of building a column is a call of the JVM.
    return table.selectExpr(
        *(f"CAST(`{name}` AS {kind}) AS `{name}`" for name, kind in columns_of(schema).items())
    )


def columns_of(schema: str) -> dict[str, str]:
    """Names and types of a DDL schema, in order."""
    return dict(part.strip().rsplit(" ", 1) for part in schema.split(","))
