"""The conduct of servers of 0-10: a correct one keeps every rule, wherever a conversation ends; each can be broken."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.net.stream import Endpoint
from amqpspec.peer.context import Login
from amqpspec.record.rows import Outcome
from amqpspec.reference.server import ReferenceBroker
from amqpspec.reference.tap import Manners, tapped
from amqpspec.run.amqp_0_10.agent import run_scenario
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CONTEXT, Client, Encounter
from amqpspec.run.clients.execute import judged
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.run.clients.roles import about
from amqpspec.run.clients.scenario import Order
from amqpspec.run.clients.watching import Seen
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.conversations import AssemblyReading
from amqpspec.wire.amqp_0_10.frames import encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import CONTROL
from amqpspec.wire.conversation import Chunk, Talk
from tests.run.clients.test_watching import _Talks
from tests.waiting import PATIENCE_S

_DIALECT = "amqp-0-10-clients"
_READING = AssemblyReading()
_SUITE = about(load_suite(_DIALECT), Side.SERVER)
_SCENARIOS = ("connect", "publish", "publish-transactional", "consume", "get", "large", "return", "refused")
_WRONG = (Outcome.FAIL, Outcome.NONSTRICT, Outcome.OBSERVED, Outcome.ERROR)
Change = Callable[[bytes], bytes]
"""From the server's assembly to what is said in its place."""


@cache
def _conversation(scenario: str) -> Talk:
    kept = _Talks()
    with ReferenceBroker("amqp-0-10", through=tapped(kept, Manners(_READING))) as broker:
        order = Order(scenario, Endpoint("127.0.0.1", broker.port), Login(), CONTEXT)
        run_scenario(order, lambda name, data: None)
        assert kept.lost_one.wait(PATIENCE_S)
    return kept.talks[0]


def _verdicts(talk: Talk) -> dict[str, Verdict]:
    seen = Seen(Encounter([_READING.conversation(talk)], Ran(Application.UNSEEN, None, (), ""), "x"))
    return {case.id: judged(case, Client(seen, case.id, case.requirements)) for case in _SUITE.values()}


def _wrong(talk: Talk) -> set[str]:
    return {id for id, verdict in _verdicts(talk).items() if verdict.outcome in _WRONG}


@pytest.mark.parametrize("scenario", _SCENARIOS)
def test_the_reference_broker_keeps_every_rule(scenario: str) -> None:
    found = _verdicts(_conversation(scenario))
    assert not _wrong(_conversation(scenario)), {
        id: found[id].observed for id in _wrong(_conversation(scenario))
    }
    assert {v.outcome for v in found.values()} <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
    assert {v.facts.role for v in found.values()} == {"server"}


def test_every_rule_is_broken_below() -> None:
    hostile = {case for case, *_ in _HOSTILE}
    elsewhere = {case for case, *_ in _BROKEN} | {"server.heartbeat.interval"}
    assert hostile | elsewhere == set(_SUITE)


@given(data=st.data())
def test_a_conversation_that_breaks_off_anywhere_is_no_deviation(data: st.DataObject) -> None:
    whole = _conversation(data.draw(st.sampled_from(_SCENARIOS)))
    kept = data.draw(st.integers(0, len(whole.chunks) - 1))
    cut = Talk(1, is_cut=data.draw(st.booleans()), is_left=data.draw(st.booleans()))
    cut.ended = data.draw(st.sampled_from(["", "FIN", "RST"]))
    cut.chunks += whole.chunks[:kept]
    last = whole.chunks[kept]
    if part := last.octets[: data.draw(st.integers(0, len(last.octets) - 1))]:
        cut.add(last.sender, last.at_ns, part)
    assert not _wrong(cut)


# --- broken


def _changed(scenario: str, after: str, change: Change) -> Talk:
    """A conversation in which the first assembly of a name is changed."""
    whole, changed = _conversation(scenario), Talk(1, ended="FIN")
    cutter, is_done = _READING.cutter(), False
    for chunk in whole.chunks:
        octets = chunk.octets
        if chunk.sender is Side.SERVER:
            octets = b""
            for name, assembly in cutter.cut(chunk.octets):
                is_meant = name == after and not is_done
                is_done = is_done or is_meant
                octets += change(assembly) if is_meant else assembly
        changed.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
    assert is_done
    return changed


