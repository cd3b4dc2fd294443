"""The suite for clients of AMQP/Fast: its ledger, rules wherever a talk ends, how answers are read."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites.clients_fast_0_8 import EVERY
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.amqp_fast_0_8.conversations import CommandReading
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.conversation import Conversation, Talk
from amqpspec.wire.direction import reader_name
from tests.run.clients.deeds import sent
from tests.run.clients.recorded import broken_off, conversation, verdicts

_DIALECT, _SERVED = "amqp-fast-0-8-clients", "amqp-fast-0-8"
_FREEDOMS = {"restartable/clients-may", "restartable/clients-need-not"}
_READING = CommandReading()
_CONDUCT = {id: case for id, case in load_suite(_DIALECT).items() if id not in provocations_of(_DIALECT)}
_talk = partial(conversation, _DIALECT)


# --- the ledger


def test_every_duty_of_clients_that_brokers_cannot_show_is_judged_here() -> None:
    known, here = load_ledger(_SERVED), load_ledger(_DIALECT)
    alone = {row.id for row in known.values() if not row.testable and row.binds == "client"}
    assert alone - set(here) == _FREEDOMS and len(alone & set(here)) == 44
    assert {id for id, row in known.items() if "the ledger for clients" in row.excluded} == alone & set(here)


def test_rows_are_those_of_the_ledger_for_brokers() -> None:
    known = load_ledger(_SERVED)
    for row in load_ledger(_DIALECT).values():
        rule = known[row.id.removeprefix("violated/")]
        assert rule.binds in (("server", "peer", "client") if row.id.startswith("violated/") else rule.binds)
        assert row.section == rule.section


# --- rules


def _judge(talk: Talk) -> dict[str, Outcome]:
    return {id: verdict.outcome for id, verdict in verdicts(_DIALECT, talk, _CONDUCT.values()).items()}


@pytest.mark.parametrize("scenario", EVERY)
def test_what_a_server_writes_is_cut_as_it_was_written(scenario: str) -> None:
    written = b"".join(c.octets for c in _talk(scenario).chunks if c.sender is Side.SERVER)
    assert b"".join(octets for _, octets in _READING.cutter().cut(written)) == written
    assert _READING.place(_talk(scenario)) == "/"


def test_every_rule_applies_somewhere() -> None:
    outcomes = [set(_judge(_talk(scenario)).items()) for scenario in EVERY]
    assert {id for found in outcomes for id, outcome in found if outcome is Outcome.PASS} == set(_CONDUCT)
    assert {id for found in outcomes for id, outcome in found if outcome is Outcome.FAIL} == set()


@given(data=st.data())
def test_a_conversation_that_breaks_off_anywhere_is_no_deviation(data: st.DataObject) -> None:
    broken = broken_off(data, _talk(data.draw(st.sampled_from(EVERY))))
    broken.is_left, broken.ended_ns = True, 1 << 62
    assert {id for id, outcome in _judge(broken).items() if outcome is Outcome.FAIL} == set()


# --- how an answer is read, and what is sent


def _heard(*frames: bytes) -> Conversation:
    talk = Talk(1, ended="FIN", hostile_ns=5, ended_ns=10)
    talk.add(Side.CLIENT, 1, b"\x80\x01")
    for frame in frames:
        talk.add(Side.CLIENT, 6, frame)
    return _READING.conversation(talk)


@pytest.mark.parametrize(
    ("frame", "refusal"),
    [
        (command_frame("connection.close", reply_code=501), Refusal(Scope.CONNECTION, 501)),
        (command_frame("connection.close", reply_code=200), Refusal(Scope.CONNECTION, 200)),
        (command_frame("channel.close", channel_id=1, reply_code=503), Refusal(Scope.CHANNEL, 503)),
        (command_frame("handle.close", handle_id=1, reply_code=542), Refusal(Scope.HANDLE, 542)),
        (command_frame("handle.close", handle_id=1, reply_code=200), Refusal(Scope.SOCKET)),
        (command_frame("connection.ping"), Refusal(Scope.SOCKET)),
    ],
)
def test_a_refusal_is_read_at_its_scope(frame: bytes, refusal: Refusal) -> None:
    assert of.reading(_heard(frame), Ran(Application.REPORTED, None, (), "")) == refusal


def test_frames_can_be_changed_and_can_lie() -> None:
    notify = command_frame("handle.notify", handle_id=3, message_nbr=9, fragment=b"abc", dest_name="q")
    assert of.again(notify) == notify
    assert of.read(of.again(notify, message_nbr=10)).args["message_nbr"] == 10
    assert of.again(notify, escaped=True) == b"\xff\xff\0\0" + notify
    assert of.again(notify, end=0) == notify[:-4] + b"\0abc"
    cut = sent(of.fields_changed(lambda fields: fields[:-1]), notify)
    assert int.from_bytes(cut[:2], "big") == int.from_bytes(notify[:2], "big") - 1 and cut.endswith(b"abc")
    lie = sent(of.lying_size(7), b"")
    assert lie.startswith(b"\xff\xff\0\0\0\7")


def test_directions_are_named_as_in_evidence() -> None:
    garbled = _heard(b"\0\5\x0e\0\0\0\0")
    last = garbled.said[-1]
    assert (last.name, last.place) == ("garbled", "octet 2 of client→server")
    assert reader_name("out") in str(last.what)
