"""What a client of the 9.1 wire draft receives from a broker with a fault, octet by octet."""

from __future__ import annotations

import pytest

from tests.reference.octets import (
    BODY,
    DECLARE,
    DECLARE_OK,
    EMPTY,
    FLOW,
    FLOW_OK,
    GET,
    GET_OK,
    LEAF,
    PUBLISH,
    Connect,
    method,
    parent,
)

MINUS_ONE = "001e 00000007 01 61 49 ffffffff 01 01"
TWICE = "001e 0000000e 01 61 49 00000001 01 61 49 00000002 01 01"


@pytest.mark.parametrize(
    ("fault", "said", "heard"),
    [
        ("cycle-left-out", DECLARE, "01" + DECLARE_OK[5:]),
        ("ids-in-reverse-order", DECLARE, DECLARE_OK.replace("0032 000b", "000b 0032")),
        ("replies-on-channel-zero", DECLARE, DECLARE_OK.replace("0001", "0000", 1)),
        ("size-counts-end-octet", DECLARE, DECLARE_OK.replace("0000000e", "0000000f")),
        ("method-frame-of-another-type", DECLARE, "03" + DECLARE_OK[2:]),
        ("integers-have-a-sign", method("000a ff 0000 00000000 0000000000000000 01"), method("000b" + "ff" * 8)),
        ("table-integers-unsigned", method(MINUS_ONE), method("001f 00000000ffffffff 00000000")),
        ("last-duplicate-counts", method(TWICE), method("001f 0000000000000002 00000000")),
        ("all-duplicates-count", method(TWICE), method("001f 0000000000000003 00000000")),
        ("strings-of-ascii-only", method("0014 02 c3a9 00000000 01"), method("0015 00000000")),
        ("long-strings-end-at-zero", method("0014 00 00000003 610062 01"), method("0015 00000001 61")),
        ("odd-places-not-read", DECLARE, ""),
    ],
)  # fmt: skip
def test_faults_of_answers(connect: Connect, fault: str, said: str, heard: str) -> None:
    client = connect(fault).opens()
    client.says(said)
    client.hears(heard)


@pytest.mark.parametrize(
    ("fault", "heard"),
    [
        ("children-not-delivered", (parent(1), BODY)),
        ("bodies-of-children-lost", (parent(1), LEAF[0], BODY)),
        ("children-behind-the-body", (parent(1), BODY, *LEAF)),
    ],
)
def test_faults_of_contents_within_contents(connect: Connect, fault: str, heard: tuple[str, ...]) -> None:
    client = connect(fault).opens()
    client.says(DECLARE, PUBLISH, parent(1), *LEAF, BODY, GET)
    client.hears(DECLARE_OK, GET_OK, *heard)


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("weight-ignored", (parent(1), *LEAF)),
        ("children-without-children", (parent(1), parent(1), *LEAF)),
        ("split-bodies-refused", (parent(0), LEAF[1], LEAF[1])),
        ("body-size-of-32-bits", (parent(0, (1 << 32) + 1), LEAF[1], LEAF[1])),
        ("continued-flags-not-read", ("02 00 0001 00000010 003c 0000 0000000000000000 0001 0000 ce",)),
    ],
)
def test_faults_that_refuse_contents(connect: Connect, fault: str, said: tuple[str, ...]) -> None:
    client = connect(fault).opens()
    client.says(PUBLISH, *said)
    client.is_refused(501)


@pytest.mark.parametrize(
    ("fault", "said", "code"),
    [
        ("close-codes-of-four-digits", "03 00 0000 00000000 ce", 1504),
        ("close-codes-tell-of-success", "03 00 0000 00000000 ce", 200),
        ("wrong-code:amq_wlp_trace_01", "07 00 0001 00000000 ce", 503),
        ("every-trace-refused", "07 00 0000 00000000 ce", 501),
    ],
)
def test_faults_of_refusals(connect: Connect, fault: str, said: str, code: int) -> None:
    client = connect(fault).opens()
    client.says(said)
    client.is_refused(code)


@pytest.mark.parametrize(
    ("fault", "heard"),
    [
        ("content-header-of-another-class", EMPTY[0].replace("003c", "0032")),
        ("simple-contents-weigh-one", EMPTY[0].replace("003c 0000", "003c 0001")),
        ("contents-on-channel-zero", EMPTY[0].replace("0001", "0000", 1)),
        ("content-header-of-another-type", "03" + EMPTY[0][2:]),
        ("octet-behind-the-properties", EMPTY[0].replace("0000000e", "0000000f").replace("ce", "00 ce")),
        ("empty-content-not-sent", FLOW_OK),
    ],
)
def test_faults_of_content_headers(connect: Connect, fault: str, heard: str) -> None:
    client = connect(fault).opens()
    client.says(DECLARE, PUBLISH, *EMPTY, GET, FLOW)
    client.hears(DECLARE_OK, GET_OK, heard)


@pytest.mark.parametrize(
    ("fault", "header", "octets"),
    [
        # timestamp 2**32 + 1; headers with S, I and D; priority 200
        ("timestamps-of-32-bits", "0040 0000000100000001", "0040 0000000000000001"),
        (
            "long-strings-end-at-zero",
            "2000 00000009 01 61 53 00000002 7800",
            "2000 00000008 01 61 53 00000001 78",
        ),
        ("table-integers-unsigned", "2000 00000007 01 61 49 ffffffff", "2000 00000007 01 61 49 7fffffff"),
        (
            "decimals-have-signed-places",
            "2000 00000008 01 61 44 82 00000001",
            "2000 00000008 01 61 44 02 00000001",
        ),
        ("octets-have-a-sign", "0800 c8", "0800 48"),
    ],
)
def test_faults_of_properties(connect: Connect, fault: str, header: str, octets: str) -> None:
    for faults, heard in (((), header), ((fault,), octets)):
        client = connect(*faults).opens()
        client.says(DECLARE, PUBLISH, _header(header), GET)
        client.hears(DECLARE_OK, GET_OK, _header(heard))


def _header(text: str) -> str:
    payload = bytes.fromhex("003c 0000 0000000000000000" + text)
    return f"02 00 0001 {len(payload):08x} {payload.hex()} ce"


@pytest.mark.parametrize("fault", ["trace-type-unknown", "trace-with-payload-ends-socket"])
def test_faults_of_traces(connect: Connect, fault: str) -> None:
    client = connect(fault).opens()
    client.says("07 00 0000 00000001 78 ce")
    client.ends()


def test_a_busy_channel_starves_others_by_a_fault_only(connect: Connect) -> None:
    for fault, first in (((), True), (("busy-channel-starves-others",), False)):
        client = connect(*fault).opens()
        client.says(DECLARE)
        client.hears(DECLARE_OK)
        body = "03 00 0001 00000fe0" + "61" * 0xFE0 + "ce"
        client.says(*[PUBLISH + parent(0, 0xFE0) + body] * 5000)
        client.says("01 00 0002 00000005 0014 000a 00 ce")
        client.hears("01 00 0002 00000004 0014 000b ce")
        # basic.consume (60, 20) of "q", no-ack, then flow on channel 2
        client.says("01 00 0001 0000000a 003c 0014 0000 01 71 00 02 ce", FLOW.replace("0001", "0002", 1))
        bodies = 0
        while (frame := client.frame())[8:12].hex() != "00140015":
            bodies += frame[0] == 3
        assert (bodies < 5000) is first
