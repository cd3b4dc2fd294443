"""The benchmark of the fuzzer's speed: all ways send the same inputs, each row is one of the shape that is promised."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.model import Scope
from bench import __main__ as bench
from bench import fuzz_speed


@pytest.fixture(scope="module")
def subject() -> Iterator[Subject]:
    with fuzz_speed.targets() as found:
        yield found[0]


@pytest.mark.parametrize("state", fuzz_speed.STATES)
def test_both_ways_send_every_input(subject: Subject, state: str) -> None:
    items = fuzz_speed.answered(subject, state, 12)
    assert len(items) == 12 and {item.state for item in items} == {state}
    assert fuzz_speed.ours(subject, items) == fuzz_speed.plain(subject, items) == 12


def test_rows_beside_the_loop(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_speed, "ROUNDS", 1)
    items = fuzz_speed.answered(subject, "raw", 8)
    speed, many, processor = fuzz_speed.beside_the_loop(subject, items, "raw")
    for row in (speed, many):
        assert row.unit == "inputs/s" and row.ours > 0 and row.theirs > 0
    assert "2 workers" in many.name
    assert processor.unit == "us of CPU/input" and processor.ours > 0


def test_what_boofuzz_sent_is_sent_by_the_executor(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[FuzzInput] = []
    ours = fuzz_speed.ours

    def noted(subject: Subject, items: list[FuzzInput]) -> int:
        seen.extend(items)
        return ours(subject, items)

    monkeypatch.setattr(fuzz_speed, "ours", noted)
    rows = list(fuzz_speed.beside_boofuzz(subject, 6))
    assert [row.unit for row in rows] == ["inputs/s", "us of CPU/input"] * 4
    assert len(seen) == 24 and len({item.octets for item in seen}) >= 6
    executor = subject.executor(Tempo())
    refused = {result.refusal.scope for result in executor.run(seen) if result.refusal}
    executor.close()
    assert refused <= {Scope.HEADER, Scope.SOCKET, Scope.CONNECTION}


def test_a_url_is_compared_with_boofuzz_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        assert bench.main(["fuzz_speed", "--url", broker.url, "--inputs", "4", "--connections", "2"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["unit"] for row in rows] == ["inputs/s", "us of CPU/input"] * 4
    assert all("boofuzz" in row["name"] and row["ours"] > 0 and row["theirs"] > 0 for row in rows)
    with (
        ReferenceBroker("amqp-1-0") as other,
        pytest.raises(SystemExit, match="expected a target of amqp-0-9-1"),
    ):
        bench.main(["fuzz_speed", "--url", other.url, "--dialect", "amqp-1-0"])


def test_each_group_of_oracles_has_a_row(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_speed, "BATCH", 4)
    rows = list(fuzz_speed.of_oracles(subject, 1))
    assert [row.name.removeprefix("fuzz oracles, cost of: ") for row in rows] == [
        "crash and hang", "canary and leak", "cpu and memory", "log", "conformance", "all",
    ]  # fmt: skip
    assert all(row.ours > 0 for row in rows)


def test_a_resume_far_out_is_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_speed, "ROUNDS", 1)
    row = fuzz_speed.resumed(10**9)
    assert row.unit == "s" and row.ours > 0 and row.theirs > 0
