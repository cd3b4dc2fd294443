from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run import selftest as module
from amqpspec.run.case import Case, load_suite
from amqpspec.run.memory import Conditions
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
def test_every_fault_may_meet_every_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    met: list[tuple[str, ...]] = []
    in_memory = module._in_memory

    def seen(cases: Iterable[Case], conditions: Conditions) -> Mapping[str, CaseRow]:
        met.append(tuple(case.id for case in cases))
        return in_memory(cases, conditions)

    monkeypatch.setattr(module, "_in_memory", seen)
    found = selftest("amqp-0-9-1", tmp_path, only=FAULTS[:1], full=True)
    assert found.kills == {FAULTS[0]: ["channel.open.twice"]}
    assert met == [("channel.open.twice", "queue.declare.durable.restart")] * 2


@pytest.mark.usefixtures("tiny")
def test_what_memory_does_not_show_is_met_over_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = {name: row(name, Outcome.PASS) for name in load_suite("amqp-0-9-1")}
    monkeypatch.setattr(module, "_in_memory", lambda cases, conditions: clean)
    found = selftest("amqp-0-9-1", tmp_path, only=FAULTS)
    assert found.kills == {fault: ["channel.open.twice"] for fault in FAULTS}


def test_a_case_that_fails_on_the_clean_broker_kills_nothing() -> None:
    clean = {"a": row("a", Outcome.FAIL), "b": row("b", Outcome.OBSERVED, observed="one way")}
    assert not module.is_kill(clean["a"], row("a", Outcome.FAIL))
    assert module.is_kill(clean["b"], row("b", Outcome.OBSERVED, observed="another way"))
    assert not module.is_kill(clean["b"], clean["b"])
    assert not module.is_kill(clean["b"], row("b", Outcome.ERROR))
    document = Matrix("d", clean, {"f": []}, ["f: a: oops"]).to_json()
    assert (document["not_clean"], document["not_found"], document["errors"]) == (
        ["a"],
        ["f"],
        ["f: a: oops"],
    )
