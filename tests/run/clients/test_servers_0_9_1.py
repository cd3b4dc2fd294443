"""The conduct of servers of 0-9-1: each rule can be broken."""

from __future__ import annotations

import struct
from collections.abc import Callable

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.suites.clients_0_9_1._hostile import OCTETS
from amqpspec.wire.conversation import Talk
from tests.run.clients.recorded import Conduct, pausing

of = OCTETS
CONDUCT = Conduct(
    "amqp-0-9-1-clients",
    ("connect", "publish", "publish-transactional", "consume", "get", "large", "return", "refused"),
)


def test_every_rule_applies_somewhere_or_is_broken_below() -> None:
    applied = {
        id
        for scenario in CONDUCT.scenarios
        for id, verdict in CONDUCT.verdicts(CONDUCT.conversation(scenario)).items()
        if verdict.outcome is Outcome.PASS
    }
    assert set(CONDUCT.rules) - applied == {"server.heartbeat.channel", "server.capabilities"}
    assert {case for case, *_ in _BROKEN} | {"server.heartbeat.interval"} == set(CONDUCT.rules)


Change = Callable[[bytes, int], bytes]
"""From the server's frame and its channel to what is said in its place."""


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
    talk = CONDUCT.changed(scenario, after, lambda frame: change(frame, of.channel_of(frame)))
    assert CONDUCT.found(case, talk).outcome is Outcome.FAIL


def _beating(gap_s: float, before: bytes = b"") -> Talk:
    """A conversation that continues with heartbeats of the server, agreed every second, with one long gap."""
    beat = of.frame_of("heartbeat", b"", 0)
    return pausing(CONDUCT.conversation("connect").chunks[:-2], before + beat, (0.9, 1.1, gap_s, 1.0))


@pytest.mark.parametrize(
    ("gap_s", "outcome"), [(1.5, Outcome.PASS), (2.5, Outcome.NONSTRICT), (60, Outcome.NONSTRICT)]
)
def test_silence_of_a_server_is_found(gap_s: float, outcome: Outcome) -> None:
    assert CONDUCT.verdicts(_beating(gap_s))["server.heartbeat.interval"].outcome is outcome


def test_a_server_that_may_be_stuck_is_not_silent() -> None:
    stuck = of.frame_of("heartbeat", b"x" * 4000, 0) * 20
    assert CONDUCT.verdicts(_beating(60, stuck))["server.heartbeat.interval"].outcome is not Outcome.NONSTRICT
