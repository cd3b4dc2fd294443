"""What the broker refuses, by octets and performatives, and how a fault makes the refusal wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import encode_frame, performative_frame
from amqpspec.wire.amqp_1_0.values import Value
from tests.reference.amqp_1_0.conftest import Broken
from tests.reference.amqp_1_0.talk import WINDOWS, Talk, ready

BEGIN = performative_frame("begin", **WINDOWS)


@pytest.mark.parametrize(
    "octets",
    [
        b"AMQP\x00\x01\x01\x00",
        b"AMQP\x00\x01\x00\x01",
        b"AMQP\x00\x00\x00\x01",
        b"AMQP\x02\x01\x00\x00",
        b"AMQP\x09\x01\x00\x00",
        b"AMQX",
        b"GET / HTTP/1.1\r\n\r\n",
        b"\x00" * 8,
        b"HTTP",
    ],
)
def test_other_headers_are_answered_by_the_own_one(broker: ReferenceBroker, octets: bytes) -> None:
    with Talk(broker.url) as talk:
        talk.octets(octets)
        assert talk.header() == HEADERS["amqp"]
        assert talk.ended()


def _closed(talk: Talk, condition: str) -> None:
    close = talk.hear("close")
    assert close["error"]["condition"] == condition and close["error"]["description"]
    talk.octets(BEGIN)
    talk.say("close")
    assert talk.ended()


@pytest.mark.parametrize(
    ("octets", "condition"),
    [
        (BEGIN, "amqp:illegal-state"),
        (performative_frame("open", 1, container_id="x"), "amqp:connection:framing-error"),
        (performative_frame("open"), "amqp:decode-error"),
        (performative_frame("open", container_id="x", max_frame_size=256), "amqp:invalid-field"),
        (performative_frame("open", container_id="x", hostname="nowhere.invalid"), "amqp:not-found"),
        (performative_frame("open", container_id="x", hostname="forbidden"), "amqp:unauthorized-access"),
        (performative_frame("open", container_id="x" * 600), "amqp:connection:framing-error"),
        (encode_frame(b""), "amqp:illegal-state"),
        (bytes.fromhex("01 0000 0000000c 000a000a ffffffff ce"), "amqp:connection:framing-error"),
    ],
)
def test_errors_before_the_open_follow_the_own_open(
    broker: ReferenceBroker, octets: bytes, condition: str
) -> None:
    with Talk(broker.url) as talk:
        talk.octets(HEADERS["amqp"] + octets)
        assert talk.header() == HEADERS["amqp"]
        talk.hear("open")
        _closed(talk, condition)


@pytest.mark.parametrize(
    ("octets", "condition"),
    [
        (encode_frame(b"", size=7), "amqp:connection:framing-error"),
        (encode_frame(b"", size=0), "amqp:connection:framing-error"),
        (encode_frame(b"", doff=1), "amqp:connection:framing-error"),
        (encode_frame(b"", size=12, doff=4) + b"\0" * 4, "amqp:connection:framing-error"),
        (encode_frame(b"", size=65537), "amqp:connection:framing-error"),
        (encode_frame(b"", frame_type=2), "amqp:connection:framing-error"),
        (encode_frame(b"", frame_type=1), "amqp:connection:framing-error"),
        (encode_frame(bytes.fromhex("005319 45")), "amqp:decode-error"),
        (encode_frame(bytes.fromhex("45")), "amqp:decode-error"),
        (HEADERS["amqp"], "amqp:illegal-state"),
        (performative_frame("open", container_id="x"), "amqp:illegal-state"),
        (BEGIN, "amqp:illegal-state"),
        (performative_frame("begin", 1, remote_channel=0, **WINDOWS), "amqp:not-allowed"),
        (performative_frame("begin", 512, **WINDOWS), "amqp:connection:framing-error"),
        (performative_frame("begin", 1, next_outgoing_id=0), "amqp:decode-error"),
        (performative_frame("flow", 7, **WINDOWS), "amqp:illegal-state"),
        (performative_frame("end", 7), "amqp:illegal-state"),
        (performative_frame("attach", name="n", handle=256, role="sender"), "amqp:connection:framing-error"),
    ],
)
def test_errors_of_a_connection(talk: Talk, octets: bytes, condition: str) -> None:
    talk.octets(octets)
    _closed(talk, condition)


@pytest.mark.parametrize(
    ("octets", "condition"),
    [
        (performative_frame("flow", **WINDOWS, handle=9), "amqp:session:unattached-handle"),
        (performative_frame("detach", handle=9), "amqp:session:unattached-handle"),
        (performative_frame("transfer", handle=9), "amqp:session:unattached-handle"),
        (performative_frame("attach", name="n", role="sender"), "amqp:decode-error"),
        (performative_frame("flow", next_outgoing_id=0), "amqp:decode-error"),
        (performative_frame("transfer"), "amqp:decode-error"),
        (performative_frame("disposition", role="sender"), "amqp:decode-error"),
        (performative_frame("detach"), "amqp:decode-error"),
        (performative_frame("flow", **WINDOWS, link_credit=1), "amqp:invalid-field"),
        (performative_frame("flow", **WINDOWS, drain=True), "amqp:invalid-field"),
        (performative_frame("flow", **WINDOWS, available=1), "amqp:invalid-field"),
        (
            performative_frame("attach", name="n", handle=Value("symbol", "x"), role="sender"),
            "amqp:invalid-field",
        ),
        (encode_frame(bytes.fromhex("005312 c0 ff 01")), "amqp:decode-error"),
        (encode_frame(bytes.fromhex("005317 c003 01 3f40")), "amqp:decode-error"),
    ],
)
def test_errors_of_a_session(talk: Talk, octets: bytes, condition: str) -> None:
    talk.octets(octets)
    end = talk.hear("end")
    assert end["error"]["condition"] == condition and end["error"]["description"]
    talk.octets(performative_frame("attach", name="n", handle=300, role="sender") + octets)
    talk.say("end")
    talk.begin()


def test_a_window_that_is_overrun_ends_the_session(talk: Talk) -> None:
    talk.sender("q")
    first = performative_frame(
        "transfer", handle=0, delivery_id=0, delivery_tag=b"0", message_format=0, more=True
    )
    talk.octets(first + performative_frame("transfer", handle=0, more=True) * 512)
    assert talk.hear("end")["error"]["condition"] == "amqp:session:window-violation"


def test_credit_that_is_overrun_detaches_the_link(talk: Talk) -> None:
    talk.sender("q")
    for number in range(101):
        talk.transfer(b"x", number, settled=True)
    assert talk.hear("detach")["error"]["condition"] == "amqp:link:transfer-limit-exceeded"


Say = Callable[[Talk], None]


def _two(**fields: Any) -> Say:
    """A delivery whose second transfer differs."""

    def say(talk: Talk) -> None:
        talk.transfer(b"x", 0, more=True)
        talk.say("transfer", handle=0, **fields)

    return say


@pytest.mark.parametrize(
    ("say", "condition"),
    [
        (_two(delivery_id=1), "amqp:invalid-field"),
        (_two(delivery_tag=b"1"), "amqp:invalid-field"),
        (_two(message_format=9), "amqp:invalid-field"),
        (_two(delivery_id=1, delivery_tag=b"1"), "amqp:not-allowed"),
        (lambda talk: talk.transfer(b"x", 0, delivery_tag=b"x" * 33), "amqp:invalid-field"),
        (lambda talk: talk.say("transfer", handle=0, delivery_tag=b"0"), "amqp:invalid-field"),
        (lambda talk: talk.say("transfer", handle=0, delivery_id=0), "amqp:invalid-field"),
        (lambda talk: talk.transfer(b"x", 0, rcv_settle_mode="second"), "amqp:invalid-field"),
    ],
)
def test_errors_of_a_link(talk: Talk, say: Say, condition: str) -> None:
    talk.sender("q")
    say(talk)
    detach = talk.hear("detach")
    assert (detach["error"]["condition"], detach["closed"]) == (condition, False)
    talk.echo()
    talk.say("detach", handle=0)
    assert talk.sender("q", unsettled={})["unsettled"] is None


def test_a_message_that_is_too_large_detaches_the_link(talk: Talk) -> None:
    size = talk.sender("q")["max_message_size"]
    for at in range(0, size, 60000):
        talk.transfer(b"x" * min(60000, size - at), 0, more=True)
    talk.echo()
    talk.transfer(b"x", 0)
    assert talk.hear("detach")["error"]["condition"] == "amqp:link:message-size-exceeded"


def test_a_failed_link_takes_detach_only(talk: Talk) -> None:
    talk.sender("q")
    _two(delivery_id=1)(talk)
    talk.hear("detach")
    talk.transfer(b"x", 2)
    assert talk.hear("end")["error"]["condition"] == "amqp:session:errant-link"


def test_a_failed_link_is_resumed_not_reattached(talk: Talk) -> None:
    talk.sender("q")
    _two(delivery_id=1)(talk)
    talk.hear("detach")
    talk.say("detach", handle=0)
    talk.say(
        "attach", name="to-q", handle=0, role="sender", initial_delivery_count=0, target={"address": "q"}
    )
    assert talk.hear("end")["error"]["condition"] == "amqp:session:errant-link"


def test_a_handle_in_use_ends_the_session(talk: Talk) -> None:
    talk.sender("q")
    talk.say("attach", name="second", handle=0, role="receiver", source={"address": "q"})
    assert talk.hear("end")["error"]["condition"] == "amqp:session:handle-in-use"


@pytest.mark.parametrize(
    ("fields", "condition"),
    [
        ({"source": {"address": "amq.none"}}, "amqp:not-found"),
        ({"source": None}, "amqp:not-found"),
        ({"source": {"address": "a/b"}}, "amqp:not-found"),
        ({"source": {"address": "q"}, "unsettled": {None: "accepted"}}, "amqp:decode-error"),
    ],
)
def test_refused_sources(talk: Talk, fields: dict[str, Any], condition: str) -> None:
    talk.say("attach", **{"name": "n", "handle": 3, "role": "receiver", "target": {"address": "x"}, **fields})
    assert talk.hear("attach")["source"] is None
    detach = talk.hear("detach")
    assert (detach["error"]["condition"], detach["closed"]) == (condition, True)
    talk.say("flow", **WINDOWS, handle=3, link_credit=1)
    talk.say("detach", handle=3, closed=True)
    talk.echo()


@pytest.mark.parametrize(
    ("fields", "condition"),
    [
        ({"target": None}, "amqp:invalid-field"),
        ({"target": {"address": "q"}, "initial_delivery_count": None}, "amqp:invalid-field"),
    ],
)
def test_refused_targets(talk: Talk, fields: dict[str, Any], condition: str) -> None:
    given = {"name": "n", "handle": 3, "role": "sender", "initial_delivery_count": 0, **fields}
    talk.say("attach", **given)
    assert talk.hear("attach")["target"] is None
    assert talk.hear("detach")["error"]["condition"] == condition
    talk.echo()


RULE = "performatives/flow/handle/unattached"


def _seen(broker: ReferenceBroker) -> str:
    with ready(broker.url) as talk:
        talk.say("flow", **WINDOWS, handle=9, echo=True)
        heard = talk.hear()
        error = heard.get("error")
        return f"{heard.name} {error['condition']}" if error else heard.name


@pytest.mark.parametrize(
    ("faults", "seen"),
    [
        ((), "end amqp:session:unattached-handle"),
        ((f"not-refused:{RULE}",), "flow"),
        ((f"wrong-code:{RULE}",), "end amqp:internal-error"),
        ((f"wrong-scope:{RULE}",), "close amqp:session:unattached-handle"),
    ],
)
def test_the_three_faults_of_a_refusal(broken: Broken, faults: tuple[str, ...], seen: str) -> None:
    assert _seen(broken(*faults)) == seen
