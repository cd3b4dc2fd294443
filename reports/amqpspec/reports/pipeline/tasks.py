"""Chooses the session: one task for few rows, several for many.

Knows: sessions, the number of rows of rollups. Must not know: how marts are computed.

Few rows take longer to plan than to compute. A second session plans them for one task, as one job: without
broadcasts, each of which is another job, without shuffles, and without adaptive execution, which changes the plan after
each stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as fn

from amqpspec.reports.pipeline.session import ALWAYS

FEW_ROWS = 1_000_000
"""One task sorts this many rows within half a second."""
_PARTITIONS = "spark.sql.shuffle.partitions"
_ONE_TASK = {
    _PARTITIONS: "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    # A join is estimated to be as large as the product of both sides, and would be shuffled above a limit.
    "spark.sql.sources.fileCompressionFactor": "1e-9",
}


@dataclass(frozen=True, slots=True)
class Tasks:
    """Two sessions of one engine: for many rows, and for few."""

    many: SparkSession
    few: SparkSession

    def session(self, rows: int) -> SparkSession:
        """The faster session for this number of rows."""
        return self.few if rows <= FEW_ROWS else self.many


def tasks_of(spark: SparkSession) -> Tasks:
    """The session, and a second one that plans for one task."""
    few = spark.newSession()
    for name, value in {**ALWAYS, **_ONE_TASK}.items():
        few.conf.set(name, value)
    return Tasks(spark, few)


def is_one_task(rows: DataFrame) -> bool:
    """Whether the session of these rows plans for one task."""
    return str(rows.sparkSession.conf.get(_PARTITIONS)) == "1"


def as_planned(rows: DataFrame) -> DataFrame:
    """Rows as in their file, in one partition if the session plans for one task."""
    return rows.coalesce(1) if is_one_task(rows) else rows


def with_small(rows: DataFrame, small: DataFrame, on: str | Sequence[str], how: str = "inner") -> DataFrame:
    """Rows joined with those of a table that fits into memory; the rows are neither shuffled nor sorted."""
    keys = [on] if isinstance(on, str) else list(on)
    if not is_one_task(rows):
        return rows.join(fn.broadcast(small), keys, how)
    # Spark does not recognise the result of an inner join as one partition, and would shuffle it for the next join.
    return as_planned(rows.join(small.hint("shuffle_hash"), keys, how))


def by_key(rows: DataFrame, key: str, partitions: int | None = None) -> DataFrame:
    """Rows shuffled by a key; with one task, they are together already."""
    if is_one_task(rows):
        return rows
    return rows.repartition(key) if partitions is None else rows.repartition(partitions, key)
