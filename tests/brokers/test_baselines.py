"""Real brokers keep their baselines: each is provisioned, certified twice in every dialect it serves, and stopped.

The fuzzer's canaries have to live in it, too: what a campaign says of lost messages would mean nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amqpspec.cli.fuzz_nodes import with_nodes
from amqpspec.cli.fuzz_subject import subject_of
from amqpspec.cli.fuzz_target import target_of
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.run.baseline import read_baseline
from amqpspec.run.case import load_suite
from amqpspec.target.config import Target, read_targets
from amqpspec.target.known import BrokerError, known_broker
from amqpspec.target.known.base import STARTED_AGAIN
from amqpspec.target.live import live

ROOT = Path(__file__).parents[2]
TARGETS = [
    target for target in read_targets(ROOT / "targets.yaml").values() if target.broker and target.baseline
]
FEW = 3
BATCHES = 20
WITHOUT_CANARIES = {"qpid-broker-j-0-8"}
"""Targets in which canaries are stored but not consumed: basic.consume of 0-8 is misread."""
FIRST = ("rabbitmq@4.3", "rabbitmq@4.0", "rabbitmq", "garagemq", "qpid-broker-j")
"""Each of five workers begins with one of these and has the next test in order waiting: what takes longest comes last,
so that no other broker waits for it.
"""
BROKERS = sorted(
    {target.broker for target in TARGETS},
    key=lambda name: (FIRST.index(name) if name in FIRST else len(FIRST), name),
)
HANGS = {"garagemq"}
"""Brokers that may hang after canaries have left: deleting a queue with consumers is a deadlock in garagemq."""


def amqpspec(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "amqpspec.cli.main", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)


@pytest.fixture(scope="module", params=BROKERS)
def broker(request: pytest.FixtureRequest) -> Iterator[str]:
    """A known broker, running without data of earlier runs; stopped afterwards."""
    name = str(request.param)
    known = known_broker(name, ROOT / ".brokers" / name)
    if known.version() is None:
        pytest.skip(f"{name} is not installed; amqpspec brokers install {name}")
    started = amqpspec("brokers", "start", "--empty", name)
    assert started.returncode == 0, started.stderr
    running = known.running()
    assert running is not None
    before = running.log.stat().st_size
    yield name
    amqpspec("brokers", "stop", name)
    with running.log.open("rb") as lines:
        lines.seek(before)
        for line in lines:
            if line.startswith(STARTED_AGAIN.encode()):
                warnings.warn(line.decode(errors="replace"), stacklevel=1)


@pytest.mark.broker
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("default:asked twice", "default:amqpspec. started again")
def test_a_real_broker_meets_its_baselines_twice(broker: str, tmp_path: Path) -> None:
    for target in (target for target in TARGETS if target.broker == broker):
        assert lives(target.name) is (target.name not in WITHOUT_CANARIES), target.name
        if broker in HANGS:
            assert amqpspec("brokers", "restart", broker).returncode == 0
        folders = [tmp_path / target.name / str(number) for number in range(2)]
        (first, odd), (second, odder) = (certified(target, folder) for folder in folders)
        assert {id for id in first if first[id] != second[id]} <= odd | odder | flaky(target), target.name
        assert first.keys() == load_suite(target.dialect).keys()


def lives(name: str) -> bool:
    """Whether the target passes all canaries' messages, some batches long; it must not change or lose any."""
    target = target_of(None, name, {"targets_file": ROOT / "targets.yaml", "dialect": None})
    with live(target, state_dir=ROOT / ".brokers") as running:
        subject = with_nodes(subject_of(running, {"connections": 1, "patience": 1.0}), running.nodes)
        canaries = Canaries(subject)
        try:
            canaries.place()
        except Unanswered:
            return False
        for _ in range(BATCHES):
            assert canaries.check() == [], name
            canaries.place()
        canaries.drop()
    return not canaries.note


def flaky(target: Target) -> set[str]:
    """The cases of which the baseline says that a race within the target decides."""
    assert target.baseline is not None
    return {entry.case for entry in read_baseline(target.baseline).entries if entry.flaky}


def certified(target: Target, folder: Path) -> tuple[dict[str, str], set[str]]:
    """The verdicts of a run that meets its baseline, and the cases that had to be asked twice for that.

    A broker's threads may cross on a busy machine as they never did when its baseline was verified, and its restart
    may fail: of what came out otherwise than the baseline says, a few cases may be asked again, and a warning tells
    which. What repeats is a failure.
    """
    name = target.name
    document = ran(name, folder / "all")
    counted = document["run"] + document["not_applicable"] + document["blocked"] + document["excluded"]
    assert document["planned"] == counted == len(document["cases"])
    odd = unexpected(document)
    told = f"{name}: {json.dumps(odd, indent=1)}"
    errors = [case["observed"] for case in document["cases"] if case["verdict"] == "error"]
    # Nothing excuses an error of the suite itself; a broker that did not restart is none.
    assert all(error.startswith(BrokerError.__name__) for error in errors), told
    assert document["exit_code"] in ((4,) if errors else (0, 1, 5)) and len(odd) <= FEW, told
    if odd:
        warnings.warn(f"asked twice: {told}", stacklevel=1)
        if errors:
            started = amqpspec("brokers", "restart", target.broker)
            assert started.returncode == 0, f"{told}\n{started.stderr}"
        again = ran(name, folder / "again", *odd)
        # If none of them applies, as the target says again, there is nothing to judge (exit code 4).
        kept = again["exit_code"] == 0 or again["not_applicable"] == again["planned"]
        assert kept and not unexpected(again), f"{told}\nand again: {json.dumps(unexpected(again), indent=1)}"
    assert odd or document["exit_code"] == 0, document["exit_code"]
    return {case["id"]: case["verdict"] for case in document["cases"]}, set(odd)


def ran(name: str, folder: Path, *cases: str) -> dict[str, Any]:
    run = amqpspec("run", "--target", name, *cases, "--json", "--out", str(folder))
    assert run.stdout, run.stderr
    document: dict[str, Any] = json.loads(run.stdout)
    return document


def unexpected(document: dict[str, Any]) -> dict[str, str]:
    """Deviations and errors that the baseline does not know, and known ones that were not seen: what was seen."""
    seen = {
        case["id"]: f"{case['verdict']}: {case['observed'] or case['reason']}" for case in document["cases"]
    }
    odd = {
        case["id"]
        for case in document["cases"]
        if case["baseline"] == "unexpected" or case["verdict"] == "error"
    }
    return {id: seen[id] for id in sorted(odd | {entry["case"] for entry in document["stale_baseline"]})}
