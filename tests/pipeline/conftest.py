"""One session for all tests of the pipeline: local, two partitions a shuffle."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import session


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    made = session.spark(
        "local[2]", memory="768m", record=False, settings={"spark.sql.shuffle.partitions": "2"}
    )
    yield made
    session.stop(made)
