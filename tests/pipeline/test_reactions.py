"""The reaction of a case: what is the same between two targets, and what tells them apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from amqpspec.record.rows import CaseRow, Facts, Outcome
from amqpspec.reports.pipeline.reactions import case_reaction
from amqpspec.spec.model import Refusal, Scope
from tests.pipeline.journals import case

FAILED = case("channel.a", Outcome.FAIL, facts=Facts())
LOCKED = Facts(Refusal(Scope.CHANNEL, 405), ("channel.close 405", "end"))


def told(facts: Facts, **values: Any) -> str | None:
    return case_reaction(replace(FAILED, facts=facts, **values))


@pytest.mark.parametrize(
    "values",
    [{"observed": "channel.close 405 ('queue r1.q.0 is exclusive')"}, {"ended": "rst"}, {"duration_ms": 9.0}],
)
def test_what_a_target_calls_its_things_and_how_tcp_ended_is_no_difference(values: dict[str, Any]) -> None:
    assert told(LOCKED, **values) == told(LOCKED)


@pytest.mark.parametrize(
    "other",
    [
        replace(LOCKED, refusal=Refusal(Scope.CHANNEL, 406)),
        replace(LOCKED, refusal=Refusal(Scope.CONNECTION, 405)),
        replace(LOCKED, refusal=None),
        replace(LOCKED, arrivals=("channel.close 405",)),
        replace(LOCKED, way="at once"),
        Facts(),
    ],
)
def test_what_a_target_did_is_one(other: Facts) -> None:
    assert told(LOCKED) != told(other)


def test_a_reaction_can_be_read() -> None:
    assert told(LOCKED) == "fail: refusal at channel, code 405; channel.close 405, then end"
    socket = Facts(Refusal(Scope.SOCKET), ("end",), way="no answer")
    assert told(socket) == "fail: no answer; refusal at socket, code none; end"


def test_a_verdict_is_part_of_the_reaction_and_without_one_there_is_none() -> None:
    def reaction(verdict: str) -> str | None:
        return case_reaction(replace(FAILED, verdict=Outcome(verdict)))

    assert [reaction(verdict) for verdict in ("pass", "observed", "fail")] == ["pass", "observed", "fail"]
    for verdict in ("not-applicable", "excluded", "blocked", "inconclusive", "error"):
        assert reaction(verdict) is None


def test_a_long_reaction_is_cut() -> None:
    assert len(told(Facts(arrivals=("basic.deliver",) * 1000)) or "") == 300


def test_a_row_of_schema_1_keeps_the_reaction_that_old_lakes_know_it_by() -> None:
    """What an old lake holds of an old run is compared with what another old run brings."""
    data = FAILED.to_json()
    for newer in ("facts", "blocked_by", "ended_at", "attempts_differ"):
        del data[newer]
    old = CaseRow.from_json(
        data | {"observed": "channel.close 405 resource-locked ('queue q.0'), then nothing"}
    )
    assert case_reaction(old) == "fail: channel.close 405 resource-locked (…), then nothing"
