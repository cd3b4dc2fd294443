"""Clients of AMQP 1.0 that people use: with a correct server their agents come through every scenario."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reference.npm import npm_package

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]
_AGENTS = Path(__file__).parents[3] / "examples" / "agents"
_BUILD_S = 240.0
_CASES_PASSED = 60
"""Fewer mean that the agent did not come through its scenarios: its cases are then not applicable."""


def _keeps_the_rules(command: str, name: str, tmp_path: Path, *more: str) -> None:
    words = ["client", "-d", "amqp-1-0", "--exclude", "client.hostile.*"]
    words += ["--command", command, "--name", name]
    done = subprocess.run(
        [sys.executable, "-m", "amqpspec", *words, *more, "-q", "--out", str(tmp_path / "run")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    verdicts = json.loads((tmp_path / "run" / "results.json").read_text("utf-8"))["verdicts"]
    assert verdicts["pass"] >= _CASES_PASSED, verdicts


def test_rhea(
    tmp_path: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    needs = json.loads((_AGENTS / "rhea" / "package.json").read_text("utf-8"))["dependencies"]
    folder = npm_package("rhea", f"rhea@{needs['rhea']}", request, tmp_path_factory)
    agent = shutil.copy(_AGENTS / "rhea" / "agent.js", tmp_path)
    shutil.copy(_AGENTS / "rhea" / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    _keeps_the_rules(f"node {agent}", "rhea", tmp_path)


def test_go_amqp(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is needed for go-amqp")
    source = shutil.copytree(_AGENTS / "go-amqp", tmp_path / "source")
    if why := _complaint("go", "mod", "download", cwd=source):
        pytest.skip(f"go-amqp is not available: {why}")
    assert not _complaint("go", "build", "-o", str(tmp_path / "agent"), ".", cwd=source)
    _keeps_the_rules(str(tmp_path / "agent"), "go-amqp", tmp_path)


def test_qpid_jms(tmp_path: Path) -> None:
    if any(shutil.which(tool) is None for tool in ("mvn", "javac")):
        pytest.skip("mvn and javac are needed for Qpid JMS")
    source = shutil.copytree(_AGENTS / "qpid-jms", tmp_path / "jms", ignore=shutil.ignore_patterns("target"))
    if why := _complaint("mvn", "-q", "-B", "dependency:copy-dependencies", cwd=source):
        pytest.skip(f"Qpid JMS is not available: {why}")
    jars, classes = f"{source}/target/dependency/*", tmp_path / "classes"
    assert not _complaint("javac", "-cp", jars, "-d", str(classes), "Agent.java", cwd=source)
    _keeps_the_rules(f"java -cp {classes}:{jars} Agent", "qpid-jms", tmp_path, "--batch")


def _complaint(*words: str, cwd: Path) -> str:
    """What a tool complains of, in one line; empty where all is well. Maven complains on its standard output."""
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=_BUILD_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {_BUILD_S:.0f} s"
    return ((done.stderr or done.stdout).strip().splitlines() or ["no word"])[-1] if done.returncode else ""
