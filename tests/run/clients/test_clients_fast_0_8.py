"""The suite for clients of AMQP/Fast: its ledger, its agent clean and with mistakes, rules wherever a talk ends."""

from __future__ import annotations

import json
import threading
from functools import cache, partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login
from amqpspec.record.journal import Journal
from amqpspec.record.rows import Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import Manners, tapped
from amqpspec.run.amqp_fast_0_8.agent import run_scenario
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CONTEXT, Client, Encounter
from amqpspec.run.clients.execute import judged
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.run.clients.scenario import Order, ScenarioError, UnknownScenario
from amqpspec.run.clients.watching import Judged, Seen, Watch
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites.clients_fast_0_8 import EVERY
from amqpspec.suites.clients_fast_0_8 import _hostile as of
from amqpspec.wire.amqp_fast_0_8.conversations import CommandReading
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.conversation import Conversation, Talk
from amqpspec.wire.direction import reader_name
from tests.run.clients.command import agent, client, verdicts_of
from tests.run.clients.deeds import sent

_DIALECT, _SERVED = "amqp-fast-0-8-clients", "amqp-fast-0-8"
_FREEDOMS = {"restartable/clients-may", "restartable/clients-need-not"}
_READING = CommandReading()
_CONDUCT = {id: case for id, case in load_suite(_DIALECT).items() if id not in provocations_of(_DIALECT)}
_client = partial(client, "amqp-fast-0-8")


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


# --- the reference agent


def test_the_reference_agent_passes(tmp_path: Path) -> None:
    result = _client(
        tmp_path, "client.response.*", "client.prepare.answered", "client.hostile.message.body-*",
        "client.understands.escaped.notify", "client.asked.close.999.handle", "client.hostile.fin.created",
    )  # fmt: skip
    assert (result.exit_code, set(verdicts_of(result).values())) == (0, {"pass"})


@pytest.mark.parametrize(
    ("fault", "case", "verdict", "application"),
    [
        ("field-named-badly", "client.tables.names", "fail", ""),
        ("response-without-login", "client.response.plain", "nonstrict", ""),
        ("messages-mixed", "client.send.unmixed", "fail", ""),
        ("handle-zero", "client.handle.id", "fail", ""),
        ("answers-no-close", "client.asked.close.200.handle", "fail", "reported"),
        ("escape-not-known", "client.understands.escaped.channel", "fail", "reported"),
        ("ignores-every-violation", "client.hostile.never.handle.flow.channel", "fail", "silent"),
        ("crashes-on-what-it-cannot-read", "client.hostile.end-octet.notify", "fail", "crash"),
        ("takes-the-end-for-success", "client.hostile.fin.ready", "fail", "silent"),
    ],
)
def test_a_mistake_is_found(tmp_path: Path, fault: str, case: str, verdict: str, application: str) -> None:
    result = _client(tmp_path, "--command", agent("amqp-fast-0-8", fault), case)
    assert verdicts_of(result) == {case: verdict}
    row = json.loads(result.stdout)["cases"][0]
    assert row["facts"].get("application", "") == application


def test_a_scenario_that_nobody_knows_is_none() -> None:
    order = Order("publish", Endpoint("127.0.0.1", 1), Login(), CONTEXT)
    with pytest.raises(UnknownScenario):
        run_scenario(order, lambda name, data: None)


# --- without an agent


class _Talks:
    """A recorder that keeps the conversations."""

    def __init__(self) -> None:
        self.talks: list[Talk] = []
        self.lost_one = threading.Event()

    def began(self, talk: Talk) -> None:
        self.talks.append(talk)

    def octets(self, talk: Talk, sender: Side, at_ns: int, octets: bytes) -> None:
        pass

    def ended(self, talk: Talk) -> None:
        pass

    def lost(self, talk: Talk) -> None:
        self.lost_one.set()


def _act(broker: ReferenceBroker, scenario: str, vhost: str = "/") -> None:
    order = Order(scenario, Endpoint("127.0.0.1", broker.port), Login(vhost=vhost), CONTEXT)
    run_scenario(order, lambda name, data: None)


@cache
def _talk(scenario: str) -> Talk:
    kept = _Talks()
    with ReferenceBroker(_SERVED, through=tapped(kept, Manners(_READING))) as broker:
        _act(broker, scenario)
        assert kept.lost_one.wait(10)
    return kept.talks[0]


def _judge(talk: Talk) -> dict[str, Outcome]:
    seen = Seen(Encounter([_READING.conversation(talk)], Ran(Application.UNSEEN, None, (), ""), "x"))
    return {id: judged(case, Client(seen, id, case.requirements)).outcome for id, case in _CONDUCT.items()}


@pytest.mark.parametrize("scenario", EVERY)
def test_what_a_server_writes_is_cut_as_it_was_written(scenario: str) -> None:
    written = b"".join(c.octets for c in _talk(scenario).chunks if c.sender is Side.SERVER)
    assert b"".join(octets for _, octets in _READING.cutter().cut(written)) == written
    assert _READING.place(_talk(scenario)) == "/"


def test_every_rule_applies_somewhere() -> None:
    outcomes = [_judge(_talk(scenario)) for scenario in EVERY]
    assert {id for found in outcomes for id, outcome in found.items() if outcome is Outcome.PASS} == set(
        _CONDUCT
    )


@given(data=st.data())
def test_a_conversation_that_breaks_off_anywhere_is_no_deviation(data: st.DataObject) -> None:
    whole = _talk(data.draw(st.sampled_from(EVERY)))
    octets = data.draw(st.integers(0, sum(len(chunk.octets) for chunk in whole.chunks)))
    broken = Talk(1, ended=data.draw(st.sampled_from(["FIN", "RST", ""])), ended_ns=1 << 62, is_left=True)
    for chunk in whole.chunks:
        if octets > 0:
            broken.add(chunk.sender, chunk.at_ns, chunk.octets[:octets])
        octets -= len(chunk.octets)
    assert {id for id, outcome in _judge(broken).items() if outcome is Outcome.FAIL} == set()


def test_a_hostile_server_is_chosen_by_the_virtual_path(tmp_path: Path) -> None:
    chosen = "client.hostile.notify-unasked.handle"
    told, done = list[Judged](), threading.Event()

    def tell(judged: Judged) -> None:
        told.append(judged)
        done.set()

    known = {chosen: provocations_of(_DIALECT)[chosen]}
    with (
        Journal(tmp_path) as journal,
        Watch(_DIALECT, tmp_path, load_suite(_DIALECT), journal, tell) as watch,
    ):
        watch.provoked = lambda talk: watch.reading.place(talk) or ""
        through = tapped(watch, Manners(watch.reading, None, known))
        with (
            ReferenceBroker(_SERVED, through=through, vhosts=tuple(known)) as broker,
            pytest.raises(ScenarioError, match="which consumes nothing"),
        ):
            _act(broker, "send", chosen)
        assert done.wait(10)
    assert [(judged.provoked, [row.id for row in judged.rows]) for judged in told] == [(chosen, [chosen])]
    assert told[0].rows[0].verdict is Outcome.PASS


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
