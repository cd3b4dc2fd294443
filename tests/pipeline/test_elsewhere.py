"""The session elsewhere, with nothing else changed: a separate process, a master, spark-submit, a Connect server."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.reports.pipeline.package import write_package
from amqpspec.reports.pipeline.session import SHORT_LIVED
from amqpspec.reports.pipeline.tables.registry import MARTS
from bench.pipeline_cluster import HOME, environment, said, serving, standalone
from tests.pipeline.conftest import FEW_PARTITIONS
from tests.pipeline.journals import CampaignFolder, case, finished

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
    """A standalone master with a worker of one core, on loopback; ``bench.pipeline --cluster`` has two of them."""
    with standalone(tmp_path_factory.mktemp("cluster")) as cluster:
        cluster.add_worker("600m")
        yield cluster.url


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
        [*command, tmp_path / "job.py", lake, "{}"], env=environment(), cwd=tmp_path, text=True,
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
    with serving(
        tmp_path / "connect.log", "org.apache.spark.deploy.SparkSubmit", "--master", "local[1]", *_CONF, *options,
        "--class", name, "spark-internal",
    ) as log:  # fmt: skip
        said(log, r"(Spark Connect server started)")
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
    """Facts, rollups and marts of a copy of the lake, all by one session, which prints nothing else."""
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
    """The job in a separate process; what it said, of errors the last."""
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
