"""AMQP 1.0's octets as frames of both sides; what chooses a hostile server; what a server's octets are cut into."""

from __future__ import annotations

from functools import partial

import pytest

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Side
from amqpspec.wire.amqp_1_0.conversations import TypedReading
from amqpspec.wire.conversation import Reading, Talk
from amqpspec.wire.errors import WireError
from amqpspec.wire.ways import GARBLED
from tests.wire.helpers import conversation_of

_READING: Reading = TypedReading()
_said = partial(conversation_of, _READING)
_SASL, _AMQP = HEADERS["sasl"], HEADERS["amqp"]
# By hand: size, doff, type and channel; descriptor; list8 with its size and count; fields.
_MECHANISMS = bytes.fromhex("00000015 02 01 0000 005340 c0 08 01 a305 504c41494e")
_OPEN = bytes.fromhex("00000014 02 00 0000 005310 c0 07 02 a10163 a10168")
_OPEN_OF_NOBODY = bytes.fromhex("00000011 02 00 0000 005310 c0 04 01 a10163")
_OPEN_OF_A_VHOST = bytes.fromhex("0000001b 02 00 0000 005310 c0 0e 02 a10163 a108") + b"vhost:ab"
_BEGIN = bytes.fromhex("00000012 02 00 0005 005311 c0 05 04 40 43 43 43")
_UNREADABLE = bytes.fromhex("0000000d 02 00 0005 005311 c0 09")
_EMPTY = bytes.fromhex("00000008 02 00 0000")
_TYPE_9 = bytes.fromhex("0000000a 02 09 0000 abcd")
_DOFF_1 = bytes.fromhex("00000008 01 00 0000")


def test_frames_of_both_sides_stand_in_the_order_of_their_last_octets() -> None:
    talk = _said(
        (Side.CLIENT, _SASL),
        (Side.SERVER, _SASL + _MECHANISMS[:7]),
        (Side.CLIENT, _AMQP + _OPEN),
        (Side.SERVER, _MECHANISMS[7:] + _EMPTY),
        (Side.CLIENT, _BEGIN + _TYPE_9),
    )
    assert [said.name for said in talk.said] == [
        "sasl-header",
        "sasl-header",
        "amqp-header",
        "open",
        "sasl-mechanisms",
        "empty",
        "begin",
        "type-9",
    ]
    opened, offer, begun = talk.said[3], talk.said[4], talk.said[6]
    assert (opened.offset, opened.octets, opened.channel, opened.at_ns) == (16, len(_OPEN), 0, 2)
    assert (begun.channel, begun.what.performative["next_outgoing_id"]) == (5, 0)
    assert offer.what.performative["sasl_server_mechanisms"] == ("PLAIN",)
    assert opened.text.startswith("open ") and offer.place == "octet 8 of server→client"


@pytest.mark.parametrize("octets", [_DOFF_1, b"\x00\x00\x00\x07\x02\x00\x00\x00"])
def test_what_cannot_be_framed_ends_its_direction_only(octets: bytes) -> None:
    talk = _said((Side.SERVER, _AMQP + octets), (Side.SERVER, _EMPTY), (Side.CLIENT, _AMQP))
    assert [said.name for said in talk.said] == ["amqp-header", GARBLED, "amqp-header"]
    lost = talk.said[1]
    assert isinstance(lost.what, WireError) and (lost.offset, lost.octets) == (8, 0)
    assert lost.text.startswith("not decodable: ")


def test_a_body_that_cannot_be_read_leaves_the_next_frame_legible() -> None:
    talk = _said((Side.SERVER, _UNREADABLE + _BEGIN))
    assert [(said.name, said.channel) for said in talk.said] == [(GARBLED, 5), ("begin", 5)]
    assert isinstance(talk.said[0].what, WireError) and "unreadable" in talk.said[0].text


def test_a_header_of_another_version_is_one_of_no_known_kind() -> None:
    assert [said.name for said in _said((Side.SERVER, b"AMQP\0\0\x09\x01")).said] == ["header"]


@pytest.mark.parametrize(
    ("octets", "place"),
    [
        (_AMQP, None),
        (_AMQP + _OPEN, "h"),
        (_AMQP + _OPEN_OF_A_VHOST, "ab"),
        (_AMQP + _OPEN_OF_NOBODY, None),
    ],
)
def test_the_place_is_the_hostname_of_open(octets: bytes, place: str | None) -> None:
    talk = Talk(1)
    talk.add(Side.CLIENT, 0, octets)
    assert _READING.place(talk) == place


def test_a_cutter_names_whole_frames_only() -> None:
    cutter = _READING.cutter()
    assert cutter.cut(_SASL + _MECHANISMS[:9]) == [("sasl-header", _SASL)]
    assert cutter.cut(_MECHANISMS[9:] + _AMQP + _BEGIN[:-1]) == [
        ("sasl-mechanisms", _MECHANISMS),
        ("amqp-header", _AMQP),
    ]
    assert cutter.cut(_BEGIN[-1:] + _EMPTY + _UNREADABLE) == [
        ("begin", _BEGIN),
        ("empty", _EMPTY),
        (GARBLED, _UNREADABLE),
    ]


def test_a_dialect_says_how_it_is_read() -> None:
    assert set(_READING.greetings) == {_AMQP, _SASL, HEADERS["tls"]}
    early = set(_READING.before_place)
    assert {"amqp-header", "sasl-header", "sasl-outcome"} <= early and not {"open", "begin"} & early
