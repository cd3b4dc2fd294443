"""One session for all tests of the pipeline: local, two partitions a shuffle."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import session

FEW_PARTITIONS = {"spark.sql.shuffle.partitions": "2"}
"""A cluster's own choice is 200, for which a few hundred rows are too few."""
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""A JVM that lives for a test: to compile more than quickly would take half of its processor time."""


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    settings = {**FEW_PARTITIONS, "spark.driver.extraJavaOptions": SHORT_LIVED}
    made = session.spark("local[2]", memory="768m", record=False, settings=settings)
    yield made
    session.stop(made)
