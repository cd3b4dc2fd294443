"""What can be written, in which shape, and what is refused with a reason."""

from __future__ import annotations

from collections import OrderedDict
from types import MappingProxyType
from typing import Any
from uuid import UUID

import pytest

from amqpspec.wire.amqp_1_0.performatives import decode_composite, encode_as, encode_composite
from amqpspec.wire.amqp_1_0.types import decode, decode_value, encode
from amqpspec.wire.amqp_1_0.values import Array, Described, Map, Raw, Repeated, Symbol, Value, plain
from amqpspec.wire.errors import EncodeError, WireError


@pytest.mark.parametrize(
    ("value", "octets"),
    [
        (None, "40"),
        (True, "41"),
        (5, "5505"),
        (-129, "81ffffffffffffff7f"),
        (1 << 63, "808000000000000000"),
        (1.0, "823ff0000000000000"),
        ("é", "a102c3a9"),
        (Symbol("s"), "a30173"),
        (b"\x01", "a00101"),
        (bytearray(b"\x01"), "a00101"),
        (UUID(int=1), "98" + 15 * "00" + "01"),
        ([], "45"),
        ((1,), "c003015501"),
        ({}, "c10100"),
        ({"a": None}, "c10502a1016140"),
        (MappingProxyType({}), "c10100"),
        (OrderedDict(), "c10100"),
        (Described(1, None), "0055" + "0140"),
        (Raw(b"\xff"), "ff"),
        (Value("uint", 0), "43"),
        (Value("uint", 255), "52ff"),
        (Value("uint", 256), "7000000100"),
        (Value("ulong", 0), "44"),
        (Value("int", -1), "54ff"),
        (Value("int", 128), "7100000080"),
        (Value("boolean", False), "42"),
        (Value("string", Raw(b"\xa1\x05")), "a105"),
        (Value("str8-utf8", Raw(b"\x05ab")), "a1056162"),
        (Value(0x52, 7), "5207"),
        (Value(0x3F, Raw(b"ab")), "3f6162"),
        (Value("array", ["a", "b"]), "e00602a101610162"),
        (Value("array", []), "e00200a3"),
        (Value("array", Array("uint", [1, 300])), "e00a027000000001" + "0000012c"),
        (Value("array", Array(0x50, [1])), "e003015001"),
        (Value("array", Array(0x3F, [b"x"])), "e003013f78"),
        (Value("array", Array("list", [[], [1]])), "e00802c00100" + "03015501"),
        (Value("array8", Array("array", [Array("ubyte", [1])])), "e00601e003015001"),
        (Array("null", Repeated(None, 3)), "e0020340"),
        (Value("list", Repeated(None, 2)), "c003024040"),
    ],
)
def test_values(value: Any, octets: str) -> None:
    assert encode(value).hex() == octets


def test_long_things_take_the_wide_encoding() -> None:
    assert encode("x" * 256)[:5] == bytes.fromhex("b100000100")
    assert encode(["x" * 250, 1])[:9] == bytes.fromhex("c0ff02a1fa" + 4 * "78")
    assert encode(["x" * 251, 1, 2])[:9] == bytes.fromhex("d00000010500000003")
    assert encode([None] * 256)[:9] == bytes.fromhex("d00000010400000100")
    assert encode(Value("array", ["x" * 256]))[:14] == bytes.fromhex("f0 00000109 00000001 b1 00000100")
    assert encode(Array("ubyte", [0] * 254))[:4] == bytes.fromhex("f0000001")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (object(), "a value that a primitive type can carry"),
        (1 << 64, "fits ulong8"),
        (Value("uint", -1), "fits uint4"),
        (Value("ubyte", True), "fits ubyte"),
        (Value("ubyte", 256), "fits ubyte"),
        (Value("uint0", 1), "fits uint0"),
        (Value("true", 1), "fits true"),
        (Value("boolean1", 256), "fits boolean1"),
        (Value("symbol", "é"), "fits sym32"),
        (Value("string", b"x"), "fits str32-utf8"),
        (Value("str8-utf8", "x" * 256), "fits str8-utf8"),
        (Value("decimal32", b"x"), "fits decimal32"),
        (Value("binary", "x"), "fits vbin32"),
        (Value("list0", [1]), "fits list0"),
        (Value("list8", "ab"), "fits list8"),
        (Value("list", "ab"), "items, pairs or an Array"),
        (Value("map8", "ab"), "fits map8"),
        (Value("map", [1]), "items, pairs or an Array"),
        (Value("array", [1, "a"]), "items of one plain type"),
        (Value("array", 5), "items, pairs or an Array"),
        (Value("array", Array("no-such", [1])), "the name of an encoding or of a type"),
        (Value("array", Array("ubyte", [300])), "fits ubyte"),
        (Value("array", Array("uint", [-1])), "fits uint4"),
        (Value("array", Array(0x3F, [1])), "Raw octets"),
        (Value(0x3F, 1), "Raw octets"),
        (Value("no-such", 1), "the name of an encoding or of a type"),
        ([object()], "a value that a primitive type can carry"),
    ],
)
def test_what_does_not_fit_is_refused(value: Any, said: str) -> None:
    with pytest.raises(EncodeError, match=said):
        encode(value)


