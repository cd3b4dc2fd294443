"""What the broker does if nothing is wrong: login, sessions, links, deliveries, windows, credit, resuming."""

from __future__ import annotations

import time

import pytest
from scramp import ScramClient

from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, TypedFrame, encode_frame, performative_frame
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.values import Described, Map, Symbol
from tests.reference.amqp_1_0.talk import WINDOWS, Talk, ready

BODY = encode_message(data=b"hello")
FIRST_ID = (1 << 32) - 2


# --- connections


@pytest.mark.parametrize(
    ("mechanism", "response", "code"),
    [
        ("PLAIN", b"\0guest\0guest", 0),
        ("PLAIN", b"\0guest\0wrong", 1),
        ("ANONYMOUS", b"", 0),
        ("NONE", b"", 1),
    ],
)
def test_login(broker: ReferenceBroker, mechanism: str, response: bytes, code: int) -> None:
    with Talk(broker.url) as talk:
        talk.octets(HEADERS["sasl"])
        assert talk.header() == HEADERS["sasl"]
        assert "SCRAM-SHA-256" in talk.hear("sasl-mechanisms")["sasl_server_mechanisms"]
        talk.say("sasl-init", mechanism=mechanism, initial_response=response)
        assert talk.hear("sasl-outcome")["code"] == code
        if code:
            assert talk.ended()
        else:
            talk.open()


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-1", "SCRAM-SHA-256"])
@pytest.mark.parametrize("password", ["guest", "wrong"])
def test_login_by_scram(broker: ReferenceBroker, mechanism: str, password: str) -> None:
    client = ScramClient([mechanism], "guest", password)
    with Talk(broker.url) as talk:
        talk.octets(HEADERS["sasl"])
        talk.header()
        talk.hear("sasl-mechanisms")
        talk.say("sasl-init", mechanism=mechanism, initial_response=client.get_client_first().encode())
        client.set_server_first(talk.hear("sasl-challenge")["challenge"].decode())
        talk.say("sasl-response", response=client.get_client_final().encode())
        outcome = talk.hear("sasl-outcome")
        if password == "wrong":
            assert outcome["code"] == 1
        else:
            client.set_server_final(outcome["additional_data"].decode())
            talk.open()


def test_golden_octets(broker: ReferenceBroker) -> None:
    """Header, open, begin, end and close as octets written by hand."""
    with Talk(broker.url) as talk:
        talk.octets(
            bytes.fromhex("414d515000010000")
            + bytes.fromhex("0000001302000000 00 53 10 c0 06 01 a1 03 616263")
            + bytes.fromhex("0000001402000001 00 53 11 c0 07 04 40 43 52 05 52 05")
            + bytes.fromhex("0000000c02000001 00 53 17 45")
            + bytes.fromhex("0000000c02000000 00 53 18 45")
        )
        octets = b""
        while part := talk.socket.recv(65536):
            octets += part
        assert octets.startswith(bytes.fromhex("414d515000010000"))
        at = 8 + int.from_bytes(octets[8:12], "big")
        begin = bytes.fromhex("005311c0 15 05 60 0001 70 fffffffe 70 00000200 70 7fffffff 52 ff")
        assert octets[at + 8 :].startswith(begin)
        assert octets.endswith(bytes.fromhex("0000000c02000000 00531745 0000000c02000000 00531845"))


