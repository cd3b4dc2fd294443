"""Signs of life while a refusal is waited for, and ends that are due to silence: no answer to an input."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.conversation import Conversation
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.result import End, InputResult
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.judge.expectation import Expectation
from amqpspec.fuzz.oracles.answers import deviates
from amqpspec.fuzz.states.model import Say, Step, Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME as SIGN
from amqpspec.wire.amqp_1_0.frames import performative_frame

METHODS, TYPES = "amqp-0-9-1", "amqp-1-0"
OWED = Expectation("idle", (Refusal(Scope.SESSION, "amqp:not-found"), Refusal(Scope.SOCKET)))
PATIENT = Tempo(quiet_s=1.0, settle_s=0.05, refusal_s=5.0, way_s=5.0)


def item(state: str, octets: bytes, dialect: str = TYPES, *, owed: bool = True) -> FuzzInput:
    made = FuzzInput(InputId("0" * 8, "C09", "test", state, 0, 0), dialect, state, (octets,), "test")
    vars(made)["expectation"] = OWED if owed else Expectation()
    return made


def settled_s(dialect: str, octets: bytes) -> float:
    return executor_part(dialect).settled_silence_s(octets)


def frame(name: str, **fields: Any) -> bytes:
    return performative_frame(name, 0, **fields)


def opened(octets: bytes, idle_ms: int | None, *, owed: bool = True) -> Conversation:
    """A conversation whose input has been sent at 1.0 after an open."""
    talk = Conversation(item("open", octets, owed=owed), Values(mechanism="NONE"), PATIENT, 0.0)
    talk.connected(0.0)
    talk.heard(HEADERS["amqp"] + frame("open", container_id="t", idle_time_out=idle_ms), 1.0)
    talk.out.clear()
    talk.flushed(1.0)
    assert talk.result is None
    return talk


def signs(talk: Conversation, until_s: float) -> list[float]:
    """When signs of life went out."""
    found = []
    while talk.result is None and talk.deadline_s < until_s:
        now_s = talk.deadline_s
        talk.tick(now_s)
        found += [now_s] * (bytes(talk.out) == SIGN)
        talk.out.clear()
    return found


def test_signs_of_life_go_out_below_half_of_what_is_announced() -> None:
    talk = opened(SIGN, 2000)
    found = signs(talk, 9.0)
    gaps = [after - before for before, after in zip([1.0, *found], found, strict=False)]
    assert len(found) >= 4 and max(gaps) < 1.0
    assert talk.result is not None and talk.result.refusal is None and deviates(talk.result)


@pytest.mark.parametrize(
    ("octets", "idle_ms"), [(SIGN, None), (SIGN, 0), (SIGN[:5], 2000), (frame("close"), 2000)]
)
def test_none_go_out_where_none_are_asked_for_or_may_be_said(octets: bytes, idle_ms: int | None) -> None:
    assert not signs(opened(octets, idle_ms), 9.0)


def test_none_go_out_before_open_was_exchanged() -> None:
    talk = Conversation(item("header", SIGN), Values(mechanism="NONE"), PATIENT, 0.0)
    talk.connected(0.0)
    talk.heard(HEADERS["amqp"] + frame("open", container_id="t", idle_time_out=100), 1.0)
    talk.out.clear()
    talk.flushed(1.0)
    assert not signs(talk, 9.0)


TIMED_OUT = {"condition": "amqp:resource-limit-exceeded", "description": "local-idle-timeout expired"}


@pytest.mark.parametrize("words", [TIMED_OUT, {"condition": "amqp:internal-error", "description": "?"}])
def test_a_close_for_silence_is_no_refusal(words: dict[str, str]) -> None:
    talk = opened(SIGN[:5], 2000)
    talk.heard(frame("close", error=words), 3.5)
    assert talk.result is not None and talk.result.reaction == "silence" and deviates(talk.result)


def test_an_end_of_the_stream_for_silence_is_no_refusal() -> None:
    late, early = opened(SIGN[:5], 2000), opened(SIGN[:5], 2000)
    late.ended(End.FIN, 3.5)
    early.ended(End.FIN, 1.2)
    assert late.result is not None and late.result.refusal is None and late.result.end is End.OPEN
    assert early.result is not None and early.result.refusal == Refusal(Scope.SOCKET)
    assert deviates(late.result) and not deviates(early.result)


def test_a_refusal_with_those_words_that_comes_at_once_is_one() -> None:
    talk = opened(SIGN, None)
    talk.heard(frame("close", error=TIMED_OUT), 1.1)
    assert talk.result is not None
    assert talk.result.refusal == Refusal(Scope.CONNECTION, "amqp:resource-limit-exceeded")
    session = opened(SIGN[:5], 2000)
    session.heard(frame("end", error={"condition": "amqp:not-found"}), 3.5)
    assert session.result is not None and session.result.refusal == Refusal(Scope.SESSION, "amqp:not-found")


# --- classes and methods


def tune_ok(heartbeat: int) -> bytes:
    say = Say("", "connection.tune-ok", 0, (("frame_max", 4096), ("heartbeat", heartbeat)))
    return octets_of_step(METHODS, Step((say,)), Values())


def test_ways_settle_no_heartbeats_and_inputs_may() -> None:
    ways = [octets_of_step(METHODS, step, Values()) for s in states(METHODS).values() for step in s.steps]
    assert ways and not any(settled_s(METHODS, octets) for octets in ways)
    assert settled_s(METHODS, tune_ok(3)) == 3.0 and settled_s(METHODS, tune_ok(3)[:-1]) == 0.0
    assert settled_s(TYPES, SIGN) == 0.0


@pytest.mark.parametrize(("heartbeat", "refusal"), [(2, None), (0, Refusal(Scope.SOCKET))])
def test_the_end_that_missing_heartbeats_bring_is_no_refusal(heartbeat: int, refusal: Refusal | None) -> None:
    talk = Conversation(item("raw", tune_ok(heartbeat), METHODS), Values(), PATIENT, 0.0)
    talk.connected(0.0)
    talk.out.clear()
    talk.flushed(0.0)
    talk.ended(End.RST, 4.0)
    assert talk.result is not None and talk.result.refusal == refusal


# --- the reference broker, which closes after four seconds


def test_the_reference_broker_does_not_close_while_a_refusal_is_waited_for() -> None:
    with ReferenceBroker(TYPES) as broker:
        executor = Executor(
            Address(broker.host, broker.port), lambda n: Values(container=f"c{n}"), PATIENT, 4
        )
        found: list[InputResult] = list(executor.run([item("session", SIGN), item("session", SIGN[:5])]))
        executor.close()
    assert [(o.reached, o.refusal, o.reaction) for o in found] == [(True, None, "silence")] * 2


# --- signs of life of the target


def test_a_heartbeat_that_is_due_is_no_answer() -> None:
    talk = Conversation(item("raw", tune_ok(1), METHODS, owed=False), Values(), PATIENT, 0.0)
    talk.connected(0.0)
    talk.out.clear()
    talk.flushed(0.0)
    talk.heard(bytes.fromhex("080000 00000000 ce"), 0.95)
    talk.ended(End.FIN, 0.96)
    assert talk.result is not None and talk.result.arrivals == ()
    assert talk.result.timing.latency_s is None


def test_an_empty_frame_is_no_answer() -> None:
    talk = opened(SIGN, None, owed=False)
    talk.heard(SIGN, 1.01)
    talk.ended(End.FIN, 1.02)
    assert talk.result is not None and talk.result.arrivals == ()
    assert talk.result.timing.latency_s is None
