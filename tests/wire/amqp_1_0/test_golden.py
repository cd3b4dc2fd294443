"""Octets by hand against the codec, both ways."""

from __future__ import annotations

import pytest

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.wire.amqp_1_0.boundaries import BOUNDARIES, Boundary
from amqpspec.wire.amqp_1_0.performatives import decode_composite, encode_composite
from amqpspec.wire.amqp_1_0.problems import problems_of
from amqpspec.wire.amqp_1_0.types import decode, decode_value, encode
from amqpspec.wire.amqp_1_0.values import Array, Described, Symbol, Value, plain
from amqpspec.wire.errors import WireError
from tests.wire.amqp_1_0.golden import COMPOSITES, Golden

LEGAL = [b for b in BOUNDARIES if b.legal]
ILLEGAL = [b for b in BOUNDARIES if not b.legal]


def boundary_id(row: Boundary) -> str:
    return f"{row.value.encoding}-{row.octets[:8].hex()}-{len(row.octets)}"


@pytest.mark.parametrize("row", LEGAL, ids=boundary_id)
def test_a_value_in_a_chosen_encoding(row: Boundary) -> None:
    assert encode(row.value) == row.octets
    assert decode_value(row.octets) == (row.value, len(row.octets))
    assert decode(row.octets) == (plain(row.value), len(row.octets))
    assert DIALECT.encodings[str(row.value.encoding)].code == row.octets[0]


@pytest.mark.parametrize("row", ILLEGAL, ids=boundary_id)
def test_an_illegal_value_is_told(row: Boundary) -> None:
    assert encode(row.value) == row.octets
    section = b"\x00\x53\x77" + row.octets
    try:
        value, end = decode_value(section)
    except WireError:
        return
    assert end == len(section)
    assert problems_of(DIALECT.restricted["amqp-value"], value)


def test_every_encoding_has_a_boundary() -> None:
    assert {b.value.encoding for b in LEGAL} == set(DIALECT.encodings)
    assert {b.type for b in LEGAL} == {p.name for p in DIALECT.primitives}


@pytest.mark.parametrize("row", COMPOSITES, ids=lambda row: f"{row.name}-{len(row.octets)}")
def test_a_composite(row: Golden) -> None:
    assert encode_composite(row.name, **row.fields) == row.octets
    composed, end = decode_composite(row.octets)
    assert (composed.name, end, composed.octets) == (row.name, len(row.octets), row.octets)
    assert composed.given == set(row.fields)
    assert composed.problems == ()


def test_fields_of_a_composite_are_plain_with_defaults() -> None:
    opened, _ = decode_composite(COMPOSITES[1].octets)
    assert dict(opened.fields) == {
        "container_id": "c",
        "hostname": "h",
        "max_frame_size": 65_536,
        "channel_max": 32_767,
        "idle_time_out": 100,
        "outgoing_locales": (),
        "incoming_locales": (),
        "offered_capabilities": ("a", "b"),
        "desired_capabilities": ("x",),
        "properties": {"p": "v"},
    }
    smallest, _ = decode_composite(COMPOSITES[0].octets)
    assert (smallest["max-frame-size"], smallest["channel_max"], smallest.get("hostname", "?")) == (
        4_294_967_295, 65_535, "?",
    )  # fmt: skip


def test_other_descriptors_and_list_encodings_of_the_same_composite() -> None:
    end = bytes.fromhex("005317 45")
    for octets in (
        "00 800000000000000017 45",
        "00a30d616d71703a656e643a6c697374 c00100",
        "005317 d00000000400000000",
    ):
        composed, _ = decode_composite(bytes.fromhex(octets))
        assert (composed.name, composed.problems) == ("end", ())
    assert encode_composite("end") == end
    assert encode_composite("end", encoding="list8") == bytes.fromhex("005317 c00100")
    assert encode_composite("end", encoding="list32") == bytes.fromhex("005317 d00000000400000000")
    symbol = encode_composite("end", descriptor=Symbol("amqp:end:list"))
    assert symbol == bytes.fromhex("00a30d616d71703a656e643a6c69737445")


def test_an_array_of_described_values() -> None:
    octets = bytes.fromhex("e0 09 02 00 a30178 a1 0161 00")
    value, _ = decode_value(octets)
    assert value == Value("array8", Array("str8-utf8", ["a", ""], (Value("sym8", "x"),)))
    assert decode(octets)[0] == [Described("x", "a"), Described("x", "")]
    assert encode(value) == octets