def _hostile() -> list[tuple[str, str]]:
    """Each rule, with every hostile server for clients that breaks it."""
    rows = {case.covers[0].removeprefix("server/"): case.id for case in _SUITE.values()}
    broken = {id: case.covers[0].removeprefix("violated/") for id, case in load_suite(_DIALECT).items()}
    said = (id for id in provocations_of(_DIALECT) if ".silence." not in id)
    return [(rows[broken[id]], id) for id in said if broken[id] in rows]


_HOSTILE = _hostile()


@pytest.mark.parametrize(("case", "hostile"), _HOSTILE)
def test_a_rule_that_a_hostile_server_breaks_is_found(case: str, hostile: str) -> None:
    hostility = provocations_of(_DIALECT)[hostile]
    scenario = next(scenario for after, scenario in of.POINTS.values() if after == hostility.after)

    def change(assembly: bytes) -> bytes:
        return b"".join(octets for octets in hostility.deed(assembly) if isinstance(octets, bytes))

    verdict = _verdicts(_changed(scenario, hostility.after, change))[case]
    assert verdict.outcome in _WRONG[:3], verdict.observed
    assert verdict.facts.role == "server"


def _then(name: str, channel: int = 0, **args: Any) -> Change:
    return lambda assembly: assembly + encode_assembly(name, channel, **args)


_BROKEN: tuple[tuple[str, str, str, Change], ...] = (
    ("server.handshake.order", "connect", "connection.tune", lambda a: a + a),
    ("server.handshake.order", "connect", "connection.start", lambda a: encode_assembly("connection.open-ok", 0)),
    ("server.side", "connect", "connection.open-ok", _then("connection.open", virtual_host="/")),
    ("server.frame.size", "consume", "message.transfer", lambda a: a + encode_frame(bytes(20_000), type=CONTROL)),
    ("server.control.readable", "publish", "session.attached",
     lambda a: a + of.lying("session.flush", of.channel_of(a), extra=b"x")),
    ("server.command.readable", "publish", "session.attached",
     lambda a: a + of.pointed(0, of.lying("execution.sync", of.channel_of(a), extra=b"x"))),
    ("server.session.attached", "publish", "session.attached", _then("session.flush", 3)),
    ("server.session.command-point", "publish", "session.attached", _then("execution.sync")),
    ("server.completed", "publish", "session.completed", lambda a: of.again(a, commands=((0, 40),))),
    ("server.transfer.destination", "consume", "message.transfer", lambda a: of.again(a, destination="nobody")),
    ("server.close.last", "connect", "connection.close-ok", _then("connection.heartbeat")),
    ("server.close.codes", "connect", "session.attached",
     _then("connection.close", reply_code=7, reply_text="x")),
)  # fmt: skip


@pytest.mark.parametrize(("case", "scenario", "after", "change"), _BROKEN)
def test_a_broken_rule_is_found(case: str, scenario: str, after: str, change: Change) -> None:
    talk = _changed(scenario, after, change)
    verdicts = _verdicts(talk)
    verdict = verdicts[case]
    assert (verdict.outcome in _WRONG[:3], verdict.facts.role) == (True, "server"), verdict.observed
    assert Outcome.ERROR not in {v.outcome for v in verdicts.values()}


def _pausing(gap_s: float, before: bytes = b"") -> Talk:
    """A client that chose a heartbeat of one second, and a server that pauses once."""
    whole, talk = _conversation("connect"), Talk(1, ended="FIN")
    talk.chunks += whole.chunks[:-2]
    beat, at_ns = encode_assembly("connection.heartbeat", 0), talk.chunks[-1].at_ns
    for pause_s in (0.9, gap_s, 1.1):
        at_ns += round(pause_s * 1e9)
        talk.chunks.append(Chunk(Side.SERVER, at_ns, before + beat))
    return talk


@pytest.mark.parametrize(
    ("gap_s", "outcome"), [(1.9, Outcome.PASS), (2.1, Outcome.NONSTRICT), (60, Outcome.NONSTRICT)]
)
def test_silence_of_a_server_is_found(gap_s: float, outcome: Outcome) -> None:
    assert _verdicts(_pausing(gap_s))["server.heartbeat.interval"].outcome is outcome


def test_a_server_that_may_be_stuck_is_not_silent() -> None:
    stuck = encode_assembly("connection.heartbeat", 0) * 9_000
    assert _verdicts(_pausing(60, stuck))["server.heartbeat.interval"].outcome is Outcome.PASS