def test_fields_by_type() -> None:
    assert encode_as("annotations", {"x": 1, 5: None}).hex() == "c10904a301785501530540"
    assert encode_as("application-properties", {"k": True}).hex() == "c10502a1016b41"
    assert encode_as("error", "error").hex() == "00531d45"
    assert encode_as("map", [("a", 1)]).hex() == "c10602a101615501"
    for kind, value in (("fields", "ab"), ("error", 1), ("sasl-code", "no-such"), ("map", 5)):
        with pytest.raises(EncodeError):
            encode_as(kind, value)


def test_several_values_in_a_field() -> None:
    def sent(value: Any) -> Any:
        return decode_composite(encode_composite("source", capabilities=value))[0]["capabilities"]

    assert sent(("b", "a")) == ("b", "a")
    assert sent({"b", "a"}) == ("a", "b")
    assert sent("a") == ("a",)
    assert sent(None) == sent(()) == ()
    assert encode_composite("source", capabilities=[])[-4:].hex() == "e00200a3"


def test_composites_on_purpose() -> None:
    state = encode_composite("rejected", error={"condition": "amqp:not-found"})
    read = decode_composite(encode_composite("disposition", role=True, first=0, state=state))[0]
    assert read["state"]["error"]["condition"] == "amqp:not-found"
    again = encode_composite("disposition", role=True, first=0, state=read["state"])
    assert decode_composite(again)[0] == read
    for name in ("no-such", "open"):
        with pytest.raises(
            EncodeError, match=r"disposition state value: .*, expected one of received, accepted"
        ):
            encode_composite("disposition", state=name)
    with pytest.raises(EncodeError, match="list0, list8 or list32"):
        encode_composite("end", encoding="list9")
    with pytest.raises(EncodeError, match=r"sasl-init initial-response .*: a value that is not shown"):
        encode_composite("sasl-init", initial_response="secret")
    assert encode_composite("end", encoding="list0", extra=[1]).hex() == "00531745405501"
    assert encode_composite("end", size=3, count=300).hex() == "005317d0000000030000012c"


def test_problems_of_composites() -> None:
    def told(name: str, **fields: Any) -> list[str]:
        return [str(problem) for problem in decode_composite(encode_composite(name, **fields))[0].problems]

    assert told("source", durable=Value("uint", 7), expiry_policy=Value("symbol", "x")) == [
        "source durable: 7, expected one of none (0), configuration (1), unsettled-state (2)",
        "source expiry-policy: 'x', expected one of link-detach, session-end, connection-close, never",
    ]
    assert told("source", capabilities=Array("string", ["a"])) == [
        "source capabilities: string 'a', expected symbol"
    ]
    assert told("source", capabilities=Array("null", [None] * 3))[0].endswith("null None, expected symbol")
    assert told("source", capabilities=Array("symbol", ["a"], (Value("ulong", 1),)))[0].endswith(
        "expected symbol"
    )
    assert told("source", address=5) == [
        "source address: long 5, expected one that provides address: address-string"
    ]
    assert told("source", filter={"f": Described(Symbol("any:filter"), "x")}) == []
    assert told("source", filter=Value("map", [(Value("string", "f"), 1)]))[0].startswith(
        "source filter key: string 'f'"
    )
    assert told(
        "source", default_outcome=Described(Symbol("other:outcome"), Value("str8-utf8", Raw(b"\x01\xff")))
    ) == ["source default-outcome: '\\udcff', expected UTF-8"]
    assert told("source", default_outcome=encode_composite("received"))[0].startswith(
        "source default-outcome: received"
    )
    assert told("close", error=Raw(b"\x00\x53\x1d\xc1\x01\x00")) == ["close error: map {}, expected a list"]
    assert told("close", error=Raw(b"\x00\x50\x1d\x45"))[0].startswith("close error: a value described by 29")
    twice = Value("map", [(Symbol("k"), 1), (Symbol("k"), [Value("char", 0xD800)])])
    assert told("open", container_id="c", properties=twice) == [
        "open properties key: 'k' again, expected keys that differ",
        "open properties 'k': 0xD800, expected a Unicode scalar value",
    ]


