"""What a table is unique by, and that it is.

Knows: grains, keys, one line for a grain that does not hold. Must not know: which tables there are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from reports.pipeline.schema import LakeError


class GrainError(LakeError):
    """Two rows have the same key, or a key is not whole; one line names table, grain and an example."""


def check_grain(what: str, table: DataFrame, grain: Sequence[str]) -> DataFrame:
    """The table, if it is unique by its grain and no column of it is null; raises GrainError."""
    holes = F.when(F.greatest(*(F.col(name).isNull() for name in grain)), F.lit(1))
    counted = table.groupBy(*grain).agg(F.sum(F.lit(1)).alias("rows"), F.count(holes).alias("holes"))
    bad = counted.where("rows > 1 OR holes > 0").limit(1).collect()
    if bad:
        example = ", ".join(f"{name}={bad[0][name]!r}" for name in grain)
        raise GrainError(f"{what}: expected one row for each {', '.join(grain)}, actual: {bad[0]['rows']} of {example}")
    return table


def fitted(table: DataFrame, schema: str) -> DataFrame:
    """The columns of a DDL schema, in its order and of its types."""
    columns = (part.strip().rsplit(" ", 1) for part in schema.split(","))
    return table.select(*(F.col(name).cast(kind).alias(name) for name, kind in columns))
