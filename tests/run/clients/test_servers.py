"""The conduct of servers: a correct one keeps every rule wherever a conversation breaks off; each can be broken."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import Client, Encounter
from amqpspec.run.clients.execute import judged
from amqpspec.run.clients.roles import about
from amqpspec.run.clients.watching import Seen
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.suites.clients_0_9_1._hostile import OCTETS
from amqpspec.wire.conversation import Chunk, Talk
from tests.run.clients.test_watching import _DIALECT, _READING, _SCENARIOS, _conversation

of = OCTETS
_SUITE = about(load_suite(_DIALECT), Side.SERVER)
_IDLE = "idle"


def _verdicts(talk: Talk) -> dict[str, Verdict]:
    seen = Seen(Encounter([_READING.conversation(talk)], Ran(Application.UNSEEN, None, (), ""), "x"))
    return {case.id: judged(case, Client(seen, case.id, case.requirements)) for case in _SUITE.values()}


def _wrong(talk: Talk) -> set[str]:
    wrong = (Outcome.FAIL, Outcome.NONSTRICT, Outcome.ERROR)
    return {id for id, verdict in _verdicts(talk).items() if verdict.outcome in wrong}


@pytest.mark.parametrize("scenario", _SCENARIOS)
def test_the_reference_broker_keeps_every_rule(scenario: str) -> None:
    found = _verdicts(_conversation(scenario))
    assert {v.outcome for v in found.values()} <= {Outcome.PASS, Outcome.NOT_APPLICABLE}
    assert {v.facts.role for v in found.values()} == {"server"}


def test_every_rule_applies_somewhere_or_is_broken_below() -> None:
    applied = {
        id
        for scenario in _SCENARIOS
        for id, verdict in _verdicts(_conversation(scenario)).items()
        if verdict.outcome is Outcome.PASS
    }
    assert set(_SUITE) - applied == {"server.heartbeat.channel", "server.capabilities"}
    assert {case for case, *_ in _BROKEN} | {"server.heartbeat.interval"} == set(_SUITE)


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


@given(data=st.data())
def test_where_octets_are_cut_does_not_matter(data: st.DataObject) -> None:
    whole = _conversation(data.draw(st.sampled_from(_SCENARIOS)))
    pieces = Talk(1, ended="FIN")
    size = data.draw(st.integers(1, 400))
    for chunk in whole.chunks:
        for at in range(0, len(chunk.octets), size):
            pieces.chunks.append(replace(chunk, octets=chunk.octets[at : at + size]))
    assert not _wrong(pieces)


# --- broken

Change = Callable[[bytes, int], bytes]
"""From the server's frame and its channel to what is said in its place."""


def _changed(scenario: str, after: str, change: Change) -> Talk:
    """A conversation in which the server's first frame of a name is changed."""
    whole, changed = _conversation(scenario), Talk(1, ended="FIN")
    cutter, is_done = _READING.cutter(), False
    for chunk in whole.chunks:
        octets = chunk.octets
        if chunk.sender is Side.SERVER:
            octets = b""
            for name, frame in cutter.cut(chunk.octets):
                is_meant = name == after and not is_done
                is_done = is_done or is_meant
                octets += change(frame, of.channel_of(frame)) if is_meant else frame
        changed.chunks.append(Chunk(chunk.sender, chunk.at_ns, octets))
    assert is_done
    return changed


def _then(octets: Callable[[int], bytes]) -> Change:
    return lambda frame, channel: frame + octets(channel)


def _tuned(frame_max: int) -> Change:
    return lambda frame, channel: of.method(
        "connection.tune", 0, channel_max=9, frame_max=frame_max, heartbeat=0
    )


def _message(channel: int, number: int, tag: str = "agent") -> bytes:
    return of.delivery(channel, tag, number) + of.header(channel, 0)


def _returned(channel: int) -> bytes:
    return of.method("basic.return", channel, reply_code=312, reply_text="x") + of.header(channel, 0)


def _started(locales: bytes) -> Change:
    payload = struct.pack(">HHBBI", 10, 10, 0, 9, 0) + struct.pack(">I5s", 5, b"PLAIN")
    payload += struct.pack(">I", len(locales)) + locales
    return lambda frame, channel: of.frame_of("method", payload, 0)


