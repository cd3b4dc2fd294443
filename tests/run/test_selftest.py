from __future__ import annotations

from pathlib import Path

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run import selftest as module
from amqpspec.run.case import load_suite
from amqpspec.run.selftest import Matrix, selftest
from tests.run.test_baseline import row

FAULTS = ("not-refused:channel/open/state", "wrong-code:channel/open/state")


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    suite = load_suite("amqp-0-9-1")
    chosen = {name: suite[name] for name in ("channel.open.twice", "queue.declare.durable.restart")}
    monkeypatch.setattr(module, "load_suite", lambda dialect: chosen)


@pytest.mark.usefixtures("tiny")
def test_faults_are_found_by_the_cases_that_they_are_tied_to(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    found = selftest("amqp-0-9-1", tmp_path, only=FAULTS, tell=lambda *args: told.append(args))
    document = found.to_json()
    assert document["kills"] == {fault: ["channel.open.twice"] for fault in FAULTS}
    assert (document["cases"], document["clean_passed"], document["killed"]) == (2, 2, 1)
    assert (document["faults"], document["faults_found"], document["not_found"]) == (2, 2, [])
    assert document["survivors"] == ["queue.declare.durable.restart"]
    assert sorted(fault for fault, _, _ in told) == sorted(FAULTS)
    assert [done for _, done, _ in told] == [1, 2]


@pytest.mark.usefixtures("tiny")
def test_every_fault_may_meet_every_case(tmp_path: Path) -> None:
    found = selftest("amqp-0-9-1", tmp_path, only=FAULTS[:1], full=True)
    assert found.kills == {FAULTS[0]: ["channel.open.twice"]}
    assert (
        tmp_path / "not-refused_channel_open_state" / "evidence" / "queue.declare.durable.restart.jsonl"
    ).exists()


def test_a_case_that_fails_on_the_clean_broker_kills_nothing() -> None:
    clean = {"a": row("a", Outcome.FAIL), "b": row("b", Outcome.OBSERVED, observed="one way")}
    assert not module._kills(clean["a"], row("a", Outcome.FAIL))
    assert module._kills(clean["b"], row("b", Outcome.OBSERVED, observed="another way"))
    assert not module._kills(clean["b"], clean["b"])
    assert not module._kills(clean["b"], row("b", Outcome.ERROR))
    document = Matrix("d", clean, {"f": []}, ["f: a: oops"]).to_json()
    assert (document["not_clean"], document["not_found"], document["errors"]) == (
        ["a"],
        ["f"],
        ["f: a: oops"],
    )
