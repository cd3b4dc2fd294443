"""Plans of marts: the days of a rollup are read and shuffled as rarely as they can be."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from amqpspec.reports.pipeline import build as building
from amqpspec.reports.pipeline.lake import open_lake
from amqpspec.reports.pipeline.rollups.registry import ROLLUPS
from amqpspec.reports.pipeline.rollups.store import open_store
from amqpspec.reports.pipeline.schema import DIMENSIONS
from amqpspec.reports.pipeline.tables import (
    differential,
    exploration,
    findings,
    flakiness,
    regressions,
    scores,
)
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import HISTORIES, NEWEST_RUNS, Inputs, Mart
from amqpspec.reports.pipeline.tables.registry import MARTS, SHARED
from amqpspec.reports.pipeline.tasks import Tasks, tasks_of

DAY = date(2026, 11, 4)


@pytest.fixture
def inputs(spark: SparkSession, lake: Path, marts: Path, tmp_path: Path) -> Inputs:
    """Rollups, dimensions, and what is made once, which is small: as files, as a build has them."""
    # A plan names the folder that it reads, however long its path is.
    spark.conf.set("spark.sql.maxMetadataStringLength", 10_000)
    return inputs_of(Tasks(spark, spark), lake, tmp_path)


@pytest.fixture
def few(spark: SparkSession, lake: Path, marts: Path, tmp_path: Path) -> Inputs:
    """The same, as a build has them of few rows."""
    return inputs_of(tasks_of(spark), lake, tmp_path)


def inputs_of(tasks: Tasks, lake: Path, place: Path) -> Inputs:
    with open_store(open_lake(lake)) as store:
        reader = building.Reader(tasks, store, place)
        for name in SHARED:
            building.make_shared(reader, name, DAY)
        return reader.read([*(rollup.name for rollup in ROLLUPS), *DIMENSIONS, *SHARED])


def plan_of(table: DataFrame) -> str:
    return str(table._jdf.queryExecution().executedPlan().toString())


def reads(plan: str, rollup: str) -> int:
    return sum("FileScan" in line and f"/rollups/{rollup}/" in line for line in plan.splitlines())


def test_runs_of_cases_are_shuffled_once_by_the_case(spark: SparkSession, inputs: Inputs) -> None:
    bare = {name: table for name, table in inputs.items() if name not in (HISTORIES, NEWEST_RUNS)}
    plan = plan_of(histories(bare, DAY))
    assert plan.count("hashpartitioning(") == 1 and "hashpartitioning(case_key" in plan
    assert plan.count(" Sort [") == 1, "of the window, in which they are also aggregated"
    assert "SortMergeJoin" not in plan and reads(plan, "case_days") == 1


@pytest.mark.parametrize("mart", [flakiness.MART, regressions.MART], ids=lambda mart: mart.name)
def test_what_is_made_of_histories_shuffles_nothing(inputs: Inputs, mart: Mart) -> None:
    plan = plan_of(mart.make(inputs, DAY))
    assert "hashpartitioning(" not in plan and "/rollups/" not in plan
    assert plan.count("FileScan") == 1


def test_scores_join_names_without_a_shuffle(inputs: Inputs) -> None:
    plan = plan_of(scores.MART.make(inputs, DAY))
    assert "SortMergeJoin" not in plan and reads(plan, "case_days") == 1


def test_days_of_edges_are_read_for_their_values_and_for_their_families(inputs: Inputs) -> None:
    plan = plan_of(exploration.MART.make(inputs, DAY))
    assert (reads(plan, "edge_days"), reads(plan, "case_days")) == (2, 1)
    assert "SortMergeJoin" not in plan


def test_reactions_are_shuffled_once_by_the_input(inputs: Inputs) -> None:
    plan = plan_of(differential.MART.make(inputs, DAY))
    assert plan.count("hashpartitioning(input_key#") == 2, "of all rows, and of those of the samples"
    assert plan.count(f", {differential.FEWEST}), REPARTITION_BY_NUM") == 1
    assert reads(plan, "reaction_days") == 2 and "SortMergeJoin" not in plan


def test_reactions_of_more_files_are_shuffled_into_more_partitions() -> None:
    assert [differential.partitions_for(files) for files in (0, 4, 7, 32, 400)] == [4, 4, 7, 32, 32]


@pytest.mark.parametrize("mart", MARTS, ids=lambda mart: mart.name)
def test_few_rows_are_planned_for_one_task(few: Inputs, mart: Mart) -> None:
    plan = plan_of(mart.make(few, DAY))
    assert "AdaptiveSparkPlan" not in plan and "Broadcast" not in plan
    assert set(re.findall(r"Exchange .*, (\d+)\)", plan)) <= {"1"}
    # Spark moves the anti join of findings below the one partition of its rows.
    assert plan.count("Exchange") == (mart is findings.MART)
