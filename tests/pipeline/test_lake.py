"""Spark reads what the manifest names, with the columns that are written down."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import unix_micros

from amqpspec.record.observation import key
from amqpspec.reports.pipeline.build import build
from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.reports.pipeline.java import EngineError
from amqpspec.reports.pipeline.lake import dimension, observations, open_lake
from amqpspec.reports.pipeline.manifest import FileEntry, Snapshot, commit, read_snapshot
from amqpspec.reports.pipeline.schema import DIMENSIONS, FACTS, FACTS_DDL, GRAIN, LakeError
from amqpspec.reports.pipeline.session import engine_errors
from amqpspec.reports.pipeline.stream import take_in
from tests.pipeline.journals import CampaignFolder, case, finished, input_row
from tests.pipeline.lakes import CRAFTED, content, crafted, facts

pytestmark = pytest.mark.spark
TODAY = date(2026, 11, 21)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(100)
    campaign.finding()
    folders = [campaign.end(), finished(tmp_path / "run", [case("basic.qos"), case("channel.open.twice")])]
    ingest(folders, tmp_path / "lake", TODAY)
    return tmp_path / "lake"


def _counts(table: DataFrame, *columns: str) -> dict[tuple[str, ...], int]:
    return {tuple(map(str, row[:-1])): row["count"] for row in table.groupBy(*columns).count().collect()}


def test_facts_by_day_and_kind(spark: SparkSession, root: Path) -> None:
    table = observations(spark, open_lake(root))
    assert _counts(table, "dt", "kind") == {
        ("2026-11-20", "case"): 2, ("2026-11-20", "fuzz"): 60, ("2026-11-21", "fuzz"): 40,
    }  # fmt: skip
    chosen = observations(spark, open_lake(root), days=["2026-11-21"], kind="fuzz")
    assert _counts(chosen, "dt", "kind") == {("2026-11-21", "fuzz"): 40}


def test_spark_sees_the_same_rows_as_pyarrow(spark: SparkSession, root: Path) -> None:
    ours = {
        (row["input"], row["latency_us"], row["at_us"], row["edge"], row["sent_prefix"])
        for row in facts(root)
    }
    table = observations(spark, open_lake(root)).select(
        "input", "latency_us", unix_micros("at_us"), "edge", "sent_prefix"
    )
    theirs = {
        (row[0], row[1], datetime.fromtimestamp(row[2] // 1_000_000, UTC), row[3], row[4] and bytes(row[4]))
        for row in table.collect()
    }
    assert ours == theirs


def test_strangers_are_not_read(spark: SparkSession, root: Path) -> None:
    part = open_lake(root).parts()[0]
    (part.path.parent / "part-0000000000000000.parquet").write_bytes(part.path.read_bytes())
    (part.path.parent / "notes.parquet").write_text("no Parquet")
    assert observations(spark, open_lake(root)).count() == 102


def test_dimensions_have_their_columns_and_are_unique(spark: SparkSession, root: Path) -> None:
    lake = open_lake(root)
    for name, schema in DIMENSIONS.items():
        table = dimension(spark, lake, name)
        assert table.columns == schema.names
        assert table.count() == table.select(*GRAIN[name]).distinct().count() > 0


def test_a_lake_from_before_a_dimension_is_not_taken_for_one_without_it(root: Path) -> None:
    lake = open_lake(root)
    lake.check_dimensions()
    dims = {name: entry for name, entry in lake.snapshot.dims.items() if name != "edges"}
    with pytest.raises(LakeError, match=r"expected the dimension edges, .* pipeline ingest adds it"):
        replace(lake, snapshot=replace(lake.snapshot, dims=dims)).check_dimensions()


def test_an_empty_choice_has_the_columns(spark: SparkSession, root: Path) -> None:
    table = observations(spark, open_lake(root), days=["1999-01-01"])
    assert table.count() == 0 and table.columns == [*FACTS.names, "dt", "kind"]
    assert FACTS_DDL.count("`") == 2 * len(table.columns)


def test_a_column_that_old_files_lack_is_null(spark: SparkSession, root: Path) -> None:
    """A file of a build that did not know the last columns yet."""
    old = pa.schema([field for field in FACTS if field.name not in ("worker", "evidence", "detail")])
    row = input_row("fuzz-old", 1, datetime(2025, 1, 1, tzinfo=UTC))
    name = "observations/dt=2025-01-01/kind=fuzz/part-00000000000000aa.parquet"
    (root / name).parent.mkdir(parents=True)
    pq.write_table(
        pa.Table.from_pylist([{field.name: row[field.name] for field in old}], schema=old), root / name
    )
    before = read_snapshot(root)
    entry = FileEntry(1, (root / name).stat().st_size, ("old",))
    commit(
        root, before, Snapshot(files={**before.files, name: entry}, dims=before.dims, sources=before.sources)
    )

    [read] = observations(spark, open_lake(root), days=["2025-01-01"]).collect()
    assert (read["worker"], read["evidence"], read["detail"]) == (None, None, None)
    assert (read["run_key"], read["kind"]) == (key("fuzz-old"), "fuzz")


@pytest.mark.parametrize("octets", CRAFTED.values(), ids=CRAFTED)
def test_parquet_that_is_none_of_ours_is_named_by_a_build(
    octets: bytes, root: Path, spark: SparkSession
) -> None:
    path = crafted(root, octets)
    with pytest.raises((LakeError, EngineError)) as caught, engine_errors():
        build(spark, open_lake(root), root.parent / "marts")
    assert path.name in str(caught.value) and "\n" not in str(caught.value)
    assert not (root.parent / "marts").exists()


# --- the stream


def test_a_stream_takes_each_file_of_a_landing_folder_once(spark: SparkSession, tmp_path: Path) -> None:
    campaign = CampaignFolder(tmp_path / "campaign")
    campaign.batch(80)
    ingest([tmp_path / "campaign"], tmp_path / "landing", TODAY, landing=True)
    assert take_in(spark, tmp_path / "landing", tmp_path / "lake") == 80
    assert take_in(spark, tmp_path / "landing", tmp_path / "lake") == 0

    campaign.batch(20)
    campaign.finding()
    folders = [campaign.end(), finished(tmp_path / "run", [case("basic.qos")])]
    ingest(folders, tmp_path / "landing", TODAY, landing=True)
    assert take_in(spark, tmp_path / "landing", tmp_path / "lake") == 21

    landed, dims, _ = content(tmp_path / "lake")
    expected, expected_dims, _ = content(tmp_path / "landing")
    assert landed == expected and len(landed) == 101
    assert dims == expected_dims


def test_what_came_from_its_own_journal_is_not_streamed_again(spark: SparkSession, tmp_path: Path) -> None:
    here = finished(tmp_path / "here", [case("basic.qos")])
    there = finished(tmp_path / "there", [case("basic.qos")], started="2026-11-20T04:00:00Z")
    ingest([here, there], tmp_path / "landing", TODAY, landing=True)
    ingest([here], tmp_path / "lake", TODAY)
    assert take_in(spark, tmp_path / "landing", tmp_path / "lake") == 1
    assert facts(tmp_path / "lake") == facts(tmp_path / "landing")
    assert "was ingested by a stream" in ingest([there], tmp_path / "lake", TODAY).refused[0]


def test_a_stream_killed_before_its_commit_goes_on(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest([finished(tmp_path / "run", [case("basic.qos")])], tmp_path / "landing", TODAY, landing=True)
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr("amqpspec.reports.pipeline.stream.commit", _killed)
        take_in(spark, tmp_path / "landing", tmp_path / "lake")
    with pytest.raises(LakeError, match="no manifest"):
        open_lake(tmp_path / "lake")
    assert take_in(spark, tmp_path / "landing", tmp_path / "lake") == 1
    assert facts(tmp_path / "lake") == facts(tmp_path / "landing")


def _killed(*_: object) -> None:
    raise KeyboardInterrupt


def test_no_landing_folder_is_said(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(LakeError, match="expected a landing folder"):
        take_in(spark, tmp_path, tmp_path / "lake")


def test_a_run_under_way_does_not_land(tmp_path: Path) -> None:
    from tests.pipeline.journals import write_run

    done = ingest(
        [write_run(tmp_path / "run", [case("basic.qos")])], tmp_path / "landing", TODAY, landing=True
    )
    assert "one in progress" in done.refused[0]
