"""One session for all tests of the pipeline: local, two partitions a shuffle; a synthetic lake and its marts."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import session
from amqpspec.reports.pipeline.build import build
from bench.synthetic.lake import write_lake
from bench.synthetic.observations import Nights

FEW_PARTITIONS = {"spark.sql.shuffle.partitions": "2"}
"""A cluster's own choice is 200, for which a few hundred rows are too few."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {**FEW_PARTITIONS, "spark.driver.extraJavaOptions": session.SHORT_LIVED}
    made = session.spark("local[2]", memory="768m", record=False, settings=settings)
    yield made
    session.stop(made)


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("lake")
    write_lake(root, Nights(rows_a_day=12_000, days=4))
    return root


@pytest.fixture(scope="session")
def marts(spark: SparkSession, lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("out") / "marts"
    made = build(spark, lake, out)
    assert made.as_of == date(2026, 11, 4)
    assert all(len(rollup.rewritten) == 4 for rollup in made.rollups.values())
    return out
