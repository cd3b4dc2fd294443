"""What can be written, legal or not, and what is said of values that cannot."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.wire.amqp_fast_0_8.commands import encode_arguments
from amqpspec.wire.amqp_fast_0_8.frames import command_frame
from amqpspec.wire.amqp_fast_0_8.malformed import counted, table_field
from amqpspec.wire.amqp_fast_0_8.message import encode_head
from amqpspec.wire.amqp_fast_0_8.tables import encode_table, encode_value
from amqpspec.wire.errors import EncodeError
from amqpspec.wire.values import Raw, Table, Typed


def test_what_is_left_out_is_zero_or_empty() -> None:
    assert encode_arguments("handle.open", {}) == bytes.fromhex("0000 0000 0000 00 00 00 0000")
    assert encode_arguments("handle.open", {"options": None, "encoding": None, "channel-id": None}) == (
        encode_arguments("handle.open", {})
    )


def test_raw_octets_stand_in_for_any_value() -> None:
    octets = encode_arguments(
        "handle.open",
        {
            "channel_id": Raw(b"C"),
            "consumer": Raw(b"\xff"),
            "mime-type": Raw(b"\x09m"),
            "options": Raw(b"\x07\x07O"),
        },
    )
    assert octets == b"C" + bytes(4) + b"\xff" + b"\x09m" + b"\x00" + b"\x07\x07O"
    assert encode_arguments("handle.open", {"producer": Raw(b"")}) == bytes.fromhex(
        "0000 0000 0000 00 00 0000"
    )
    assert encode_head(headers=Raw(b"h"), body_size=Raw(b"b")) == b"b" + bytes(6) + bytes(3) + b"h"


def test_raw_octets_in_tables() -> None:
    assert encode_table({"k": Raw(b"Zz")}) == b"\x00\x04\x01kZz"
    assert encode_table([(Raw(b"\x09k"), 1)]) == b"\x00\x07\x09kI\x00\x00\x00\x01"
    assert encode_table([("k", Typed("F", Raw(b"\x00\x00")))]) == b"\x00\x05\x01kF\x00\x00"
    assert encode_table([("k", Typed("S", Raw(b"\x00\x09")))]) == b"\x00\x05\x01kS\x00\x09"
    assert encode_table(Raw(b"all")) == b"all"
    assert encode_value(Typed("I", 7)) == b"I\x00\x00\x00\x07"


def test_lengths_that_lie() -> None:
    assert counted("shortstr", b"abc", 200) == b"\xc8abc"
    assert counted("longstr", b"abc") == b"\x00\x03abc"
    assert counted("table", b"", 0xFFFF) == b"\xff\xff"
    assert table_field(b"k", "S", counted("longstr", b"v", 9), size=3) == b"\x03kS\x00\x09v"
    assert table_field(b"", 0xFE) == b"\x00\xfe"
    with pytest.raises(EncodeError, match="shortstr: 256, expected an integer from 0 to 255"):
        counted("shortstr", b"", 256)


def test_sizes_of_fragments_and_octets_behind_the_last_field() -> None:
    frame = command_frame("handle.prepare", handle_id=1, fragment=b"abc", fragment_size=9, extra=b"x")
    assert frame == bytes.fromhex("000a 2b 0001 00000009 00 78 ce") + b"abc"
    # A fragment can stand behind any command, though none but three announce one.
    assert command_frame("connection.ping", fragment=b"") == bytes.fromhex("0003 0e 00 ce")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"channel_id": 65536}, "channel.open channel-id: 65536, expected an integer from 0 to 65535"),
        ({"channel_id": -1}, "channel-id: -1, expected an integer from 0 to 65535"),
        ({"channel_id": "1"}, "channel-id: '1', expected an integer"),
        ({"out_of_band": "x" * 256}, "channel.open out-of-band: 256 octets, expected at most 255 octets"),
        ({"out_of_band": 7}, "out-of-band: 7, expected a string"),
        ({"out_of_band": "\ud800"}, "expected a string"),
        ({"options": 7}, "channel.open options: 7, expected a table or a mapping"),
        ({"options": ["ab", "c"]}, "expected a table or a mapping"),
        ({"options": {"k": 2**31}}, "options › 'k': 2147483648, expected an integer from -2147483648 to 2147483647"),
        ({"options": {"k": None}}, "options › 'k': None, expected a string, an integer, a decimal, or a value with"),
        ({"options": {"k": (256, 0)}}, "expected a pair of decimals"),
        ({"options": {"k": (1, 2, 3)}}, "expected a pair of decimals"),
        ({"options": {"k": Typed("D", 7)}}, "expected a pair of decimals"),
        ({"options": {"k": Typed("T", -1)}}, "expected seconds from 0 to 4294967295"),
        ({"options": {"k": Typed("S", 7)}}, "7, expected a string"),
        ({"options": {"k": Typed("F", Table())}}, "tag 'F', expected a type tag of SIDT, or Raw octets"),
        ({"options": {"k": Typed("S", bytes(65536))}}, "65536 octets, expected at most 65535 octets"),
        ({"options": {"n" * 256: 1}}, "256 octets, expected at most 255 octets"),
        ({"options": {7: 1}}, "options › 7: 7, expected a string"),
        ({"options": [(f"{n:04}", bytes(600)) for n in range(200)]}, "options: 121600 octets, expected at most 65535"),
    ],
)  # fmt: skip
def test_what_is_said_of_values_that_cannot_be_written(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(EncodeError) as caught:
        command_frame("channel.open", **fields)
    assert message in str(caught.value)


def test_what_is_said_of_a_head() -> None:
    with pytest.raises(EncodeError, match="message head priority: 256, expected an integer from 0 to 255"):
        encode_head(priority=256)
    with pytest.raises(TypeError, match="message head: no field 'colour'"):
        encode_head(colour=1)


def test_a_field_that_there_is_not() -> None:
    with pytest.raises(TypeError, match=r"handle\.flow: no field 'flow_active'"):
        command_frame("handle.flow", flow_active=True)
    with pytest.raises(TypeError, match=r"connection\.ping: no field 'fragment_size'"):
        command_frame("connection.ping", fragment=b"x")
