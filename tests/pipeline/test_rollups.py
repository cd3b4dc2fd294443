"""Rollups: what they count, that Spark does it by hash and reads few columns, and when days are written again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from amqpspec.reports.pipeline.grain import GrainError
from amqpspec.reports.pipeline.lake import observations, open_lake
from amqpspec.reports.pipeline.rollups import (
    case_days,
    crash_days,
    edge_days,
    reaction_days,
)
from amqpspec.reports.pipeline.rollups import store as store_module
from amqpspec.reports.pipeline.rollups.registry import ROLLUPS
from amqpspec.reports.pipeline.rollups.rollup import Rollup
from amqpspec.reports.pipeline.rollups.store import open_store
from amqpspec.reports.pipeline.schema import FACTS_DDL, LakeError
from bench.synthetic.lake import write_lake
from bench.synthetic.observations import Nights
from tests.pipeline.tables import code, frame, us

DAY, LATER = date(2026, 11, 1), date(2026, 11, 2)
SMALL = Nights(rows_a_day=600, days=3)


def facts(spark: SparkSession, *rows: Mapping[str, Any]) -> DataFrame:
    common = {"run_key": 1, "case_key": 2, "crash_key": 0, "attempt": 1, "verdict": code("pass")}
    return frame(spark, FACTS_DDL, [{**common, **row} for row in rows])


def at(day: date, hour: int, **values: Any) -> dict[str, Any]:
    return {"dt": day, "at_us": datetime(day.year, day.month, day.day, hour, tzinfo=UTC), **values}


def rows_of(table: DataFrame, grain: tuple[str, ...]) -> list[dict[str, Any]]:
    return sorted(
        (row.asDict() for row in table.collect()), key=lambda row: [str(row[name]) for name in grain]
    )


def test_attempts_of_a_case_become_one_row_a_run_and_day(spark: SparkSession) -> None:
    table = case_days.rollup(
        facts(
            spark,
            at(DAY, 2, verdict=code("observed"), latency_us=5),
            at(DAY, 3, verdict=code("fail"), baseline="known", attempt=2, latency_us=7),
            at(LATER, 1, verdict=code("pass")),
            at(DAY, 4, verdict=code("error"), baseline="unexpected", run_key=9),
        )
    )
    first, other, later = rows_of(table, case_days.GRAIN)
    assert (first["attempts"], first["green"], first["known"], first["unexpected"]) == (2, 1, 1, 0)
    assert (first["best"], first["worst"], first["latency_us"]) == (code("observed"), code("fail"), 12)
    assert (first["first_us"], first["last_us"]) == (us(DAY, 2), us(DAY, 3))
    assert (other["run_key"], other["unexpected"], other["green"]) == (9, 1, 0)
    assert (later["dt"], later["latency_us"]) == (LATER, None)


def test_only_blamed_inputs_count_for_a_crash(spark: SparkSession) -> None:
    table = crash_days.rollup(
        facts(
            spark,
            at(DAY, 2, crash_key=7, sent_octets=30),
            at(DAY, 3, crash_key=7, sent_octets=20),
            at(DAY, 3, sent_octets=1),
        )
    )
    (row,) = rows_of(table, crash_days.GRAIN)
    assert (row["crash_key"], row["inputs"], row["smallest_octets"]) == (7, 2, 20)


def test_an_edge_has_the_families_that_went_along_it(spark: SparkSession) -> None:
    edge = {"edge": 5, "state": "open", "production": None, "signature": 3}
    table = edge_days.rollup(
        facts(
            spark,
            at(DAY, 2, family="C01", **edge),
            at(DAY, 3, family="C14", **edge, verdict=code("fail")),
            at(DAY, 4, family="random", **edge),
        )
    )
    (row,) = rows_of(table, edge_days.GRAIN)
    assert (row["edge"], row["inputs"], row["worst"]) == (5, 3, code("fail"))
    assert row["families"] == 1 << 1 | 1 << 14 | 1 << edge_days.RANDOM_BIT


@pytest.mark.parametrize(
    ("family", "bit"),
    [("C01", 1), ("C09", 9), ("C14", 14), ("C15", 15), ("C62", 62), ("random", 0), (None, 0)],
)
def test_each_family_has_its_bit(spark: SparkSession, family: str | None, bit: int) -> None:
    table = edge_days.rollup(facts(spark, at(DAY, 2, edge=5, family=family)))
    assert [row["families"] for row in table.collect()] == [1 << bit]


def test_an_input_that_was_sent_twice_keeps_both_reactions(spark: SparkSession) -> None:
    table = reaction_days.rollup(
        facts(
            spark,
            at(DAY, 2, input_key=8, signature=-4),
            at(DAY, 3, input_key=8, signature=6, baseline="known"),
            at(DAY, 2, signature=6),
        )
    )
    case, sent = rows_of(table, reaction_days.GRAIN)
    assert (case["input_key"], case["known"]) == (2, 0)
    assert (sent["signature_low"], sent["signature_high"], sent["known"]) == (-4, 6, 1)


@pytest.mark.parametrize("rollup", ROLLUPS, ids=lambda rollup: rollup.name)
def test_a_rollup_aggregates_by_hash_and_reads_what_it_needs(
    spark: SparkSession, rollup: Rollup, tmp_path: Path
) -> None:
    write_lake(tmp_path, SMALL)
    table = rollup.make(observations(spark, open_lake(tmp_path), kind=rollup.kind))
    plan = table._sc._jvm.PythonSQLUtils.explainString(table._jdf.queryExecution(), "formatted")
    assert "HashAggregate" in plan
    assert "SortAggregate" not in plan and "ObjectHashAggregate" not in plan and "Sort " not in plan
    read = plan.split("ReadSchema: struct<")[1].split(">")[0]
    columns = {part.split(":")[0] for part in read.split(",")}
    assert columns and not columns & {
        "input",
        "sent_prefix",
        "received_prefix",
        "evidence",
        "detail",
        "case",
        "run",
    }
    assert len(columns) <= 8
    assert table.dtypes == frame(spark, rollup.schema, []).dtypes


def test_reactions_are_shuffled_once_and_aggregated_once(spark: SparkSession) -> None:
    table = reaction_days.spread(facts(spark, at(DAY, 2)), 3)
    plan = table._jdf.queryExecution().executedPlan().toString()
    assert plan.count("HashAggregate(") == 1
    assert plan.count("hashpartitioning(") == 1


@pytest.mark.parametrize("day", ["", str(DAY)])
def test_what_one_task_can_hold_is_not_shuffled(spark: SparkSession, day: str) -> None:
    table = reaction_days.spread(facts(spark, at(DAY, 2)), 1, day)
    plan = table._jdf.queryExecution().executedPlan().toString()
    assert plan.count("HashAggregate(") == 1
    assert "Exchange" not in plan and "hashpartitioning(" not in plan
    keys = plan.split("keys=[")[1].split("]")[0]
    assert keys.count(",") == (1 if day else 2)


def test_days_that_are_made_by_several_tasks_are_as_by_one(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def made(most: int) -> list[dict[str, Any]]:
        monkeypatch.setattr(store_module, "TASK_ROWS", most)
        monkeypatch.setattr(store_module, "PARTITION_ROWS", most)
        write_lake(tmp_path / str(most), SMALL)
        with open_store(open_lake(tmp_path / str(most))) as store:
            assert store.refresh(spark, reaction_days.ROLLUP).days == 3
            return rows_of(store.read(spark, reaction_days.ROLLUP), reaction_days.GRAIN)

    whole = made(100_000)
    assert whole and made(700) == whole, "a day each"
    assert made(200) == whole, "days that are shuffled"


def test_only_days_whose_facts_changed_are_written_again(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, SMALL)
    lake = open_lake(tmp_path)
    with open_store(lake) as store:
        first = store.refresh(spark, case_days.ROLLUP)
        before = {row["dt"]: row for row in _days(store.read(spark, case_days.ROLLUP))}
    assert first.days == 3 and len(first.rewritten) == 3 and sum(row["n"] for row in before.values()) == 1800
    files = lake.snapshot.files
    changed = {name: replace(e, pieces=("x",)) if "11-02" in name else e for name, e in files.items()}
    again = replace(lake, snapshot=replace(lake.snapshot, files=changed))
    with open_store(again) as store:
        assert store.refresh(spark, case_days.ROLLUP).rewritten == ("2026-11-02",)
        assert {row["dt"]: row for row in _days(store.read(spark, case_days.ROLLUP))} == before
        assert store.refresh(spark, replace(case_days.ROLLUP, version=2)).rewritten == tuple(again.days())
    less = {name: entry for name, entry in files.items() if "11-03" not in name}
    with open_store(replace(lake, snapshot=replace(lake.snapshot, files=less))) as store:
        assert store.refresh(spark, case_days.ROLLUP).days == 2
    assert not list((tmp_path / "rollups").rglob("dt=2026-11-03/*.parquet"))


def _days(table: DataFrame) -> list[Any]:
    counted = table.groupBy("dt").agg({"attempts": "sum"}).withColumnRenamed("sum(attempts)", "n")
    return list(counted.collect())


def test_a_lost_file_or_manifest_is_made_again(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, replace(SMALL, days=1))
    lake = open_lake(tmp_path)
    with open_store(lake) as store:
        store.refresh(spark, crash_days.ROLLUP)
        store.refresh(spark, case_days.ROLLUP)
    next((tmp_path / "rollups/case_days").rglob("*.parquet")).unlink()
    with open_store(lake) as store:
        assert store.refresh(spark, case_days.ROLLUP).rewritten == ("2026-11-01",)
        assert store.refresh(spark, crash_days.ROLLUP).rewritten == ()
    manifest = tmp_path / "rollups/manifest.json"
    manifest.write_text(manifest.read_text()[:50])
    with open_store(lake) as store:
        assert store.refresh(spark, case_days.ROLLUP).rewritten == ("2026-11-01",)
    json.loads(manifest.read_text())


def test_a_rollup_that_breaks_its_grain_is_not_kept(spark: SparkSession, tmp_path: Path) -> None:
    write_lake(tmp_path, replace(SMALL, days=1))
    broken = replace(edge_days.ROLLUP, grain=("dt", "run_key"), keyed=False)
    with (
        open_store(open_lake(tmp_path)) as store,
        pytest.raises(GrainError, match="edge_days: expected one row for"),
    ):
        store.refresh(spark, broken)
    assert not list((tmp_path / "rollups").rglob("*.parquet"))


def test_two_builds_at_once_are_refused(tmp_path: Path) -> None:
    write_lake(tmp_path, replace(SMALL, days=1))
    with (
        open_store(open_lake(tmp_path)),
        pytest.raises(LakeError, match="one is running"),
        open_store(open_lake(tmp_path)),
    ):
        pass


def test_days_of_one_task_each_do_not_wait_for_each_other(spark: SparkSession) -> None:
    """Spark may take a union of single tasks for a single task."""
    day = spark.range(5).coalesce(1)
    assert day.unionAll(day).rdd.getNumPartitions() == 2
