"""Real brokers keep their baselines: each is provisioned, certified twice in every dialect it serves, and stopped.

The fuzzer's canaries have to live in it, too: what a campaign says of lost messages would mean nothing else.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest

from amqpspec.cli.common import STATE_DIR
from amqpspec.cli.fuzz_nodes import with_nodes
from amqpspec.cli.fuzz_subject import subject_of
from amqpspec.cli.fuzz_target import target_of
from amqpspec.fuzz.executor.client import Unanswered
from amqpspec.fuzz.oracles.canary import Canaries
from amqpspec.run.baseline import read_baseline
from amqpspec.run.case import load_suite
from amqpspec.target.config import Target, read_targets
from amqpspec.target.known import BrokerError
from amqpspec.target.known.base import STARTED_AGAIN
from amqpspec.target.live import live
from tests.target.test_known_real import prepare

TARGETS_FILE = Path(__file__).parents[2] / "targets.yaml"
TARGETS = [target for target in read_targets(TARGETS_FILE).values() if target.broker and target.baseline]
FEW = 3
BATCHES = 20
WITHOUT_CANARIES = {"qpid-broker-j-0-8"}
"""Targets in which canaries are stored but not consumed: basic.consume of 0-8 is misread."""
FIRST = (
    "qpid-broker-j-1-0", "rabbitmq@4.3", "rabbitmq", "garagemq", "qpid-broker-j",
    "rabbitmq@4.0", "artemis", "qpid-proton", "activemq",
)  # fmt: skip
"""Each of five workers begins with one of these and has the one five places later waiting: the longer the first, the
shorter the second, so that all end at about the same time.
"""
ALONE = {"qpid-broker-j-1-0"}
"""Targets on a broker of their own, beside that of its other dialects: all of them together would take too long."""


@dataclass(frozen=True)
class Post:
    """Targets on one broker, which one test certifies."""

    broker: str
    targets: tuple[Target, ...]

    @property
    def name(self) -> str:
        """The broker's, or that of the target that stands alone."""
        return self.targets[0].name if self.targets[0].name in ALONE else self.broker

    @property
    def instances(self) -> int:
        """How many of the broker run: two for a target that is restarted for each case, as rounds do not meet there."""
        return 2 if any(target.fresh for target in self.targets) else 1


def posts() -> list[Post]:
    """Every target in one of them, those that take longest first."""
    found: dict[tuple[str, str], list[Target]] = {}
    for target in TARGETS:
        found.setdefault((target.broker, target.name if target.name in ALONE else ""), []).append(target)
    made = [Post(broker, tuple(targets)) for (broker, _), targets in found.items()]
    names = [*FIRST, *sorted({post.name for post in made} - {*FIRST})]
    return sorted(made, key=lambda post: names.index(post.name))


HANGS = {"garagemq"}
"""Brokers that may hang after canaries have left: deleting a queue with consumers is a deadlock in garagemq."""


@dataclass(frozen=True)
class Home:
    """A folder with a known broker of its own, which no other test uses."""

    place: Path

    def amqpspec(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command that knows the targets of this project, and the broker of this folder."""
        command = [sys.executable, "-m", "amqpspec.cli.main", *arguments]
        return subprocess.run(command, cwd=self.place, capture_output=True, text=True, timeout=900)


@pytest.fixture(params=posts(), ids=lambda post: post.name)
def post(request: pytest.FixtureRequest) -> Post:
    found: Post = request.param
    return found


@pytest.fixture
def homes(post: Post, tmp_path: Path) -> Iterator[list[Home]]:
    """The post's broker, running without data of earlier runs; stopped afterwards."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(running(post.broker, tmp_path / str(number)))
            for number in range(post.instances)
        ]


@contextmanager
def running(name: str, place: Path) -> Iterator[Home]:
    """One broker in a folder of its own; what it had to be started again for is a warning."""
    place.mkdir()
    home, known = Home(place), prepare(name, place / STATE_DIR / name)
    started = home.amqpspec("brokers", "start", "--empty", name)
    assert started.returncode == 0, started.stderr
    facts = known.running()
    assert facts is not None
    before = facts.log.stat().st_size
    yield home
    home.amqpspec("brokers", "stop", name)
    with facts.log.open("rb") as lines:
        lines.seek(before)
        for line in lines:
            if line.startswith(STARTED_AGAIN.encode()):
                warnings.warn(line.decode(errors="replace"), stacklevel=1)


@pytest.mark.broker
@pytest.mark.timeout(1800)
@pytest.mark.filterwarnings("default:asked twice", "default:amqpspec. started again")
def test_a_real_broker_meets_its_baselines_twice(post: Post, homes: list[Home], tmp_path: Path) -> None:
    for target in post.targets:
        for home in homes:
            assert lives(target.name, home) is (target.name not in WITHOUT_CANARIES), target.name
            if post.broker in HANGS:
                assert home.amqpspec("brokers", "restart", post.broker).returncode == 0
        (first, odd), (second, odder) = rounds(target, homes, tmp_path / target.name)
        assert {id for id in first if first[id] != second[id]} <= odd | odder | flaky(target), target.name
        assert first.keys() == load_suite(target.dialect).keys()


def rounds(target: Target, homes: list[Home], place: Path) -> Iterator[tuple[dict[str, str], set[str]]]:
    """Two runs: one after the other on one broker, at once on two."""
    with ThreadPoolExecutor(len(homes)) as pool:
        yield from pool.map(partial(certified, target), cycle(homes), (place / "first", place / "second"))


def lives(name: str, home: Home) -> bool:
    """Whether the target passes all canaries' messages, some batches long; it must not change or lose any."""
    target = target_of(None, name, {"targets_file": TARGETS_FILE, "dialect": None})
    with live(target, state_dir=home.place / STATE_DIR) as running:
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


def certified(target: Target, home: Home, folder: Path) -> tuple[dict[str, str], set[str]]:
    """The verdicts of a run that meets its baseline, and the cases that had to be asked twice for that.

    A broker's threads may cross on a busy machine as they never did when its baseline was verified, and its restart
    may fail: of what came out otherwise than the baseline says, a few cases may be asked again, and a warning tells
    which. What repeats is a failure.
    """
    name = target.name
    document = ran(home, name, folder / "all")
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
            started = home.amqpspec("brokers", "restart", target.broker)
            assert started.returncode == 0, f"{told}\n{started.stderr}"
        again = ran(home, name, folder / "again", *odd)
        # If none of them applies, as the target says again, there is nothing to judge (exit code 4).
        kept = again["exit_code"] == 0 or again["not_applicable"] == again["planned"]
        assert kept and not unexpected(again), f"{told}\nand again: {json.dumps(unexpected(again), indent=1)}"
    assert odd or document["exit_code"] == 0, document["exit_code"]
    return {case["id"]: case["verdict"] for case in document["cases"]}, set(odd)


def ran(home: Home, name: str, folder: Path, *cases: str) -> dict[str, Any]:
    asked = ["--target", name, "--targets", str(TARGETS_FILE), *cases, "--json", "--out", str(folder)]
    run = home.amqpspec("run", *asked)
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
