"""The session elsewhere, with nothing else changed: a process of its own, a master, spark-submit, a Connect server."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pyspark
import pytest

from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.reports.pipeline.java import find_java, prepare
from amqpspec.reports.pipeline.package import write_package
from amqpspec.reports.pipeline.tables.registry import MARTS
from tests.pipeline.conftest import FEW_PARTITIONS, SHORT_LIVED
from tests.pipeline.journals import CampaignFolder, case, finished

HOME = Path(str(pyspark.__file__)).parent
_PATIENCE_S = 1800

_JOB = """
import json, sys
from pathlib import Path
from amqpspec.reports.pipeline.build import build
from amqpspec.reports.pipeline.lake import dimension, observations, open_lake
from amqpspec.reports.pipeline.session import session

root, options, *marts = sys.argv[1:]
with session(**json.loads(options)) as spark:
    lake = open_lake(Path(root))
    facts = observations(spark, lake).groupBy("dt", "kind", "verdict", "run_key").count()
    rows = facts.join(dimension(spark, lake, "runs").select("run_key", "run"), "run_key").drop("run_key")
    said = sorted(json.dumps([str(value) for value in row]) for row in rows.collect())
    for place in marts:
        build(spark, Path(root), Path(place))
print("SAID", json.dumps(said))
"""
_QUICK = dict.fromkeys(("spark.driver.extraJavaOptions", "spark.executor.extraJavaOptions"), SHORT_LIVED)
_CONF = tuple(part for name, value in _QUICK.items() for part in ("--conf", f"{name}={value}"))


@dataclass(frozen=True)
class Said:
    """What a session says of a lake: facts in groups, and what each mart holds."""

    rows: list[str]
    marts: dict[str, str]


@pytest.mark.spark
def test_a_jvm_that_dies_at_its_start_is_one_line(tmp_path: Path) -> None:
    """The heap that is asked for is no number."""
    said = _run(tmp_path, {"memory": "lots"}, expect=1)
    assert "EngineError: Spark at local[*]: " in said and "JAVA_GATEWAY_EXITED" not in said.splitlines()[-1]


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("engine")
    campaign = CampaignFolder(place / "campaign")
    campaign.batch(200)
    ingest([campaign.end(), finished(place / "run", [case("basic.qos")])], place / "lake", date(2026, 11, 21))
    return place / "lake"


@pytest.fixture(scope="module")
def locally(lake: Path, tmp_path_factory: pytest.TempPathFactory) -> Said:
    """What one machine says; nothing of Java's beside it."""
    options = {"master": "local[1]", "settings": {**_QUICK, **FEW_PARTITIONS}, "record": False}
    return _both(lake, tmp_path_factory.mktemp("here"), options)


@pytest.fixture(scope="module")
def on_master(lake: Path, master: str, tmp_path_factory: pytest.TempPathFactory) -> Said:
    return _both(lake, tmp_path_factory.mktemp("there"), _on(master))


