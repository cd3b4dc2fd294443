"""The bench of the pipeline at tiny size: both sides say the same of rollups and marts; a difference is seen."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from bench.pipeline_sides import Ours, Theirs, differences
from bench.pipeline_sql import MART_SQL, ROLLUP_SQL
from reports.pipeline.lake import open_lake
from reports.pipeline.rollups import ROLLUPS
from reports.pipeline.synthetic import Nights
from reports.pipeline.synthetic_lake import write_lake
from reports.pipeline.tables import MARTS

NIGHTS = Nights(rows_a_day=30_000, days=7)


def test_both_sides_say_the_same_and_a_difference_is_seen(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path / "lake", NIGHTS)
    lake = open_lake(tmp_path / "lake")
    ours, theirs = Ours(spark, lake, tmp_path), Theirs(lake, tmp_path)
    for steps in (ours.rollups, ours.marts, theirs.rollups, theirs.marts):
        for make in steps().values():
            make()
    assert list(differences(ours, theirs)) == []
    for name in (*ROLLUP_SQL, *MART_SQL):
        assert pq.read_metadata(theirs.file(name)).num_rows > 0, f"{name} has nothing to compare"
    _double_first_row(theirs.file("findings"))
    (told,) = differences(ours, theirs)
    assert told.startswith("findings: expected the same rows, actual: 1 of DuckDB only, such as")


def _double_first_row(path: Path) -> None:
    rows = pq.read_table(path)
    pq.write_table(pa.concat_tables([rows, rows.slice(0, 1)]), path)


def test_every_rollup_and_mart_is_said_twice() -> None:
    assert list(ROLLUP_SQL) == [rollup.name for rollup in ROLLUPS]
    assert list(MART_SQL) == [mart.name for mart in MARTS]


def test_versions_are_in_the_order_of_releases() -> None:
    from bench.pipeline_sql import ORDER

    found = duckdb.execute(
        f"SELECT v FROM unnest(['4.0.1', '3.10', '4.0', '3.9', '4.0-rc.1']) AS t(v) ORDER BY {ORDER.format('v')}"
    ).fetchall()
    assert [version for (version,) in found] == ["3.9", "3.10", "4.0-rc.1", "4.0", "4.0.1"]


@pytest.mark.parametrize("name", sorted(ROLLUP_SQL))
def test_nothing_is_left_out_of_a_rollups_comparison(name: str) -> None:
    rollup = next(rollup for rollup in ROLLUPS if rollup.name == name)
    assert all(part.split()[0] in ROLLUP_SQL[name] for part in rollup.schema.split(", "))
