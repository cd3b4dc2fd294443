"""A standalone cluster of Spark on this machine, with workers of one core: what a second one saves.

Knows: Spark's master and workers as processes, sessions on them. Must not know: which figures are given.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import session
from amqpspec.reports.pipeline.java import find_java, prepare
from amqpspec.reports.pipeline.lake import Lake
from amqpspec.reports.pipeline.session import SHORT_LIVED
from bench.pipeline_sides import Ours
from bench.pipeline_spent import timed

HOME = Path(str(pyspark.__file__)).parent
ROUNDS = 3
_SETTINGS = {"spark.executor.memory": "1g", "spark.sql.shuffle.partitions": "4"}
_PATIENCE_S = 1800


def rollups_s(lake: Lake, place: Path, workers: int = 2) -> Iterator[float]:
    """How long all rollups take, warm, by one worker of one core, by two, and so on; one session makes all of them."""
    with standalone(place) as cluster:
        cluster.add_worker()
        with session.session(cluster.url, settings=_SETTINGS, record=False) as spark:
            for number in range(1, workers + 1):
                if number > 1:
                    cluster.add_worker()
                _until(partial(_has_executors, spark, number), f"{number} executors")
                yield min(_all_rollups_s(spark, lake, place) for _ in range(ROUNDS))


def _all_rollups_s(spark: SparkSession, lake: Lake, place: Path) -> float:
    return sum(timed(make).wall_s for make in Ours(spark, lake, place).rollups().values())


def _has_executors(spark: SparkSession, wanted: int) -> bool:
    """Whether this many executors have registered; Spark counts the driver, too."""
    return int(spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size()) - 1 >= wanted


def _until(holds: Callable[[], bool], what: str) -> None:
    until_s = time.monotonic() + _PATIENCE_S
    while not holds():
        if time.monotonic() > until_s:
            raise SystemExit(f"cluster: expected {what} within {_PATIENCE_S} s, actual: fewer")
        time.sleep(0.1)


# --- processes


@dataclass(frozen=True)
class Cluster:
    """A master that is running; its workers end with it."""

    url: str
    place: Path
    stack: ExitStack

    def add_worker(self, memory: str = "1100m") -> None:
        """One more worker of one core, which is registered when this returns."""
        number = len(list(self.place.glob("worker-*.log")))
        log = self.stack.enter_context(
            serving(
                self.place / f"worker-{number}.log", "org.apache.spark.deploy.worker.Worker", self.url,
                "--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", memory,
                "--work-dir", str(self.place / "work"),
            )
        )  # fmt: skip
        said(log, r"(Successfully registered) with master")


@contextmanager
def standalone(place: Path) -> Iterator[Cluster]:
    """A standalone master on loopback without workers; everything ends at the end."""
    with ExitStack() as stack:
        log = stack.enter_context(
            serving(
                place / "master.log", "org.apache.spark.deploy.master.Master",
                "--host", "127.0.0.1", "--port", "0", "--webui-port", "0",
            )
        )  # fmt: skip
        url = said(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        yield Cluster(url, place, stack)


def environment() -> Mapping[str, str]:
    """What Spark's own scripts need to know."""
    home = prepare(find_java(), f"{pyspark.__version__} {pyspark.__file__}", record=False).home
    own = {
        "JAVA_HOME": str(home),
        "SPARK_HOME": str(HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYTHONSAFEPATH": "1",
        "SPARK_DAEMON_JAVA_OPTS": SHORT_LIVED,
    }
    return {**os.environ, **own, "PYSPARK_PYTHON": sys.executable}


@contextmanager
def serving(log: Path, *command: str) -> Iterator[Path]:
    """One of Spark's servers, ended by its process id."""
    with log.open("w") as out:
        process = subprocess.Popen(
            [HOME / "bin" / "spark-class", *command], env=environment(), stdout=out, stderr=out
        )
    try:
        yield log
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def said(log: Path, pattern: str) -> str:
    """What a server says when it is ready; raises SystemExit if it does not."""
    _until(lambda: re.search(pattern, _text(log)) is not None, f"{pattern} in {_text(log)[-2000:]}")
    found = re.search(pattern, _text(log))
    return found[1] if found else ""


def _text(log: Path) -> str:
    return log.read_text(errors="replace")
