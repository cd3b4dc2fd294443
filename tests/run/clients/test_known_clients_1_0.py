"""Clients of AMQP 1.0 that people use: with a correct server their agents come through every scenario."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.run.clients.builds import in_go, in_java, on_node

pytestmark = [pytest.mark.broker, pytest.mark.timeout(600)]
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
    _keeps_the_rules(on_node("rhea", tmp_path, request, tmp_path_factory), "rhea", tmp_path)


def test_go_amqp(tmp_path: Path) -> None:
    _keeps_the_rules(in_go("go-amqp", tmp_path), "go-amqp", tmp_path)


def test_qpid_jms(tmp_path: Path) -> None:
    _keeps_the_rules(in_java("qpid-jms", tmp_path), "qpid-jms", tmp_path, "--batch")
