"""Messages: sections by hand, both ways, and what is said of those that are out of order."""

from __future__ import annotations

from uuid import UUID

import pytest

from amqpspec.wire.amqp_1_0.message import decode_message, describe_payload, encode_message, encode_section
from amqpspec.wire.amqp_1_0.types import encode
from amqpspec.wire.amqp_1_0.values import Array, Raw, Symbol, Value
from amqpspec.wire.errors import EncodeError, WireError

HEADER = bytes.fromhex("005370 c0 02 01 41")
DATA = bytes.fromhex("005375 a0 03 616263")
VALUE = bytes.fromhex("005377 a1 02 6869")


def test_sections_by_hand() -> None:
    assert encode_message(header={"durable": True}, data=b"abc") == HEADER + DATA
    assert encode_message(value="hi") == VALUE
    assert encode_message(value=None) == bytes.fromhex("005377 40")
    assert encode_message(data=[b"abc", b"abc"]) == DATA + DATA
    assert encode_message(sequence=[["hi"], []]) == bytes.fromhex("005376 c0 05 01 a1026869 005376 45")
    octets = encode_message(message_annotations={"x-o": Value("smallint", 1)}, value="hi")
    assert octets == bytes.fromhex("005372 c1 08 02 a303782d6f 5401") + VALUE
    assert (
        encode_message(application_properties={"k": True}, data=b"abc")
        == bytes.fromhex("005374 c1 05 02 a1016b 41") + DATA
    )
    assert (
        encode_message(properties={"message_id": "m"}, data=b"abc")
        == bytes.fromhex("005373 c0 04 01 a1016d") + DATA
    )


def test_a_message_is_read_by_its_sections() -> None:
    sent = encode_message(
        header={"priority": 9},
        delivery_annotations={"d": 1},
        message_annotations={"m": "x", 5: None},
        properties={"message_id": UUID(int=7), "to": "q", "content_type": "text/plain"},
        application_properties={"n": Value("ubyte", 3)},
        data=[b"ab", b"c"],
        footer={"f": b"crc"},
    )
    message = decode_message(sent)
    assert [s.name for s in message.sections] == [
        "header", "delivery-annotations", "message-annotations", "properties", "application-properties",
        "data", "data", "footer",
    ]  # fmt: skip
    assert message.header is not None and message.properties is not None
    assert (message.header["priority"], message.header["durable"]) == (9, False)
    assert (message.properties["message_id"], message.properties["to"]) == (UUID(int=7), "q")
    assert message.properties["content_type"] == Symbol("text/plain")
    assert (message.delivery_annotations, message.message_annotations) == ({"d": 1}, {"m": "x", 5: None})
    assert (message.application_properties, message.footer) == ({"n": 3}, {"f": b"crc"})
    assert (message.data, message.body, message.problems) == (b"abc", b"abc", ())
    start, stop = message.sections[3].start, message.sections[-1].start
    assert message.bare == sent[start:stop]


def test_bodies() -> None:
    assert decode_message(VALUE).body == "hi"
    assert decode_message(encode_message(sequence=[[1], ["a"]])).body == [[1], ["a"]]
    empty = decode_message(b"")
    assert (empty.body, empty.header, empty.properties, empty.footer) == (None, None, None, {})
    assert [str(p) for p in empty.problems] == [
        "message: none, expected a body of data, amqp-sequence or amqp-value"
    ]


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        (DATA + HEADER, "message: it behind, expected header before data"),
        (HEADER + HEADER + DATA, "message: another one, expected one section header"),
        (VALUE + VALUE, "message: another one, expected one section amqp-value"),
        (DATA + VALUE, "message: data and amqp-value, expected a body"),
        (encode_section("data", Raw(b"\xa1\x01x")), "data: string 'x', expected binary"),
        (
            encode_section("footer", Raw(encode({"k": 1}))) + DATA,
            "footer key: string 'k', expected symbol or ulong",
        ),
        (
            encode_message(application_properties={1: 1}, value=1),
            "application-properties key: long 1, expected string",
        ),
        (
            encode_message(application_properties={"a": [1]}, value=1),
            "application-properties 'a': list, expected",
        ),
        (
            encode_message(properties={"message_id": 1}, value=1),
            "properties message-id: long 1, expected one",
        ),
        (encode_message(header=[True, "x"], value=1), "header priority: string 'x', expected ubyte"),
    ],
)
def test_what_is_wrong_with_a_message(octets: bytes, said: str) -> None:
    told = [str(problem) for problem in decode_message(octets).problems]
    assert any(text.startswith(said) for text in told), told


@pytest.mark.parametrize(
    "octets", [b"abc", bytes.fromhex("00532445"), DATA + b"\x00\x53", b"\x40", b"\x00\x40\x40"]
)
def test_what_is_no_message(octets: bytes) -> None:
    with pytest.raises(WireError):
        decode_message(octets)
    assert describe_payload(octets) == "no whole message"


def test_payloads_in_few_words() -> None:
    assert describe_payload(HEADER + DATA) == "header 7, data 8"


def test_sections_take_anything_on_purpose() -> None:
    assert encode_section("data", Value("string", "x")) == bytes.fromhex("005375 a10178")
    assert encode_section("amqp-value", Array("ubyte", [1])) == bytes.fromhex("005377 e003015001")
    with pytest.raises(EncodeError):
        encode_section("data", "text")
    with pytest.raises(KeyError):
        encode_section("tail", b"")