def test_maps_with_odd_keys() -> None:
    octets = encode(Value("map", [([1], 1), ({"a": [2]}, 2), (Described(1, [3]), 3), ([1], 4)]))
    read, _ = decode(octets)
    assert read == {(1,): 1, (("a", (2,)),): 2, Described(1, (3,)): 3}
    assert isinstance(read, Map) and read.repeated
    assert plain(decode_value(octets)[0]) == read


def test_repeated_elements_stay_small() -> None:
    octets = bytes.fromhex("f0 00000008 0000ffff 00 5501 40")
    read, _ = decode(octets)
    assert len(read) == 65_535 and read[65_534] == Described(1, None)
    assert repr(read) == "[Described(descriptor=1, value=None)] * 65535"
    assert read[1:3] == Repeated(Described(1, None), 2) == [Described(1, None)] * 2
    assert len({read, Repeated(Described(1, None), 65_535)}) == 1
    assert encode(decode_value(octets)[0]) == octets
    with pytest.raises(IndexError):
        read[65_535]


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        ("", "a constructor"),
        ("00", "descriptor at octet 1: 0 left"),
        ("0055", "1 octets"),
        ("005501", "described value at octet 3: 0 left"),
        ("a1", "str8-utf8 at octet 1: 0 left"),
        ("b10000", "str32-utf8 at octet 1: 2 left, expected 4 octets"),
        ("70000000", "uint4 at octet 1: 3 left, expected 4 octets"),
        ("50", "ubyte at octet 1: 0 left"),
        ("98" + 15 * "00", "uuid at octet 1: 15 left"),
        ("ff", "constructor 0xFF, expected a constructor of a primitive type"),
        ("c0044141414141", "count 65"),
        ("c0030155", "2 left, expected 3 octets"),
        ("c0020155", "smalllong at octet 4: 0 left"),
        ("c003014040", "1 octets more, expected the end of 1 items"),
        ("e00601a3020001", "5 left, expected 6 octets"),
        ("e00401500102", "1 octets more, expected the end of 1 elements"),
        ("e0020100", "a descriptor"),
        ("e00401005501", "array8 constructor"),
        ("f0 00000005 00010001 40", "at most 65536 elements of no octets that this reader keeps"),
        ("f0000000", "size and count"),
        ("c0c0", "size and count"),
        ("00" * 200 + "40", "at most 100 levels"),
    ],
)
def test_what_cannot_be_read(octets: str, said: str) -> None:
    for read in (decode, decode_value):
        with pytest.raises(WireError, match=said):
            read(bytes.fromhex(octets))


@pytest.mark.parametrize("head", ["d0", "f0"])
def test_nesting_is_bounded(head: str) -> None:
    octets = b"\x45"
    for _ in range(101):
        if head == "d0":
            octets = b"\xd0" + (len(octets) + 4).to_bytes(4, "big") + b"\0\0\0\1" + octets
        else:
            octets = b"\xf0" + (len(octets) + 4).to_bytes(4, "big") + b"\0\0\0\1" + octets
    with pytest.raises(WireError, match="at most 100 levels"):
        decode(octets)


def test_octets_of_any_class_are_read() -> None:
    assert decode(bytearray(b"\xa0\x01x"))[0] == b"x"  # type: ignore[arg-type]  # bytes are declared
