"""Real brokers keep their baselines: each is provisioned, certified twice in every dialect it serves, and stopped."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.run.case import load_suite
from harness.target.config import read_targets
from harness.target.known import known_broker

ROOT = Path(__file__).parents[2]
TARGETS = [
    target for target in read_targets(ROOT / "targets.yaml").values() if target.broker and target.baseline
]
BROKERS = sorted({target.broker for target in TARGETS})


def amqpspec(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module", params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[str]:
    """A known broker, running; stopped afterwards."""
    name = str(request.param)
    if known_broker(name, ROOT / ".brokers" / name).version() is None:
        pytest.skip(f"{name} is not installed; amqpspec brokers install {name}")
    started = amqpspec("brokers", "start", name)
    assert started.returncode == 0, started.stderr
    yield name
    amqpspec("brokers", "stop", name)


@pytest.mark.broker
@pytest.mark.timeout(1800)
def test_a_real_broker_meets_its_baselines_twice(broker: str, tmp_path: Path) -> None:
    for target in (target for target in TARGETS if target.broker == broker):
        folders = [tmp_path / target.name / str(number) for number in range(2)]
        first, second = (certified(target.name, folder) for folder in folders)
        assert first == second, target.name
        assert first.keys() == load_suite(target.dialect).keys()


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
