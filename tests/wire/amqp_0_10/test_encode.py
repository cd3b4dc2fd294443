"""Values that their types cannot carry give an EncodeError that says where; Raw octets go everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.spec.assemblies import PackedField, Struct
from amqpspec.wire.amqp_0_10.frames import encode_frame
from amqpspec.wire.amqp_0_10.instructions import encode_instruction
from amqpspec.wire.amqp_0_10.values import Array, Packed, Raw, UnknownStruct, Value
from amqpspec.wire.amqp_0_10.writing import encode, encode_struct, encode_value
from amqpspec.wire.errors import EncodeError


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("uint8", 256, "an integer from 0 to 255"),
        ("uint8", -1, "an integer from 0 to 255"),
        ("int8", 128, "an integer from -128 to 127"),
        ("sequence-no", 2**32, "an integer from 0 to 4294967295"),
        ("datetime", "now", "an integer from"),
        ("uint16", 1.0, "an integer"),
        ("bin16", b"x", "2 octets"),
        ("bin16", 5, "a value of bin16"),
        ("char", "ab", "1 octets"),
        ("char", "→", "a value of char"),
        ("char-utf32", "ab", "a value of char-utf32"),
        ("char-utf32", 2**32, "an integer"),
        ("float", 1e300, "a value of float"),
        ("double", "x", "a value of double"),
        ("dec32", 5, "a value of dec32"),
        ("dec32", (256, 0), "an integer from 0 to 255"),
        ("dec64", (0, 2**63), "an integer from"),
        ("uuid", "x", "a value of uuid"),
        ("str8", "x" * 256, "at most 255 octets"),
        ("str8", 5, "a value of str8"),
        ("str16-latin", "→", "a value of str16-latin"),
        ("sequence-set", [(1,)], "a value of sequence-set"),
        ("sequence-set", [(0, 2**32)], "a value of sequence-set"),
        ("sequence-set", [(0, 0)] * 8192, "at most 65535 octets"),
        ("map", 5, "a map or a mapping"),
        ("map", [1], "a map or a mapping"),
        ("map", {"k" * 256: 1}, "at most 255 octets"),
        ("map", {"k": object()}, "a Value, which says of what type"),
        ("list", "text", "a sequence of values"),
        ("list", 5, "a sequence of values"),
        ("list", [2**64], "an integer from 0 to 18446744073709551615"),
        ("array", [1], "an Array, which says of what"),
        ("array", Array("sequence-no", [1]), "a type that has a code"),
        ("array", Array(256, []), "an integer from 0 to 255"),
        ("struct32", Packed("dtx.xid", {}), "a struct that has a code"),
        ("struct32", {}, "a struct that has a code"),
        ("dtx.xid", 5, "the fields of dtx.xid"),
        ("dtx.xid", Packed("dtx.xa-result", {}), "the fields of dtx.xid"),
        ("session.command-fragment", {"command-id": 1}, "all fields, since no flag tells which"),
    ],
)
def test_what_cannot_be_written(name: str, value: Any, expected: str) -> None:
    with pytest.raises(EncodeError) as caught:
        encode(name, value)
    assert expected in caught.value.expected
    assert caught.value.where


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Value("sequence-set", ()), "a type that has a code"),
        (Value("nothing", 1), "a type that has a code"),
        (Value(0xB0, b""), "Raw for a reserved one"),
        (Value(0x2F, 5), "octets for a type without a name"),
        (Value(0x2F, b"abc"), "4 octets"),
        ((1, 2), "a Value, which says of what type"),
    ],
)
def test_what_cannot_stand_in_a_map(value: Any, expected: str) -> None:
    with pytest.raises(EncodeError, match=r"^map › 'k'") as caught:
        encode("map", {"k": value})
    assert expected in caught.value.expected


def test_places_in_words() -> None:
    with pytest.raises(EncodeError, match=r"connection.start mechanisms › 1: 5, expected a value of str16"):
        encode_instruction("connection.start", {"mechanisms": ["a", 5]})
    with pytest.raises(EncodeError, match=r"dtx.start xid global-id"):
        encode_instruction("dtx.start", {"xid": {"global-id": 5}})
    with pytest.raises(EncodeError, match=r"connection.close: 65536, expected 2 octets of packing flags"):
        encode_instruction("connection.close", {}, flags=0x10000)
    with pytest.raises(EncodeError, match=r"frame header: .*channel=65536"):
        encode_frame(b"", type=0, channel=65_536)


def test_names_that_are_none() -> None:
    with pytest.raises(TypeError, match=r"session.attach: no field 'nome'"):
        encode_instruction("session.attach", {"nome": b"s"})
    with pytest.raises(KeyError):
        encode_instruction("session.attack", {})
    with pytest.raises(KeyError):
        encode("str7", "")


@pytest.mark.parametrize(
    ("value", "octets"),
    [
        ({"k": Raw(b"\x95?")}, b"\0\0\0\x08\0\0\0\1\x01k\x95?"),
        ({Raw(b"!"): None}, b"\0\0\0\x06\0\0\0\1!\xf0"),
        ({"k": Value("uint8", Raw(b"??"))}, b"\0\0\0\x09\0\0\0\1\x01k\x02??"),
        ({"k": Value(0xB7, Raw(b"?"))}, b"\0\0\0\x08\0\0\0\1\x01k\xb7?"),
    ],
)
def test_raw_octets_in_a_map(value: Any, octets: bytes) -> None:
    assert encode("map", value) == octets


def test_raw_octets_elsewhere() -> None:
    assert encode("list", [Raw(b"?")]) == b"\0\0\0\5\0\0\0\1?"
    assert encode("array", Array("uint8", [Raw(b"??"), 1])) == b"\0\0\0\x08\x02\0\0\0\2??\1"
    assert encode("dtx.recover-result", {"in-doubt": [Raw(b"?"), b"x"]}).endswith(b"\x90\0\0\0\2?\0\1x")
    assert encode("dtx.recover-result", {"in-doubt": Raw(b"?")}).endswith(b"\x01\x00?")
    assert encode_value(UnknownStruct((1, 2), b"x")) == b"\xab\0\0\0\3\1\2x"


@pytest.mark.parametrize(
    ("size_octets", "code", "type_code"),
    [(1, None, 0x80), (4, None, 0xA0), (0, None, 0x90), (4, (4, 4), 0xAB)],
)
def test_the_type_code_of_structs_in_arrays(
    size_octets: int, code: tuple[int, int] | None, type_code: int
) -> None:
    row = Struct("s", (PackedField("a", "uint8"),), size_octets=size_octets, code=code)
    assert encode_struct(row, {"a": 1})
    array = encode(
        "array", Array({0x80: "vbin8", 0xA0: "vbin32", 0x90: "vbin16", 0xAB: "struct32"}[type_code], [])
    )
    assert array == b"\0\0\0\5" + bytes((type_code,)) + bytes(4)
