"""Frames of eight octets of header, written by hand from the draft; none of our codecs reads them first."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from amqpspec.net.stream import Endpoint, Stream
from amqpspec.peer.context import Context
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.methods.driver import probe, recognise
from tests.reference.octets import (
    BODY,
    CHANNEL_OPEN,
    CLOSE,
    CLOSE_OK,
    DECLARE,
    DECLARE_OK,
    DIALECT,
    EMPTY,
    FLOW,
    FLOW_OK,
    GET,
    GET_OK,
    HEADER,
    LEAF,
    PAUSE_S,
    PUBLISH,
    START_OK,
    TUNE,
    Connect,
    Octets,
    method,
    parent,
)

# --- headers


@pytest.mark.parametrize(
    "header", ["414d5150 02 00 01 01", "414d5150 01 01 08 00", "414d5150 00 00 09 01", "48545450 2f312e31"]
)
def test_another_header_is_answered_by_the_own_one(connect: Connect, header: str) -> None:
    client = connect()
    client.says(header)
    client.hears(HEADER)
    client.ends()


@pytest.mark.parametrize(
    ("fault", "answer", "ends"),
    [
        ("unspoken-header-answered", "414d5150 01 01 09 63", True),
        ("http-answered-in-http", b"HTTP/1.1".hex(), False),
        ("not-refused:protocol-header/rejected", "01 00 0000", False),
        ("unknown-header-not-answered", "", True),
    ],
)
def test_faults_of_headers(connect: Connect, fault: str, answer: str, ends: bool) -> None:
    client = connect(fault)
    client.says("414d5150 02 00 01 01")
    client.hears(answer)
    if ends:
        client.ends()


def test_0_8_takes_two_headers_and_answers_in_frames_of_seven(connect: Connect) -> None:
    for header, version in ((HEADER, "0800"), ("414d5150 01 01 08 00", "0800")):
        client = connect(dialect="amqp-0-8")
        client.says(header)
        assert client.exactly(13)[7:].hex() == f"000a000a{version}"
    client = connect(dialect="amqp-0-8")
    client.says("414d5150 00 00 09 01")
    client.hears("414d5150 01 01 08 00")
    client.ends()


class Forgetful(Stream):
    """A stream without a transcript."""

    def note(self, text: str) -> None:
        pass


@pytest.mark.parametrize(("served", "spoken"), [(DIALECT, DIALECT), ("amqp-0-8", "amqp-0-8")])
def test_a_greeting_tells_the_layout(served: str, spoken: str) -> None:
    with ReferenceBroker(served) as broker:
        endpoint = Endpoint(broker.host, broker.port)
        context = Context(DIALECT, (), lambda: Forgetful(endpoint))
        assert recognise(context).dialect == spoken
        assert probe(replace(context, dialect=spoken)).product == "amqpspec reference broker"


def test_of_two_logins_the_first_counts(connect: Connect) -> None:
    guest, other = "05 4c4f47494e 53 00000005 6775657374", "05 4c4f47494e 53 00000005 6f74686572"
    password = "08 50415353574f5244 53 00000005 6775657374"
    for faults, response, taken in (
        ((), guest + other + password, True),
        ((), other + guest + password, False),
        (("last-duplicate-counts",), other + guest + password, True),
    ):
        client = connect(*faults)
        client.says(HEADER)
        client.frame()
        octets = bytes.fromhex(response)
        payload = bytes.fromhex("000a 000b 00000000 08 414d51504c41494e")  # AMQPLAIN
        payload += len(octets).to_bytes(4, "big") + octets + bytes.fromhex("05 656e5f5553")
        client.says(f"01 00 0000 {len(payload):08x} {payload.hex()} ce")
        if taken:
            client.hears(TUNE)
        else:
            client.ends()


def test_start_without_a_fault_of_silence(connect: Connect) -> None:
    client = connect("own-header-refused")
    client.says(HEADER)
    client.hears(HEADER)
    client.ends()


# --- a handshake that goes wrong


@pytest.mark.parametrize(
    "octets",
    [
        START_OK.replace("504c41494e", "504c41494f"),  # a mechanism that is not on offer
        START_OK.replace("00 6775657374 05", "00 6775657373 05"),  # a wrong password
        CHANNEL_OPEN,
        "01 00 0000 00ffffff",
        "01 00 0000 00000003 000a00 ce",
    ],
)
def test_a_hostile_client_waits_for_its_end(connect: Connect, octets: str) -> None:
    client = connect()
    client.says(HEADER)
    client.frame()
    began_s = time.monotonic()
    client.says(octets)
    client.ends()
    assert time.monotonic() - began_s >= PAUSE_S


def test_a_fault_ends_a_hostile_client_at_once(connect: Connect) -> None:
    client = connect("hostile-client-dropped-at-once")
    client.says(HEADER)
    client.frame()
    began_s = time.monotonic()
    client.says(CHANNEL_OPEN)
    client.ends()
    assert time.monotonic() - began_s < PAUSE_S


# --- frames


def test_close_is_60(octets: Octets) -> None:
    octets.says(CLOSE)
    octets.hears(CLOSE_OK)
    octets.ends()


def test_any_cycle_will_do(octets: Octets) -> None:
    octets.says("01 ff" + FLOW[5:])
    octets.hears(FLOW_OK)


@pytest.mark.parametrize("frame", ["09 00 0000 00000000 ce", "00 00 0001 00000000 ce", FLOW[:-2] + "cd"])
def test_broken_frames_end_the_socket_in_silence(octets: Octets, frame: str) -> None:
    octets.says(frame)
    octets.ends()


@pytest.mark.parametrize(
    ("frame", "code"),
    [
        ("03 00 0001 00000ff8", 501),  # one octet more than 4096 with header and end
        ("08 00 0001 00000000 ce", 501),
        ("08 00 0000 00000001 00 ce", 501),
        ("07 00 0001 00000000 ce", 501),
        ("02 00 0000 00000000 ce", 504),
        ("03 00 0000 00000000 ce", 504),
        ("03 00 0001 00000001 00 ce", 501),
        ("01 00 0000 00000005 0014 000a 00 ce", 504),
        ("01 00 0001 00000004 000a 003d ce", 503),
        ("01 00 0001 00000004 0fff 0001 ce", 503),
        ("01 00 0001 00000004 003c 0fff ce", 503),
        ("01 00 0001 00000002 003c ce", 501),
        ("01 00 0009 00000005 0014 0014 01 ce", 504),  # a channel that is not open
        ("01 00 000b 00000005 0014 000a 00 ce", 504),  # one beyond the ten agreed on
        ("01 00 0002 00000006 0014 000a 01 78 ce", 540),  # an out-of-band transport
        ("04 00 0001 00000000 ce", 540),
        ("01 00 0001 00000004 006e 000a ce", 501),  # tunnel.request without its table
        ("01 00 0001 00000008 006e 000a 00000000 ce", 540),  # tunnel.request
        ("01 00 0001 00000004 0064 000a ce", 540),  # dtx.select
        ("01 00 0001 0000000d 0032 000a 0000 01 00 00 00000000 ce", 502),  # the name is a zero octet
        ("01 00 0001 00000010 0032 000a 0000 01 71 00 00000003 01 61 74 ce", 501),  # t is no type
        ("01 00 0001 00000014 0032 000a 0000 01 71 00 00000007 01 31 49 00000001 ce", 503),  # field name 1
        ("01 00 0001 00000009 003c 0046 0007 01 71 00 ce", 403),  # a ticket that was not granted
    ],
)
def test_refusals_of_the_connection(octets: Octets, frame: str, code: int) -> None:
    octets.says(frame)
    octets.is_refused(code)


@pytest.mark.parametrize(
    "frame", ["07 00 0000 00000000 ce", "07 03 0000 00000003 616263 ce", "08 00 0000 00000000 ce"]
)
def test_traces_and_unasked_heartbeats_are_thrown_away(octets: Octets, frame: str) -> None:
    octets.says(frame, FLOW)
    octets.hears(FLOW_OK)


def test_a_channel_exception_closes_a_channel(octets: Octets) -> None:
    octets.says("01 00 0002 00000005 0014 000a 00 ce")
    octets.hears("01 00 0002 00000004 0014 000b ce")
    octets.says("01 00 0002 0000000d 0032 000a 0000 01 78 01 00000000 ce")  # passive declare of "x"
    octets.is_refused(404, channel=2)
    octets.says(FLOW)
    octets.hears(FLOW_OK)


def test_what_0_9_1_refuses_by_406_is_530(octets: Octets) -> None:
    octets.says(DECLARE, DECLARE[:-14] + "02 00000000 ce")  # durable, the second time
    octets.hears(DECLARE_OK)
    octets.is_refused(530)


def test_tickets(octets: Octets) -> None:
    # access.request (30, 10) for "/data", all five bits; request-ok (30, 11)
    octets.says("01 00 0001 0000000b 001e 000a 05 2f64617461 1f ce")
    octets.hears("01 00 0001 00000006 001e 000b 0001 ce")
    octets.says(DECLARE.replace("000a 0000", "000a 0001"))
    octets.hears(DECLARE_OK)
    octets.says("01 00 0001 00000008 001e 000a 02 2f78 1f ce")
    octets.is_refused(403)


# --- contents


def test_a_message_in_pieces_and_back(octets: Octets) -> None:
    octets.says(DECLARE, PUBLISH, "02 00 0001 0000000f 003c 0000 0000000000000005 0800 07 ce")  # priority 7
    octets.says("03 00 0001 00000002 6865 ce", "08 00 0000 00000000 ce", "03 00 0001 00000003 6c6c6f ce", GET)
    octets.hears(DECLARE_OK, GET_OK)
    octets.hears(
        "02 00 0001 0000000f 003c 0000 0000000000000005 0800 07 ce", "03 00 0001 00000005 68656c6c6f ce"
    )


def test_a_second_word_of_flags(octets: Octets) -> None:
    header = "02 00 0001 00000011 003c 0000 0000000000000000 0801 0000 07 ce"
    octets.says(DECLARE, PUBLISH, header, GET)
    octets.hears(DECLARE_OK, GET_OK, header)


@pytest.mark.parametrize(
    "content",
    [
        (parent(1), *LEAF, BODY),
        (parent(2), *LEAF, *EMPTY, BODY),
        (parent(1, 0), *EMPTY),
        (parent(2), parent(1), *LEAF, BODY, parent(0), BODY, BODY),
        (*[parent(1)] * 500, *LEAF, *[BODY] * 500),
    ],
)
def test_contents_within_contents_come_back_as_they_were(octets: Octets, content: tuple[str, ...]) -> None:
    octets.says(DECLARE, PUBLISH, *content, GET)
    octets.hears(DECLARE_OK, GET_OK, *content)


@pytest.mark.parametrize(
    "content",
    [
        (parent(1), BODY),
        (parent(2), *LEAF, BODY),
        (parent(0), *LEAF),
        (parent(1), *LEAF, *LEAF),
        (parent(0), FLOW),
        (FLOW,),
        (parent(0), "03 00 0001 00000003 626262 ce"),
        ("02 00 0001 0000000e 0032 0000 0000000000000000 0000 ce",),  # class 50
        ("02 00 0001 0000000e 003c 0000 0000000000000000 0002 ce",),  # a flag without a property
        ("02 00 0001 0000000f 003c 0000 0000000000000000 0000 00 ce",),
        (parent(1), "02 00 0001 0000000e 0032 0000 0000000000000000 0000 ce"),
    ],
)
def test_contents_that_do_not_add_up(octets: Octets, content: tuple[str, ...]) -> None:
    octets.says(PUBLISH, *content)
    octets.is_refused(501)


def test_a_message_that_finds_no_queue_comes_back_with_310(octets: Octets) -> None:
    octets.says("01 00 0001 0000000a 003c 0028 0000 00 01 78 01 ce", *EMPTY)  # mandatory
    returned = octets.frame()
    assert returned[8:14].hex() == "003c00320136"
    octets.hears(*EMPTY)


# --- the test class (120)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("000a ff ffff ffffffff 0000000000000001 01", "000b 00000001000100fe"),
        ("000a ff ffff ffffffff 8000000000000000 02", "000b 00000000000000ff"),
        ("000a ff ffff ffffffff 8000000000000000 03", "000b 8000000000000000"),
        ("0014 02 c3a9 00000003 610062 01", "0015 00000005 c3a9610062"),
        ("0014 02 c3a9 00000003 610062 02", "0015 00000002 c3a9"),
        ("001e 0000000e 01 61 49 fffffffe 01 62 49 00000001 01 01", "001f ffffffffffffffff 00000000"),
        (
            "001e 00000010 01 61 53 00000001 78 01 61 53 00000001 79 01 01",
            "001f 0000000000000000 00000001 78",
        ),
        ("001e 00000000 02 03", "001f 0000000000000000 00000000"),
    ],
)
def test_tests(octets: Octets, asked: str, answer: str) -> None:
    octets.says(method(asked))
    octets.hears(method(answer))


def test_a_content_and_its_sum(octets: Octets) -> None:
    content = "02 00 0001 0000000e 0078 0000 0000000000000002 0000 ce", "03 00 0001 00000002 ff02 ce"
    octets.says(method("0028"), *content)
    octets.hears(method("0029 00000101"), *content)


@pytest.mark.parametrize(
    ("text", "code"), [("000a 00 0000 00000000 0000000000000000 09", 502), ("0015 00000000", 503)]
)
def test_tests_that_are_none(octets: Octets, text: str, code: int) -> None:
    octets.says(method(text))
    octets.is_refused(code)