def test_pipelined(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        begin = performative_frame("begin", **WINDOWS)
        talk.octets(HEADERS["amqp"] + performative_frame("open", container_id="x") + begin)
        assert talk.header() == HEADERS["amqp"]
        talk.hear("open")
        assert talk.hear("begin")["remote_channel"] == 0
        talk.say("close")
        assert talk.hear("close").get("error") is None
        assert talk.ended()


def test_octet_by_octet(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        for octet in HEADERS["amqp"] + performative_frame("open", container_id="x") + EMPTY_FRAME:
            talk.octets(bytes((octet,)))
        talk.header()
        talk.hear("open")
        talk.begin(7)


def test_idle_timeouts(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        started_s = time.monotonic()
        assert talk.open(idle_time_out=200)["idle_time_out"] == 2000
        empty = 0
        while isinstance(frame := talk.next(), TypedFrame) and frame.name == "empty":
            empty += 1
        assert isinstance(frame, TypedFrame) and frame.performative is not None
        assert frame.performative["error"]["condition"] == "amqp:resource-limit-exceeded"
        assert 3.9 < time.monotonic() - started_s < 6
        assert empty >= 4 / 0.2 / 2
        talk.socket.settimeout(5)
        assert talk.ended()


def test_an_idle_timeout_that_cannot_be_kept(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.open(idle_time_out=1)
        assert talk.hear("close")["error"]["condition"] == "amqp:not-implemented"


# --- sessions


def test_channels_are_the_lowest_that_are_free(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.open()
        for own, theirs in ((5, 0), (1, 1), (258, 2)):
            assert talk.begin(own)["remote_channel"] == own and talk.channel == theirs
        talk.say("end", 1)
        talk.hear("end")
        talk.begin(9)
        assert talk.channel == 1


def test_channel_max_is_kept(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.open(channel_max=0)
        talk.begin(0)
        talk.say("begin", 1, **WINDOWS)
        assert talk.hear("close")["error"]["condition"] == "amqp:resource-limit-exceeded"


def test_the_window_of_the_partner_is_kept(broker: ReferenceBroker) -> None:
    with Talk(broker.url) as talk:
        talk.open()
        talk.begin(incoming_window=2)
        talk.sender("w")
        for number in range(5):
            talk.transfer(BODY, number, settled=True)
        talk.receiver("w")
        talk.say("flow", **{**WINDOWS, "incoming_window": 2}, handle=1, link_credit=10)
        assert [talk.hear("transfer")["delivery_id"] for _ in range(2)] == [0, 1]
        talk.say(
            "flow",
            next_incoming_id=FIRST_ID + 1,
            incoming_window=2,
            next_outgoing_id=5,
            outgoing_window=9,
            echo=True,
        )
        talk.hear("transfer")
        flow = talk.hear("flow")
        assert (flow["next_outgoing_id"], flow["next_incoming_id"]) == (1, 5)


# --- links


def test_handles_are_the_lowest_that_are_free(talk: Talk) -> None:
    assert [talk.receiver("q", handle, f"l{handle}")["handle"] for handle in (7, 3, 100)] == [0, 1, 2]
    talk.say("detach", handle=3, closed=True)
    assert talk.hear("detach")["closed"]
    assert talk.receiver("q", 9, "l9")["handle"] == 1


def test_credit_and_drain(talk: Talk) -> None:
    talk.sender("q")
    for number in range(3):
        talk.transfer(BODY, number, settled=True)
    talk.receiver("q")
    talk.credit(2)
    talk.hear("transfer")
    talk.hear("transfer")
    flow = talk.echo()
    assert flow.get("handle") is None
    talk.credit(5, delivery_count=2, drain=True)
    talk.hear("transfer")
    flow = talk.hear("flow")
    assert (flow["delivery_count"], flow["link_credit"], flow["drain"]) == (7, 0, True)
    talk.credit(1, delivery_count=5, echo=True)
    flow = talk.hear("flow")
    assert (flow["delivery_count"], flow["link_credit"], flow["drain"], flow["available"]) == (7, 0, False, 0)


def test_settle_modes_of_a_receiver(talk: Talk) -> None:
    talk.sender("q", snd_settle_mode="mixed", rcv_settle_mode="second")
    talk.transfer(BODY, 0)
    disposition = talk.hear("disposition")
    assert (disposition["first"], disposition["settled"], disposition["state"].name) == (0, False, "accepted")
    talk.say("disposition", role="sender", first=0, settled=True)
    talk.transfer(BODY, 1, settled=True)
    talk.echo()
    talk.say("detach", handle=0)
    talk.hear("detach")
    assert talk.sender("q", unsettled={})["unsettled"] is None


@pytest.mark.parametrize("mode", [0, 1, 2])
def test_settle_modes_of_a_sender(talk: Talk, mode: int) -> None:
    talk.sender("q")
    talk.transfer(BODY)
    assert talk.hear("disposition")["settled"]
    assert talk.receiver("q", snd_settle_mode=mode)["snd_settle_mode"] == mode
    talk.credit(1)
    assert bool(talk.hear("transfer").get("settled")) is (mode == 1)


def test_outcomes(talk: Talk) -> None:
    talk.sender("q")
    for number in range(4):
        talk.transfer(encode_message(data=b"%d" % number), number, settled=True)
    talk.receiver("q", rcv_settle_mode="second")
    talk.credit(10)
    tags = [talk.hear("transfer")["delivery_tag"] for _ in range(4)]
    talk.say("disposition", role="receiver", first=0, last=1, state="accepted")
    told = talk.hear("disposition")
    assert (told["role"], told["first"], told["last"], told["settled"]) == (False, 0, 1, True)
    talk.say("disposition", role="receiver", first=2, settled=True, state="released")
    again = talk.hear("transfer")
    assert again["delivery_tag"] not in tags and again["delivery_id"] == 4
    talk.say("disposition", role="receiver", first=3, last=4, settled=True, state="rejected")
    talk.echo()


def test_what_a_dropped_connection_held_is_there_again(broker: ReferenceBroker, talk: Talk) -> None:
    with ready(broker.url, container_id="second") as second:
        second.sender("q")
        second.transfer(BODY, settled=True)
        second.receiver("q")
        second.credit(1)
        second.hear("transfer")
    talk.receiver("q")
    talk.credit(1)
    assert talk.hear("transfer")["delivery_id"] == 0 and talk.payload == BODY


def test_large_messages_both_ways(broker: ReferenceBroker) -> None:
    body = encode_message(data=bytes(range(256)) * 40)
    with Talk(broker.url) as talk:
        talk.open(max_frame_size=512)
        talk.begin()
        talk.sender("big")
        talk.sender("other", 5)
        talk.transfer(body[:5000], 0, more=True)
        talk.transfer(BODY, 1, 5, settled=True)
        talk.octets(encode_frame(b""))
        talk.say("transfer", 0, body[5000:], handle=0, settled=True)
        talk.receiver("big")
        talk.credit(1)
        whole, more = b"", True
        while more:
            transfer = talk.hear("transfer")
            assert len(talk.payload) + len(transfer.octets) <= 504
            whole, more = whole + talk.payload, transfer["more"]
        assert whole == body


def test_aborted(talk: Talk) -> None:
    talk.sender("q")
    talk.transfer(BODY, 0, more=True)
    talk.say("transfer", 0, BODY, handle=0, aborted=True, more=True)
    talk.transfer(BODY, 1, delivery_tag=b"0")
    assert talk.hear("disposition")["first"] == 1
    talk.receiver("q")
    talk.credit(5, echo=True)
    talk.hear("transfer")
    assert talk.hear("flow")["link_credit"] == 4


def test_selectors(talk: Talk) -> None:
    talk.sender("q")
    for number, colour in enumerate(("red", "blue")):
        talk.transfer(
            encode_message(application_properties={"colour": colour}, data=b"x"), number, settled=True
        )
    selector = Described(Symbol("apache.org:selector-filter:string"), "colour = 'blue'")
    filters = Map({Symbol("s"): selector, Symbol("u"): Described(Symbol("example:unknown"), "x")})
    attach = talk.receiver("q", source={"address": "q", "filter": filters})
    assert list(attach["source"]["filter"]) == ["s"]
    talk.credit(2, drain=True)
    talk.hear("transfer")
    assert b"blue" in talk.payload
    assert talk.hear("flow")["link_credit"] == 0


def test_dynamic_nodes_go_with_their_link(talk: Talk, other: Talk) -> None:
    address = talk.receiver(None, 1, "d", source={"dynamic": True})["source"]["address"]
    other.sender(address)
    other.transfer(BODY, settled=True)
    other.echo()
    talk.credit(1)
    talk.hear("transfer")
    talk.say("detach", handle=1, closed=True)
    talk.hear("detach")
    detach = other.hear("detach")
    assert (detach["closed"], detach["error"]["condition"]) == (True, "amqp:resource-deleted")


# --- resuming and stealing

DURABLE = {"address": "q", "durable": "unsettled-state", "expiry_policy": "never"}


def _held(broker: ReferenceBroker, count: int) -> list[bytes]:
    """Tags of deliveries that a receiver has, unsettled, while its connection drops."""
    with ready(broker.url, container_id="c") as talk:
        talk.sender("q")
        for number in range(count):
            talk.transfer(encode_message(data=b"%d" % number), number, settled=True)
        talk.receiver("q", name="r", source=DURABLE)
        talk.credit(count)
        return [talk.hear("transfer")["delivery_tag"] for _ in range(count)]


def test_a_receiver_resumes(broker: ReferenceBroker) -> None:
    tags = _held(broker, 3)
    with ready(broker.url, container_id="c") as talk:
        unsettled = Map({tags[0]: None, tags[1]: _state("accepted")})
        attach = talk.receiver("q", name="r", source=None, unsettled=unsettled)
        assert (sorted(attach["unsettled"]), attach["source"]["durable"]) == (sorted(tags), 2)
        talk.credit(5)
        seen = [
            (t["resume"], bool(t.get("settled")), talk.payload[-1:]) for t in (talk.hear("transfer"),) * 1
        ]
        assert seen == [(True, False, b"0")]
        settled = talk.hear("transfer")
        assert (settled["resume"], settled["settled"], settled["delivery_tag"]) == (True, True, tags[1])
        fresh = talk.hear("transfer")
        assert not fresh["resume"] and fresh["delivery_tag"] not in tags


def _state(name: str) -> object:
    from amqpspec.wire.amqp_1_0.performatives import encode_composite

    return encode_composite(name)


def test_an_incomplete_map_holds_back_what_is_new(broker: ReferenceBroker) -> None:
    tags = _held(broker, 2)
    with ready(broker.url, container_id="c") as talk:
        talk.sender("q")
        talk.transfer(BODY, 0, settled=True)
        talk.receiver(
            "q", name="r", source=DURABLE, unsettled=Map({tags[0]: None}), incomplete_unsettled=True
        )
        talk.credit(5)
        assert talk.hear("transfer")["resume"]
        talk.echo()
        talk.say("detach", handle=1)
        talk.hear("detach")
        attach = talk.receiver("q", name="r", source=DURABLE, unsettled=Map({tags[1]: None}))
        assert sorted(attach["unsettled"]) == sorted(tags)


def test_a_sender_resumes(broker: ReferenceBroker) -> None:
    with ready(broker.url, container_id="c") as talk:
        talk.sender("q", name="s", rcv_settle_mode="second", target=DURABLE)
        for number in range(2):
            talk.transfer(BODY, number)
            talk.hear("disposition")
    with ready(broker.url, container_id="c") as talk:
        attach = talk.sender("q", name="s", target=DURABLE, unsettled=Map({b"0": None}))
        assert sorted(attach["unsettled"]) == [b"0", b"1"]
        talk.transfer(b"", 0, delivery_tag=b"0", resume=True)
        assert talk.hear("disposition")["settled"]
        talk.transfer(BODY, 1, delivery_tag=b"unknown", resume=True)
        talk.echo()
        talk.receiver("q")
        talk.credit(10, echo=True)
        talk.hear("transfer")
        talk.hear("transfer")
        talk.hear("flow")


def test_a_map_that_does_not_fit_is_incomplete(broker: ReferenceBroker) -> None:
    with ready(broker.url, container_id="c") as talk:
        talk.sender("q", name="s", rcv_settle_mode="second", target=DURABLE)
        for number in range(60):
            talk.transfer(BODY, number, delivery_tag=b"%032d" % number)
            while talk.hear("disposition", "flow").name == "flow":
                pass  # credit is renewed whenever the broker comes to it
    with Talk(broker.url) as talk:
        talk.open(container_id="c", max_frame_size=512)
        talk.begin()
        attach = talk.sender("q", name="s", target=DURABLE, unsettled={})
        assert attach["incomplete_unsettled"] and 0 < len(attach["unsettled"]) < 60
        talk.transfer(BODY, 0, delivery_tag=b"new")
        assert talk.hear("detach")["error"]["condition"] == "amqp:illegal-state"


def test_a_link_is_stolen(broker: ReferenceBroker, talk: Talk) -> None:
    talk.receiver("q", name="mine")
    with ready(broker.url) as thief:
        thief.receiver("q", name="mine")
        detach = talk.hear("detach")
        assert (detach["closed"], detach["error"]["condition"]) == (True, "amqp:link:stolen")
        thief.echo()


def test_a_detached_link_keeps_its_deliveries(talk: Talk) -> None:
    talk.sender("q")
    talk.transfer(BODY, settled=True)
    talk.receiver("q", name="r")
    talk.credit(1)
    talk.hear("transfer")
    talk.say("detach", handle=1)
    assert not talk.hear("detach")["closed"]
    talk.say("disposition", role="receiver", first=0, settled=True, state="accepted")
    talk.receiver("q", 2, "second")
    talk.credit(1, 2, drain=True)
    assert talk.hear("flow")["link_credit"] == 0