@pytest.fixture(scope="module")
def master(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A standalone master with one worker, on loopback."""
    place = tmp_path_factory.mktemp("cluster")
    with ExitStack() as stack:
        log = stack.enter_context(
            _serving(place / "master.log", "org.apache.spark.deploy.master.Master",
                     "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        )  # fmt: skip
        url = _waited(log, r"Starting Spark master at (spark://127\.0\.0\.1:\d+)")
        worker = stack.enter_context(
            _serving(place / "worker.log", "org.apache.spark.deploy.worker.Worker", url, "--host", "127.0.0.1",
                     "--webui-port", "0", "--cores", "1", "--memory", "600m", "--work-dir", str(place / "work"))
        )  # fmt: skip
        _waited(worker, r"(Successfully registered) with master")
        yield url


@pytest.mark.spark
def test_a_standalone_master(locally: Said, on_master: Said) -> None:
    assert on_master.rows == locally.rows


@pytest.mark.spark
def test_marts_of_a_standalone_master(locally: Said, on_master: Said) -> None:
    assert on_master.marts == locally.marts


@pytest.mark.spark
def test_spark_submit_with_the_package(lake: Path, locally: Said, master: str, tmp_path: Path) -> None:
    """The job sees the project by its zip alone."""
    write_package(tmp_path / "amqpspec.zip")
    (tmp_path / "job.py").write_text(
        "from amqpspec import reports\nassert 'amqpspec.zip' in reports.__file__, reports.__file__\n" + _JOB
    )
    settings = ["spark.executor.memory=512m", "spark.driver.host=127.0.0.1", "spark.ui.enabled=false"]
    command: list[str | Path] = [
        HOME / "bin" / "spark-submit",
        "--master",
        master,
        "--py-files",
        tmp_path / "amqpspec.zip",
    ]
    command += [*_CONF, *(part for setting in settings for part in ("--conf", setting))]
    ended = subprocess.run(
        [*command, tmp_path / "job.py", lake, "{}"], env=_environment(), cwd=tmp_path, text=True,
        capture_output=True, timeout=_PATIENCE_S,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert _rows(ended.stdout) == locally.rows


@pytest.mark.spark
def test_a_connect_server(lake: Path, locally: Said, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = [
        f"spark.connect.grpc.binding.port={port}", "spark.connect.grpc.binding.address=127.0.0.1",
        "spark.ui.enabled=false", "spark.driver.host=127.0.0.1", "spark.driver.memory=768m",
    ]  # fmt: skip
    options = [part for setting in settings for part in ("--conf", setting)]
    name = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with _serving(
        tmp_path / "connect.log", "org.apache.spark.deploy.SparkSubmit", "--master", "local[1]", *_CONF, *options,
        "--class", name, "spark-internal",
    ) as log:  # fmt: skip
        _waited(log, r"(Spark Connect server started)")
        there: dict[str, object] = {"remote": f"sc://127.0.0.1:{port}", "settings": FEW_PARTITIONS}
        assert _both(lake, tmp_path, there) == locally


def test_a_connect_server_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"sc://127.0.0.1:{taken.getsockname()[1]}"
        said = _run(tmp_path, {"remote": address}, expect=1)
    assert f"EngineError: Spark Connect at {address}: " in said.splitlines()[-1]


def _on(master: str) -> dict[str, object]:
    settings = {"spark.executor.memory": "512m", **_QUICK, **FEW_PARTITIONS}
    return {"master": master, "settings": settings, "record": False}


def _both(lake: Path, place: Path, options: dict[str, object]) -> Said:
    """Facts, rollups and marts of a copy of the lake, all by one session, which says nothing else."""
    shutil.copytree(lake, place / "lake")
    said = _run(place / "lake", options, str(place / "marts"))
    assert [line.split()[0] for line in said.splitlines()] == ["SAID"]
    return Said(_rows(said), _told(place / "marts"))


def _told(marts: Path) -> dict[str, str]:
    """What each mart says; every one has something to say of verdicts."""
    told = {path.stem: path.read_text() for path in marts.glob("*/*.json")}
    assert set(told) == {mart.name for mart in MARTS} and "basic.qos" in told["verdicts"]
    return told


def _run(lake: Path, options: dict[str, object], *marts: str, expect: int = 0) -> str:
    """The job in a process of its own; what it said, of errors the last."""
    ended = subprocess.run(
        [sys.executable, "-c", _JOB, lake, json.dumps(options), *marts], text=True, capture_output=True,
        timeout=_PATIENCE_S,
    )  # fmt: skip
    assert ended.returncode == expect, ended.stderr[-3000:]
    return ended.stderr if expect else ended.stdout


def _rows(said: str) -> list[str]:
    lines = [line.removeprefix("SAID ") for line in said.splitlines() if line.startswith("SAID ")]
    rows: list[str] = json.loads(lines[-1])
    assert len(rows) == 3
    return rows


def _environment() -> dict[str, str]:
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
def _serving(log: Path, *command: str) -> Iterator[Path]:
    """One of Spark's servers, ended by its process id."""
    with log.open("w") as out:
        process = subprocess.Popen(
            [HOME / "bin" / "spark-class", *command], env=_environment(), stdout=out, stderr=out
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


def _waited(log: Path, pattern: str) -> str:
    """What a server says when it is ready."""
    until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < until_s:
        if found := re.search(pattern, log.read_text(errors="replace")):
            return found[1]
        time.sleep(0.2)
    raise AssertionError(f"{log}: expected {pattern}, actual {log.read_text(errors='replace')[-2000:]}")
