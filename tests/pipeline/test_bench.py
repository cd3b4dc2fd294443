"""The bench of the pipeline at tiny size: both sides say the same of rollups and marts; a difference is seen."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import session
from amqpspec.reports.pipeline.grain import columns_of
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.rollups.registry import ROLLUPS
from amqpspec.reports.pipeline.tables.registry import MARTS
from bench import pipeline
from bench.pipeline import measure, rows
from bench.pipeline_sides import Ours, Theirs, differences
from bench.pipeline_spent import Spent, best, timed, total
from bench.pipeline_sql import MART_SQL, ORDER, ROLLUP_SQL
from bench.row import Row
from bench.synthetic.lake import write_lake
from bench.synthetic.observations import Nights

NIGHTS = Nights(rows_a_day=30_000, days=4)


def test_both_sides_say_the_same_and_a_difference_is_seen(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_lake(tmp_path / "lake", NIGHTS)
    monkeypatch.setattr(session, "session", lambda rows: nullcontext(spark))
    told = {row.name for row in measure(tmp_path / "lake", 4, rounds=1)}
    for name in (*(f"rollup 4 M: {name}" for name in ROLLUP_SQL), "rollups 4 M: all", "marts 4 M: all"):
        assert {f"{name}, {when}" for when in ("cold", "warm", "warm, CPU")} <= told
    lake = open_lake(tmp_path / "lake")
    ours, theirs = Ours(spark, lake, tmp_path), Theirs(lake, tmp_path)
    for name in (*ROLLUP_SQL, *MART_SQL):
        assert pq.read_metadata(theirs.file(name)).num_rows > 0, f"{name} has nothing to compare"
    _double_first_row(theirs.file("findings"))
    (told_of,) = differences(ours, theirs)
    assert told_of.startswith("findings: expected the same rows, actual: 1 of DuckDB only, such as")


def _double_first_row(path: Path) -> None:
    table = pq.read_table(path)
    pq.write_table(pa.concat_tables([table, table.slice(0, 1)]), path)


def test_every_rollup_and_mart_is_said_twice() -> None:
    assert list(ROLLUP_SQL) == [rollup.name for rollup in ROLLUPS]
    assert list(MART_SQL) == [mart.name for mart in MARTS]


def test_versions_are_in_the_order_of_releases() -> None:
    found = duckdb.execute(
        f"SELECT v FROM unnest(['4.0.1', '3.10', '4.0', '3.9', '4.0-rc.1']) AS t(v) ORDER BY {ORDER.format('v')}"
    ).fetchall()
    assert [version for (version,) in found] == ["3.9", "3.10", "4.0-rc.1", "4.0", "4.0.1"]


@pytest.mark.parametrize("name", sorted(ROLLUP_SQL))
def test_nothing_is_left_out_of_a_rollups_comparison(name: str) -> None:
    rollup = next(rollup for rollup in ROLLUPS if rollup.name == name)
    assert all(column in ROLLUP_SQL[name] for column in columns_of(rollup.schema))


def test_of_two_rounds_the_quicker_counts_with_its_own_cpu() -> None:
    slow, quick = {"a": Spent(2.0, 1.0), "b": Spent(1.0, 9.0)}, {"a": Spent(1.0, 3.0), "b": Spent(2.0, 2.0)}
    assert best(slow, quick) == {"a": Spent(1.0, 3.0), "b": Spent(1.0, 9.0)}
    assert total(best(slow, quick)) == Spent(2.0, 12.0)


def test_what_took_no_tick_of_the_clock_has_a_rate_all_the_same() -> None:
    assert Spent(2.0, 4.0).rates(8) == (4.0, 2.0)
    assert Spent(0.0, 0.0).rates(8) == (800.0, 800.0)


def test_cpu_of_children_that_ended_counts() -> None:
    busy = "n = 0\nfor _ in range(3_000_000): n += 1"
    spent = timed(lambda: subprocess.run([sys.executable, "-c", busy], check=True))
    assert spent.cpu_s > 0


def test_a_bench_without_enough_disk_ends_with_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda place: SimpleNamespace(free=1 << 20))
    with pytest.raises(SystemExit, match="expected 1200 MiB of free disk, actual: 1; TMPDIR names another"):
        next(rows((2,)))


def test_a_bench_gives_growth_ingest_and_a_week_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Sizes and builds are stood in for; what is around them is not."""

    def child(lake: Path, size: int) -> list[str]:
        told = Row(f"rollups {size} M: all, warm", 3.0 * size, 1.0, 3.0, "s")
        of_cpu = Row(f"rollups {size} M: all, warm, CPU", 4.0 * size * size, 1.0, 4.0, "s of CPU")
        assert open_lake(lake).snapshot.files
        return [told.line(), of_cpu.line()]

    monkeypatch.setattr(pipeline, "_child", child)
    monkeypatch.setattr(pipeline, "_run", lambda command: "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    found = {row.name: row for row in rows((2, 4), unit=2000, nights=1)}
    growth = found["rollups: a million rows of 4 M beside one of 2 M"]
    assert (growth.ours, growth.theirs, growth.ratio) == (3.0, 3.0, 1.0)
    assert found["rollups: a million rows of 4 M beside one of 2 M, CPU"].ratio == 2.0
    assert found["ingest"].unit == "rows/s" and found["ingest"].ours > 0
    assert found["build of 1 x 1 M, cold"].theirs == 30
    assert list(tmp_path.iterdir()) == []
