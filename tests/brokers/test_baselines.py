"""Real brokers keep their baselines: each is provisioned, certified twice, and stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from harness.target.known import known_broker

NAMES = ("rabbitmq", "garagemq", "qpid-broker-j")
ROOT = Path(__file__).parents[2]


def amqpspec(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)


@pytest.mark.broker
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", NAMES)
def test_a_real_broker_meets_its_baseline_twice(name: str, tmp_path: Path) -> None:
    if known_broker(name, ROOT / ".brokers" / name).version() is None:
        pytest.skip(f"{name} is not installed; amqpspec brokers install {name}")
    started = amqpspec("brokers", "start", name)
    assert started.returncode == 0, started.stderr
    try:
        verdicts = [certified(name, tmp_path / str(number)) for number in range(2)]
    finally:
        amqpspec("brokers", "stop", name)
    assert verdicts[0] == verdicts[1]
    assert len(verdicts[0]) > 500


def certified(name: str, out: Path) -> dict[str, str]:
    run = amqpspec("run", "--target", name, "--json", "--out", str(out))
    assert run.returncode == 0, run.stderr + _unexpected(run.stdout)
    document = json.loads(run.stdout)
    counted = document["run"] + document["not_applicable"] + document["blocked"] + document["excluded"]
    assert document["planned"] == counted == len(document["cases"])
    return {case["id"]: case["verdict"] for case in document["cases"]}


def _unexpected(text: str) -> str:
    document = json.loads(text)
    lines = [
        f"{c['id']}: {c['verdict']}: {c['observed']}"
        for c in document["cases"]
        if c["baseline"] == "unexpected"
    ]
    return "\n".join([*lines, *(f"stale {entry}" for entry in document["stale_baseline"])])