_BROKEN: tuple[tuple[str, str, str, Change], ...] = (
    ("server.frames.readable", "connect", "channel.open-ok", lambda f, c: f[:-1] + b"\0"),
    ("server.frames.readable", "connect", "channel.open-ok", _then(lambda c: of.frame_of(77, b"", c))),
    ("server.frames.readable", "publish", "queue.declare-ok", lambda f, c: of.frame_of("method", f[7:-2], c)),
    ("server.frames.size", "large", "body", lambda f, c: of.frame_of("body", bytes(131_065), c)),
    ("server.frames.size", "connect", "connection.start", _started(b"en_US" + b" x" * 3000)),
    ("server.frames.channel-zero", "connect", "channel.open-ok", _then(lambda c: of.method("connection.blocked", c))),
    ("server.frames.channel-zero", "publish", "queue.declare-ok", lambda f, c: f[:2] + b"\0" + f[3:]),
    ("server.methods.role", "connect", "channel.open-ok", _then(lambda c: of.method("queue.declare", c, queue="x"))),
    ("server.handshake.order", "connect", "connection.tune", lambda f, c: f + f),
    ("server.handshake.order", "connect", "connection.tune", lambda f, c: of.method("connection.open-ok", 0) + f),
    ("server.handshake.order", "connect", "connection.open-ok", _then(lambda c: of.method("connection.open-ok", 0))),
    ("server.handshake.order", "connect", "connection.start", _then(lambda c: of.method("channel.open-ok", 1))),
    ("server.start.version", "connect", "connection.start", lambda f, c: of.start((0, 10))),
    ("server.start.locales", "connect", "connection.start", _started(b"de_DE")),
    ("server.tune.frame-max", "connect", "connection.tune", _tuned(4095)),
    ("server.heartbeat.channel", "connect", "channel.open-ok", _then(lambda c: of.frame_of("heartbeat", b"", c))),
    ("server.heartbeat.channel", "connect", "channel.open-ok", _then(lambda c: of.frame_of("heartbeat", b"x", 0))),
    ("server.close.codes", "refused", "channel.close",
     lambda f, c: of.method("channel.close", c, reply_code=7, reply_text="x")),
    ("server.connection.close", "publish", "connection.close-ok", _then(lambda c: of.method("connection.blocked", 0))),
    ("server.connection.close", "publish", "queue.declare-ok",
     lambda f, c: of.method("connection.close", 0, reply_code=320, reply_text="x") + f),
    ("server.channel.open", "publish", "queue.declare-ok", _then(lambda c: _message(c + 1, 1))),
    ("server.channel.open", "publish", "queue.declare-ok", _then(lambda c: of.method("channel.close", c + 1))),
    ("server.channel.open", "publish", "channel.close-ok", _then(lambda c: of.method("basic.ack", c, delivery_tag=2))),
    ("server.replies.asked", "publish", "queue.declare-ok", lambda f, c: f + f),
    ("server.replies.asked", "publish", "queue.declare-ok", _then(lambda c: of.method("tx.commit-ok", c))),
    ("server.replies.asked", "get", "basic.get-empty", lambda f, c: f + f),
    ("server.content.whole", "consume", "header", lambda f, c: of.header(c, 12)),
    ("server.content.whole", "consume", "header", lambda f, c: b""),
    ("server.content.whole", "consume", "header", lambda f, c: f + f),
    ("server.content.whole", "consume", "basic.deliver", lambda f, c: f + f),
    ("server.content.order", "consume", "basic.consume-ok", _then(lambda c: of.header(c, 0))),
    ("server.content.order", "connect", "connection.open-ok", _then(lambda c: of.frame_of("body", b"x", 0))),
    ("server.content.header", "consume", "header", lambda f, c: of.header(c, 11, class_id=90)),
    ("server.content.header", "consume", "header", lambda f, c: of.header(c, 11, weight=1)),
    ("server.delivery-tags", "consume", "basic.deliver", lambda f, c: of.delivery(c, number=0)),
    ("server.delivery-tags", "consume", "basic.deliver", lambda f, c: of.delivery(c, number=2)),
    ("server.consumer-tags", "consume", "basic.deliver", lambda f, c: of.delivery(c, "nobody", 1)),
    ("server.confirms", "publish", "basic.ack", lambda f, c: of.method("basic.ack", c, delivery_tag=3)),
    ("server.confirms", "publish", "basic.ack", lambda f, c: of.method("basic.ack", c, delivery_tag=0)),
    ("server.confirms", "publish", "basic.ack", lambda f, c: f + f),
    ("server.confirms", "connect", "channel.open-ok", _then(lambda c: of.method("basic.ack", c, delivery_tag=1))),
    ("server.returns", "publish", "queue.declare-ok", _then(_returned)),
    ("server.returns", "return", "basic.return", lambda f, c: _returned(c) + f),
    ("server.capabilities", "connect", "channel.open-ok", _then(lambda c: of.method("basic.cancel", c))),
)  # fmt: skip


@pytest.mark.parametrize(("case", "scenario", "after", "change"), _BROKEN)
def test_a_broken_rule_is_found(case: str, scenario: str, after: str, change: Change) -> None:
    talk = _changed(scenario, after, change)
    verdicts = _verdicts(talk)
    verdict = verdicts[case]
    assert (verdict.outcome, verdict.facts.role) == (Outcome.FAIL, "server")
    assert Outcome.ERROR not in {v.outcome for v in verdicts.values()}


def _beating(gap_s: float, before: bytes = b"") -> Talk:
    """A conversation that continues with heartbeats of the server, agreed every second, with one long gap."""
    whole, talk = _conversation("connect"), Talk(1, ended="FIN")
    talk.chunks += whole.chunks[:-2]
    beat, at_ns = of.frame_of("heartbeat", b"", 0), talk.chunks[-1].at_ns
    for pause_s in (0.9, 1.1, gap_s, 1.0):
        at_ns += round(pause_s * 1e9)
        talk.chunks.append(Chunk(Side.SERVER, at_ns, before + beat))
    return talk


@pytest.mark.parametrize(
    ("gap_s", "outcome"), [(1.5, Outcome.PASS), (2.5, Outcome.NONSTRICT), (60, Outcome.NONSTRICT)]
)
def test_silence_of_a_server_is_found(gap_s: float, outcome: Outcome) -> None:
    assert _verdicts(_beating(gap_s))["server.heartbeat.interval"].outcome is outcome


def test_a_server_that_may_be_stuck_is_not_silent() -> None:
    stuck = of.frame_of("heartbeat", b"x" * 4000, 0) * 20
    assert _verdicts(_beating(60, stuck))["server.heartbeat.interval"].outcome is not Outcome.NONSTRICT
