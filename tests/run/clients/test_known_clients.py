"""Clients that people use, by the agents of examples/agents, against the baselines beside them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.clients.builds import AGENTS, in_go, in_java, in_python, on_node

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]
_PIKA = "1.4.4"
"""The release that its baseline is of."""


def _judge(command: str, name: str, tmp_path: Path, *more: str) -> None:
    beside = (AGENTS / name / "baseline.yaml", AGENTS / f"{name}_baseline.yaml")
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
    _judge(on_node(name, tmp_path, request, tmp_path_factory), name, tmp_path)


def test_a_client_in_go(tmp_path: Path) -> None:
    _judge(in_go("amqp091-go", tmp_path), "amqp091-go", tmp_path)


def test_a_client_in_java(tmp_path: Path) -> None:
    _judge(in_java("java", tmp_path), "java", tmp_path, "--batch")


def test_a_client_in_python(tmp_path: Path) -> None:
    _judge(in_python("pika_agent.py", f"pika=={_PIKA}", tmp_path), "pika", tmp_path)
