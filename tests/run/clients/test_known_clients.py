"""Clients that people use, by the agents of examples/agents, against the baselines beside them."""

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
_PIKA = "1.4.4"
"""The release that its baseline is of."""


def _judge(command: str, name: str, tmp_path: Path, *more: str) -> None:
    beside = (_AGENTS / name / "baseline.yaml", _AGENTS / f"{name}_baseline.yaml")
    baseline = next(path for path in beside if path.is_file())
    words = ["client", "--command", command, "--name", name, "--baseline", str(baseline), "-n", "4", *more]
    done = subprocess.run(
        [sys.executable, "-m", "amqpspec", *words, "-q", "--out", str(tmp_path / "run")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["amqplib", "rabbitmq-client"])
def test_clients_on_node(
    name: str, tmp_path: Path, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    needs = json.loads((_AGENTS / name / "package.json").read_text("utf-8"))["dependencies"]
    folder = npm_package(name, f"{name}@{needs[name]}", request, tmp_path_factory)
    agent = shutil.copy(_AGENTS / name / "agent.js", tmp_path)
    shutil.copy(_AGENTS / name / "package.json", tmp_path)
    (tmp_path / "node_modules").symlink_to(folder / "node_modules")
    _judge(f"node {agent}", name, tmp_path)


def test_a_client_in_go(tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is needed for amqp091-go")
    source = shutil.copytree(_AGENTS / "amqp091-go", tmp_path / "source")
    # Without its modules nothing can be said; with them, an agent that does not compile is a failure.
    if why := _complaint("go", "mod", "download", cwd=source):
        pytest.skip(f"amqp091-go is not available: {why}")
    assert not _complaint("go", "build", "-o", str(tmp_path / "agent"), ".", cwd=source)
    _judge(str(tmp_path / "agent"), "amqp091-go", tmp_path)


def test_a_client_in_java(tmp_path: Path) -> None:
    if any(shutil.which(tool) is None for tool in ("mvn", "javac")):
        pytest.skip("mvn and javac are needed for RabbitMQ's Java client")
    source = shutil.copytree(_AGENTS / "java", tmp_path / "java", ignore=shutil.ignore_patterns("target"))
    if why := _complaint("mvn", "-q", "-B", "dependency:copy-dependencies", cwd=source):
        pytest.skip(f"RabbitMQ's Java client is not available: {why}")
    jars, classes = f"{source}/target/dependency/*", tmp_path / "classes"
    assert not _complaint("javac", "-cp", jars, "-d", str(classes), "Agent.java", cwd=source)
    _judge(f"java -cp {classes}:{jars} Agent", "java", tmp_path, "--batch")


def test_a_client_in_python(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    wanted = f"pika=={_PIKA}"
    words = ["-m", "pip", "install", "-q", "--no-deps", "--disable-pip-version-check"]
    words += ["--target", str(packages), wanted]
    if why := _complaint(sys.executable, *words, cwd=tmp_path):
        pytest.skip(f"{wanted} is not available: {why}")
    shutil.copy(_AGENTS / "pika_agent.py", packages)
    _judge(f"{sys.executable} {packages / 'pika_agent.py'}", "pika", tmp_path)


def _complaint(*words: str, cwd: Path) -> str:
    """What a tool complains of, in one line; empty where all is well. Maven complains on its standard output."""
    try:
        done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=_BUILD_S, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {_BUILD_S:.0f} s"
    return ((done.stderr or done.stdout).strip().splitlines() or ["no word"])[-1] if done.returncode else ""
