"""What the broker says to what a client says: connection, channel, frames and contents."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.reference.methods.classes import CLASSES
from amqpspec.reference.methods.handlers import CHANNEL_HANDLERS, CONNECTION_HANDLERS
from amqpspec.reference.methods.wire import served_codec
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.amqp_0_9_1 import DIALECT
from amqpspec.spec.model import Side
from tests.reference.talk import Talk, closed, ready


def test_every_method_of_a_client_has_a_handler() -> None:
    assert CLASSES
    methods = served_codec("amqp-0-9-1").dialect.methods.values()
    names = {m.name for m in methods if m.sent_by is not Side.SERVER}
    assert names - set(CONNECTION_HANDLERS) - set(CHANNEL_HANDLERS) == set()


# --- connection


def test_start_says_who_we_are(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.octets(DIALECT.protocol_header)
        start = talk.hear("connection.start")
        assert (start["version_major"], start["version_minor"]) == (0, 9)
        properties = start["server_properties"].plain()
        assert {"host", "product", "version", "platform", "copyright", "information"} <= set(properties)
        assert properties["capabilities"]["publisher_confirms"] is True
        assert b"PLAIN" in start["mechanisms"].split() and b"en_US" in start["locales"].split()


def test_the_whole_handshake_may_come_in_one_write(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        start_ok = talk.method(
            "connection.start-ok", 0, mechanism="PLAIN", response=b"\0guest\0guest", locale="en_US"
        )
        tune_ok = talk.method("connection.tune-ok", 0)
        talk.octets(
            DIALECT.protocol_header + start_ok + tune_ok + talk.method("connection.open", 0, virtual_host="/")
        )
        for name in ("connection.start", "connection.tune", "connection.open-ok"):
            talk.hear(name)


def test_octet_by_octet(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        for octet in DIALECT.protocol_header:
            talk.octets(bytes((octet,)))
        talk.hear("connection.start")


@pytest.mark.parametrize(
    ("mechanism", "response"),
    [
        ("PLAIN", b"\0guest\0guest"),
        ("ANONYMOUS", b""),
        ("AMQPLAIN", b"\x05LOGINS\x00\x00\x00\x05guest\x08PASSWORDS\x00\x00\x00\x05guest"),
    ],
)
def test_mechanisms(broker: ReferenceBroker, mechanism: str, response: bytes) -> None:
    with ready(broker.url, mechanism=mechanism, response=response) as talk:
        talk.silent()


@pytest.mark.parametrize(
    ("answer", "succeeds"), [(b"My password is guest", True), (b"My password is x", False)]
)
def test_a_second_round(broker: ReferenceBroker, answer: bytes, succeeds: bool) -> None:
    with Talk(broker.url) as talk:
        talk.octets(DIALECT.protocol_header)
        talk.hear("connection.start")
        talk.start_ok({"mechanism": "RABBIT-CR-DEMO", "response": b"guest"})
        assert b"password" in talk.hear("connection.secure")["challenge"]
        talk.say("connection.secure-ok", 0, response=answer)
        assert talk.hear("connection.tune") if succeeds else talk.ended()


@pytest.mark.parametrize("response", [b"\0guest\0wrong", b"\0nobody\0guest", b"guest", b"\0guest"])
def test_a_failed_login_ends_the_socket(broker: ReferenceBroker, response: bytes) -> None:
    with Talk(broker.url) as talk:
        talk.octets(DIALECT.protocol_header)
        talk.hear("connection.start")
        talk.start_ok({"response": response})
        assert talk.ended()


def test_a_failed_login_is_told_to_who_can_hear_it(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.octets(DIALECT.protocol_header)
        talk.hear("connection.start")
        talk.start_ok({"response": b"\0guest\0no", "capabilities": {"authentication_failure_close": True}})
        closed(talk, "connection", 403, "connection.start-ok")
        talk.say("connection.close-ok", 0)
        assert talk.ended()


@pytest.mark.parametrize(
    "options", [{"channel_max": 2048}, {"frame_max": 131073}, {"frame_max": 4095}, {"mechanism": "X"}]
)
def test_errors_before_open_end_the_socket(broker: ReferenceBroker, options: dict[str, Any]) -> None:
    with Talk(broker.url) as talk, pytest.raises(AssertionError, match="actual None"):
        talk.handshake(**options)


@pytest.mark.parametrize(("vhost", "code"), [("missing", 402), ("forbidden", 403)])
def test_virtual_hosts_that_cannot_be_opened(broker: ReferenceBroker, vhost: str, code: int) -> None:
    with Talk(broker.url) as talk, pytest.raises(AssertionError, match=f"connection.close reply-code={code}"):
        talk.handshake(vhost=vhost)


def test_virtual_hosts_are_apart(broker: ReferenceBroker, talk: Talk) -> None:
    talk.ask("queue.declare", queue="q")
    with ready(broker.url, vhost="second") as there:
        there.say("queue.declare", queue="q", passive=True)
        closed(there, "channel", 404, "queue.declare")


def test_update_secret(talk: Talk) -> None:
    talk.ask("connection.update-secret", 0, new_secret=b"new", reason="time")


def test_closes_that_cross(talk: Talk) -> None:
    talk.octets(bytes.fromhex("01 0001 00000004 0fff 0001 ce"))
    talk.say("queue.declare", queue="discarded")
    talk.say("connection.close", 0)
    assert talk.hear("connection.close")["reply_code"] == 503
    talk.hear("connection.close-ok")
    assert talk.ended()


# --- heartbeats


def test_heartbeats_are_sent_and_missed(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.handshake(heartbeat=1)
        frames = []
        while (frame := talk.next()) is not None:
            frames.append(frame)
        assert len(frames) >= 2
        assert {getattr(frame, "type", None) for frame in frames} == {8}


# --- channel


def test_channels_open_close_and_open_again(talk: Talk) -> None:
    for _ in range(2):
        talk.ask("channel.open", 7)
        talk.ask("channel.close", 7)
    talk.say("channel.open", 1)
    closed(talk, "connection", 504, "channel.open")


def test_channel_closed_by_the_broker_discards_until_close_ok(talk: Talk) -> None:
    talk.say("queue.declare", queue="missing", passive=True)
    talk.say("queue.declare", queue="discarded")
    closed(talk, "channel", 404, "queue.declare")
    talk.say("channel.close-ok")
    talk.ask("channel.open")
    talk.say("queue.declare", queue="discarded", passive=True)
    closed(talk, "channel", 404, "queue.declare")


def test_closes_of_a_channel_that_cross(talk: Talk) -> None:
    talk.say("queue.declare", queue="missing", passive=True)
    talk.say("channel.close")
    talk.hear("channel.close")
    talk.hear("channel.close-ok")
    talk.say("channel.close-ok")
    talk.ask("channel.open")


def test_flow_stops_deliveries_and_not_gets(talk: Talk) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.ask("basic.consume", queue="q", no_ack=True)
    assert talk.ask("channel.flow", active=False)["active"] is False
    assert talk.ask("queue.declare", queue="q", exclusive=True)["consumer_count"] == 0
    talk.publish("", "q", b"1")
    talk.publish("", "q", b"2")
    got = talk.get("q")
    assert got is not None and got[1] == b"1"
    assert talk.ask("channel.flow", active=True)["active"] is True
    assert talk.delivery()[1] == b"2"


@pytest.mark.parametrize("name", ["channel.close-ok", "channel.flow-ok"])
def test_replies_to_nothing(talk: Talk, name: str) -> None:
    talk.say(name)
    closed(talk, "connection", 503, name)


# --- framing


@pytest.mark.parametrize(
    ("octets", "code"),
    [
        ("08 0001 00000000 ce", 501),
        ("08 0000 00000001 00 ce", 501),
        ("02 0000 00000000 ce", 504),
        ("03 0001 00000000 ce", 505),
        ("02 0001 0000000e 003c 0000 0000000000000000 0000 ce", 505),
        ("01 0001 00000004 0fff 0001 ce", 503),
        ("01 0001 00000004 003c 0fff ce", 503),
        ("01 0001 00000003 003c00 ce", 501),
        ("01 0001 00000004 000a 0033 ce", 503),
        ("01 0000 00000005 0014 000a 00 ce", 504),
        ("01 0009 00000004 005a 000a ce", 504),
        ("01 0001 00000005 003c 0050 00 ce", 501),
        ("01 0001 00000005 005a 000a 00 ce", 501),
        ("01 0001 00000004 005a 000b ce", 503),
        ("01 0001 0000000d 0032 000a 0000 01 00 00 00000000 ce", 502),
        ("01 0001 00000011 0032 000a 0000 01 71 00 00000004 01 61 3f 00 ce", 501),
        ("01 0001 00000011 0032 000a 0000 01 71 00 00000004 02 39 61 56 ce", 502),
    ],
)
def test_broken_frames(talk: Talk, octets: str, code: int) -> None:
    talk.octets(bytes.fromhex(octets))
    assert talk.hear("connection.close")["reply_code"] == code


@pytest.mark.parametrize(
    ("octets", "code"),
    [
        ("03 0001 00000001 00 ce", 505),
        ("01 0001 00000004 005a 000a ce", 505),
        ("02 0001 0000000e 0032 0000 0000000000000000 0000 ce", 501),
        ("02 0001 0000000e 003c 0001 0000000000000000 0000 ce", 505),
        ("02 0001 0000000e 003c 0000 0000000000000000 0002 ce", 505),
        ("02 0001 0000000e 003c 0000 0000000000000001 0000 ce 03 0001 00000002 0000 ce", 505),
        ("02 0001 0000000e 003c 0000 0000000000000001 0000 ce 01 0001 00000004 005a 000a ce", 505),
    ],
)
def test_broken_contents(talk: Talk, octets: str, code: int) -> None:
    talk.say("basic.publish", routing_key="q")
    talk.octets(bytes.fromhex(octets))
    close = talk.hear("connection.close")
    assert close["reply_code"] == code


def test_content_too_large(talk: Talk) -> None:
    talk.say("basic.publish", routing_key="q")
    talk.octets(bytes.fromhex("02 0001 0000000e 003c 0000 00ffffffffffffff 0000 ce"))
    closed(talk, "channel", 311, "basic.publish")


def test_bodies_are_split_to_the_agreed_size(broker: ReferenceBroker) -> None:
    with ready(broker.url, frame_max=4096) as talk:
        talk.ask("queue.declare", queue="q", exclusive=True)
        body = bytes(range(256)) * 40
        header = talk.content(b"", properties={"content_type": "x"})
        talk.octets(talk.method("basic.publish", routing_key="q"))
        frames = header[:11] + len(body).to_bytes(8, "big") + header[19:]
        for at in range(0, len(body), 1000):
            part = body[at : at + 1000]
            frames += b"\x03\x00\x01" + len(part).to_bytes(4, "big") + part + b"\xce"
        talk.octets(frames)
        got = talk.get("q")
        assert got is not None and got[1] == body
