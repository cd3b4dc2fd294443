"""Octets that break the grammar give a WireError that says where; never anything else, never much memory."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.wire.errors import WireError
from amqpspec.wire.methods.codec import Codec
from amqpspec.wire.methods.frames import Frame, FrameReader, encode_frame
from amqpspec.wire.methods.malformed import (
    every_cut,
    header_payload,
    nested_arrays,
    nested_tables,
    overwritten,
    table_field,
)
from amqpspec.wire.methods.malformed import table as table_of
from amqpspec.wire.methods.tables import MAX_DEPTH
from amqpspec.wire.values import Typed
from tests.wire.golden import BASE, COMMON_VALUES
from tests.wire.strategies import CODECS, DIALECTS, header_payloads, method_payloads, mutated, tables

EACH_CODEC = pytest.mark.parametrize("codec", CODECS, ids=DIALECTS)


def outcome(read: Callable[[bytes], Any], octets: bytes) -> Any:
    """What was read, or the WireError, whose offset lies within the octets."""
    try:
        return read(octets)
    except WireError as error:
        assert 0 <= error.offset <= len(octets)
        assert error.where and error.expected and error.actual
        return error


def whole_table(codec: Codec) -> Callable[[bytes], Any]:
    return lambda octets: codec.tables.decode(octets, 0, len(octets))[0]


# --- whatever comes


@EACH_CODEC
@given(data=st.data())
def test_mutated_methods(codec: Codec, data: st.DataObject) -> None:
    call = outcome(codec.decode_method, data.draw(mutated(method_payloads(codec))))
    if not isinstance(call, WireError):
        again = codec.encode_method(call.name, call.args)
        assert codec.encode_method(call.name, codec.decode_method(again).args) == again


@EACH_CODEC
@given(data=st.data())
def test_mutated_content_headers(codec: Codec, data: st.DataObject) -> None:
    header = outcome(codec.decode_header, data.draw(mutated(header_payloads(codec))))
    if not isinstance(header, WireError):
        again = codec.encode_header(header)
        assert codec.encode_header(codec.decode_header(again)) == again


@EACH_CODEC
@given(data=st.data())
def test_mutated_tables(codec: Codec, data: st.DataObject) -> None:
    legal = tables(codec.dialect.table_tags).map(codec.tables.encode)
    table = outcome(whole_table(codec), data.draw(mutated(legal)))
    if not isinstance(table, WireError):
        assert len(whole_table(codec)(codec.tables.encode(table))) == len(table)


@EACH_CODEC
@given(octets=st.binary(max_size=60))
def test_random_octets(codec: Codec, octets: bytes) -> None:
    outcome(codec.decode_method, octets)
    outcome(codec.decode_header, octets)
    outcome(codec.decode_header, b"\x00\x3c" + octets)
    outcome(whole_table(codec), octets)
    for name in ("connection.start", "queue.declare", "basic.deliver"):
        outcome(codec.decode_method, codec.encode_method(name, {})[:4] + octets)


# --- cut anywhere


@pytest.mark.parametrize("golden", [g for g in BASE if g.args], ids=lambda g: g.name)
def test_a_method_cut_anywhere(base: Codec, golden: Any) -> None:
    for octets in every_cut(bytes.fromhex(golden.hex)):
        assert isinstance(outcome(base.decode_method, octets), WireError)
    longer = bytes.fromhex(golden.hex) + b"\x00"
    with pytest.raises(WireError, match="1 octets more, expected the end of the arguments"):
        base.decode_method(longer)


def test_a_content_header_cut_anywhere(codec: Codec) -> None:
    octets = header_payload(60, flags=[0xB000], properties=b"\x01a\x00\x00\x00\x00\x02")
    assert codec.decode_header(octets).properties == {"content_type": "a", "headers": (), "delivery_mode": 2}
    for part in every_cut(octets):
        assert isinstance(outcome(codec.decode_header, part), WireError)
    with pytest.raises(WireError, match="1 octets more, expected the end of the properties"):
        codec.decode_header(octets + b"\x00")


@pytest.mark.parametrize(("tag", "value", "hex_text"), COMMON_VALUES)
def test_a_table_cut_anywhere_and_sized_to_fit_the_cut(
    codec: Codec, tag: str, value: Any, hex_text: str
) -> None:
    field = table_field(b"name", tag, bytes.fromhex(hex_text))
    for part in every_cut(field):
        if part:
            assert isinstance(outcome(whole_table(codec), table_of(part)), WireError)
    for part in every_cut(table_of(field)):
        assert isinstance(outcome(whole_table(codec), part), WireError)
    surrounded = table_of(field, size=len(field) - 1) + b"\x00" * 20
    read = outcome(whole_table(codec), surrounded)
    assert isinstance(read, WireError)


def test_a_table_ends_where_it_was_told_to(codec: Codec) -> None:
    octets = table_of(table_field(b"a", "t", b"\x01"))
    with pytest.raises(WireError, match="table at octet 0: length 4, expected a length of at most 3"):
        codec.tables.decode(octets, 0, len(octets) - 1)
    for end in (len(octets) + 1, 1 << 40):
        assert codec.tables.decode(octets, 0, end)[1] == len(octets)
    with pytest.raises(WireError, match="table at octet 9: 0 left, expected 4 octets"):
        codec.tables.decode(octets, 9, 9)


# --- what exactly is said


@pytest.mark.parametrize(
    ("hex_text", "message"),
    [
        ("", "method at octet 0: 0 octets, expected class-id and method-id"),
        ("00 0a 00", "method at octet 0: 3 octets, expected class-id and method-id"),
        ("00 0a 00 63", "method at octet 0: class 10 method 99, expected a method of amqp-0-9-1"),
        ("00 0a 00 1e 07 ff 00", "channel-max, frame-max, heartbeat at octet 4: 3 left, expected 8 octets"),
        ("00 14 00 14", "active at octet 4: 0 left, expected 1 octets"),
        ("00 14 00 0a 05 61", "reserved_1 at octet 5: 1 left, expected 5 octets"),
        ("00 0a 00 14 00 00 00 09 61", "challenge at octet 8: 1 left, expected 9 octets"),
        ("00 32 00 15 00", "queue.bind-ok at octet 4: 1 octets more, expected the end of the arguments"),
    ],
)
def test_what_is_said_of_a_method(base: Codec, hex_text: str, message: str) -> None:
    with pytest.raises(WireError) as caught:
        base.decode_method(bytes.fromhex(hex_text))
    assert str(caught.value).startswith(message)
    assert caught.value.window.count(">") == 1


@pytest.mark.parametrize(
    ("octets", "message"),
    [
        (b"\x00\x3c", "content header at octet 0: 2 octets, expected at least 14 octets"),
        (header_payload(61), "content header at octet 0: class 61, expected a class of amqp-0-9-1"),
        (header_payload(60, flags=[2]), "property flags at octet 12: flag 15 is set, expected flags of 14"),
        (header_payload(60, flags=[1]), "property flags at octet 14: 0 left, expected 2 octets"),
        (header_payload(60, flags=[1, 0x8000]), "property flags at octet 14: flag 16 is set"),
        (
            header_payload(60, flags=[1] * 400),
            "property flags at octet 44: more of them, expected an end after 16",
        ),
        (
            header_payload(10, flags=[0x8000]),
            "property flags at octet 12: flag 1 is set, expected flags of 0",
        ),
        (header_payload(60, flags=[0x1000]), "delivery-mode at octet 14: 0 left, expected 1 octets"),
    ],
)
def test_what_is_said_of_a_content_header(base: Codec, octets: bytes, message: str) -> None:
    with pytest.raises(WireError) as caught:
        base.decode_header(octets)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            table_field(b"k", "?"),
            "field value at octet 6: tag 0x3f, expected a type tag of ABDFILSTUVbdfilstu",
        ),
        (table_field(b"k", 0), "field value at octet 6: tag 0x00, expected"),
        (
            b"\xff",
            "field name at octet 4: name of 255 octets, expected a name and a value within the 1 octets",
        ),
        (b"\x01k", "field name at octet 4: name of 1 octets"),
        (table_field(b"k", "L", b"\x00"), "int64 at octet 7: 1 left, expected 8 octets"),
        (table_field(b"k", "S", b"\x00"), "longstr at octet 7: 1 left, expected 4 octets"),
        (
            table_field(b"k", "S", b"\xff\xff\xff\xff"),
            "longstr at octet 11: 0 left, expected 4294967295 octets",
        ),
        (table_field(b"k", "s"), "shortstr at octet 7: 0 left, expected 1 octets"),
        (table_field(b"k", "s", b"\x02a"), "shortstr at octet 8: 1 left, expected 2 octets"),
        (table_field(b"k", "D", b"\x02a"), "decimal at octet 7: 2 left, expected 5 octets"),
        (
            table_field(b"k", "A", b"\x00\x00\x00\x02V"),
            "array at octet 7: length 2, expected a length of at most 1",
        ),
        (table_field(b"k", "F", b"\x00\x00\x00"), "table at octet 7: 3 left, expected 4 octets"),
    ],
)
def test_what_is_said_of_a_table(base: Codec, fields: bytes, message: str) -> None:
    with pytest.raises(WireError) as caught:
        whole_table(base)(table_of(fields))
    assert str(caught.value).startswith(message)


def test_an_error_seen_from_an_enclosing_stream(base: Codec) -> None:
    with pytest.raises(WireError) as caught:
        base.decode_method(bytes.fromhex("00 14 00 14"))
    moved = caught.value.moved("frame of server→client", 100)
    assert str(moved) == "frame of server→client at octet 104: 0 left, expected 1 octets [00 14 00 14 >end<]"


def test_a_lying_inner_size_cannot_reach_beyond_its_table(codec: Codec) -> None:
    inner = table_field(b"s", "S", b"\x00\x00\x00\x05ab")
    octets = table_of(inner) + b"cdefgh"
    with pytest.raises(WireError, match="longstr at octet 11: 2 left, expected 5 octets"):
        whole_table(codec)(octets)


# --- bounds


@pytest.mark.parametrize("depth", [MAX_DEPTH + 2, 1000, 100_000])
def test_endless_nesting(codec: Codec, depth: int) -> None:
    table = nested_tables(depth)
    array = codec.tables.encode({"a": Typed("A", nested_arrays(depth))})
    for octets in (table, array):
        with pytest.raises(WireError, match=f"expected nesting of at most {MAX_DEPTH}"):
            whole_table(codec)(octets)


def test_deepest_nesting_there_and_back(codec: Codec) -> None:
    octets = nested_tables(MAX_DEPTH + 1)
    table = whole_table(codec)(octets)
    assert codec.tables.encode(table) == octets
    assert sys.getrecursionlimit() <= 10_000


def test_announced_gibibytes_cost_nothing(codec: Codec) -> None:
    hostile = [
        table_of(b"", size=2**32 - 1),
        table_of(table_field(b"k", "S", b"\xff\xff\xff\xff")),
        table_of(table_field(b"k", "A", b"\xff\xff\xff\xff")),
    ]
    tracemalloc.start()
    for octets in hostile:
        assert isinstance(outcome(whole_table(codec), octets), WireError)
        payload = codec.encode_method("queue.declare", {"arguments": octets})
        outcome(codec.decode_method, payload)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 17


def test_values_of_no_width_cost_no_more_than_a_reference(codec: Codec) -> None:
    octets = table_of(table_field(b"k", "A", table_of(b"V" * (1 << 16))))
    tracemalloc.start()
    table = whole_table(codec)(octets)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(table.get("k")) == 1 << 16
    assert peak < 1 << 21


@EACH_CODEC
@given(data=st.data())
def test_flipped_octets_in_a_frame(codec: Codec, data: st.DataObject) -> None:
    payload = data.draw(method_payloads(codec))
    octets = encode_frame(codec.dialect.layout, Frame(1, 0, payload))
    at = data.draw(st.integers(0, len(octets) - 1))
    reader = FrameReader(codec.dialect.layout)
    reader.feed(overwritten(octets, at, bytes([data.draw(st.integers(0, 255))])))
    outcome(lambda _: reader.next(), octets)
