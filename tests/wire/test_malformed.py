"""Octets that are wrong on purpose: every lie in words, and octet for octet what was requested."""

from __future__ import annotations

import pytest

from amqpspec.wire.errors import EncodeError
from amqpspec.wire.methods.codec import Codec, ContentHeader
from amqpspec.wire.methods.malformed import (
    cut,
    every_cut,
    header_payload,
    longstr,
    method_payload,
    nested_arrays,
    nested_tables,
    overwritten,
    shortstr,
    table,
    table_field,
)
from amqpspec.wire.values import Raw, Typed


def test_cuts() -> None:
    assert (cut(b"abcd", 2), cut(b"abcd", -1), cut(b"abcd", 0)) == (b"ab", b"abc", b"")
    assert list(every_cut(b"abc")) == [b"", b"a", b"ab"]


def test_overwriting() -> None:
    assert overwritten(b"abcd", 1, b"XY") == b"aXYd"
    assert overwritten(b"abcd", 3, b"X") == b"abcX"
    for at in (-1, 3):
        with pytest.raises(IndexError, match=f"2 octets at {at}, expected a place within 4 octets"):
            overwritten(b"abcd", at, b"XY")


def test_strings_that_lie() -> None:
    assert shortstr(b"ab") == b"\x02ab"
    assert shortstr(b"ab", size=255) == b"\xffab"
    assert longstr(b"ab") == b"\0\0\0\x02ab"
    assert longstr(b"ab", size=2**32 - 1) == b"\xff\xff\xff\xffab"


def test_tables_that_lie(codec: Codec) -> None:
    field = table_field(b"k", "t", b"\x01")
    assert table(field) == codec.tables.encode({"k": True})
    assert table(field, size=3) == b"\0\0\0\x03\x01kt\x01"
    assert table_field(b"", 255) == b"\x00\xff"


def test_any_tag_with_raw_octets_behind_it(codec: Codec) -> None:
    assert codec.tables.encode({"k": Typed("?", Raw(b"xy"))}) == table(table_field(b"k", "?", b"xy"))
    assert codec.tables.encode({"k": Raw(b"")}) == table(b"\x01k")
    assert codec.tables.encode(table(b"", size=9)) == b"\0\0\0\x09"
    assert codec.tables.encode_field("k", Typed("t", Raw(b"\x07"))) == table_field(b"k", "t", b"\x07")
    assert codec.tables.encode([(Raw(b"\x09k"), True)]) == table(b"\x09kt\x01")  # type: ignore[arg-type]  # a raw key
    assert codec.tables.encode({"k": [Raw(b"?"), Typed("S", Raw(b""))]}) == table(
        table_field(b"k", "A", table(b"?S"))
    )


def test_nesting_is_right_all_the_way_down(codec: Codec) -> None:
    plain: dict[str, object] = {}
    items: list[object] = []
    for depth in range(1, 6):
        assert nested_tables(depth) == codec.tables.encode(plain)
        assert codec.tables.encode({"k": Typed("A", nested_arrays(depth))}) == codec.tables.encode(
            {"k": items}
        )
        plain, items = {"n": plain}, [items]
    with pytest.raises(EncodeError, match="nesting: 0, expected a depth of at least 1"):
        nested_tables(0)


def test_payloads_of_anything(codec: Codec) -> None:
    assert method_payload(10, 51) == codec.encode_method("connection.close-ok", {})
    assert method_payload(0xFFFF, 0, b"junk") == b"\xff\xff\0\0junk"
    assert header_payload(60, 5) == codec.encode_header(ContentHeader(60, 5))
    octets = header_payload(61, 2**64 - 1, weight=7, flags=[0x0003, 0xFFFE], properties=b"junk")
    assert octets == b"\x00\x3d\x00\x07" + b"\xff" * 8 + b"\x00\x03\xff\xfe" + b"junk"
    assert header_payload(60, flags=()) == b"\x00\x3c" + bytes(10)


@pytest.mark.parametrize(
    "make",
    [
        lambda: shortstr(b"", size=256),
        lambda: shortstr(b"x" * 256),
        lambda: longstr(b"", size=-1),
        lambda: table_field(b"k", 256),
        lambda: method_payload(65536, 1),
        lambda: header_payload(60, 2**64),
        lambda: header_payload(60, flags=[65536]),
    ],
)
def test_even_lies_have_to_fit(make: object) -> None:
    assert callable(make)
    with pytest.raises(EncodeError, match="expected an integer from 0 to "):
        make()


def test_they_stand_in_for_arguments(codec: Codec) -> None:
    payload = codec.encode_method(
        "queue.declare", {"queue": shortstr(b"q", size=200), "arguments": table(b"", 9)}
    )
    assert payload == b"\x00\x32\x00\x0a\x00\x00" + b"\xc8q" + b"\x00" + b"\x00\x00\x00\x09"
