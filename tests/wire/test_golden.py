"""Octets written by hand from the text of the specification, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader, FrameWriter, encode_frame
from amqpspec.wire.methods.tables import TableCodec
from amqpspec.wire.values import Table, Typed
from tests.wire.golden import BASE, BASE_VALUES, EMPTY, OVERLAY, OVERLAY_VALUES, Golden

REDEFINED = {golden.name for golden in OVERLAY}
METHODS = [
    *(pytest.param("amqp-0-9-1", golden, id=golden.name) for golden in BASE),
    *(
        pytest.param("rabbitmq-0-9-1", golden, id=f"rabbitmq {golden.name}")
        for golden in (*OVERLAY, *(g for g in BASE if g.name not in REDEFINED))
    ),
]
VALUES = [
    *(pytest.param("amqp-0-9-1", *row, id=f"{row[0]} {row[2]}") for row in BASE_VALUES),
    *(pytest.param("rabbitmq-0-9-1", *row, id=f"rabbitmq {row[0]} {row[2]}") for row in OVERLAY_VALUES),
]


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


@pytest.mark.parametrize(("dialect_id", "golden"), METHODS)
def test_method(dialect_id: str, golden: Golden) -> None:
    codec = codec_for(dialect_id)
    payload = octets(golden.hex)
    assert codec.encode_method(golden.name, golden.args) == payload
    call = codec.decode_method(payload)
    assert (call.name, dict(call.args)) == (golden.name, golden.args)


def test_every_method_has_its_golden_octets(base: Codec, overlay: Codec) -> None:
    assert {golden.name for golden in BASE} == set(base.dialect.methods)
    assert {golden.name for golden in (*BASE, *OVERLAY)} == set(overlay.dialect.methods)


@pytest.mark.parametrize(("dialect_id", "tag", "value", "hex_text"), VALUES)
def test_table_value(dialect_id: str, tag: str, value: Any, hex_text: str) -> None:
    tables = codec_for(dialect_id).tables
    field = b"\x02k1" + tag.encode() + octets(hex_text)
    table = len(field).to_bytes(4, "big") + field
    assert tables.encode(Table([("k1", Typed(tag, value))])) == table
    assert tables.decode(table, 0, len(table)) == (Table([("k1", Typed(tag, value))]), len(table))


@pytest.mark.parametrize(
    ("dialect_id", "rows"), [("amqp-0-9-1", BASE_VALUES), ("rabbitmq-0-9-1", OVERLAY_VALUES)]
)
def test_every_tag_has_its_golden_octets(dialect_id: str, rows: tuple[tuple[str, Any, str], ...]) -> None:
    assert {row[0] for row in rows} == {t.tag for t in codec_for(dialect_id).dialect.table_tags}


def test_tags_of_one_dialect_mean_something_else_in_the_other(base: Codec, overlay: Codec) -> None:
    field = octets("0000000a 016b 73 02 6162 016c 56")[:4] + octets("016b 73 02 6162 016c 56")
    table = (len(field) - 4).to_bytes(4, "big") + field[4:]
    assert base.tables.decode(table, 0, len(table))[0].plain() == {"k": "ab", "l": None}
    short = octets("00000005 016b 73 0261")
    assert overlay.tables.decode(short, 0, len(short))[0].plain() == {"k": 0x0261}


@pytest.mark.parametrize("octet", [1, 2, 255])
def test_every_boolean_but_zero_is_true(codec: Codec, octet: int) -> None:
    table = octets("00000004 016b 74") + bytes([octet])
    assert codec.tables.decode(table, 0, len(table))[0].get("k") is True


def test_plain_values_get_the_usual_tags(base: Codec, overlay: Codec) -> None:
    plain = {
        "a": True,
        "b": 1,
        "c": 2**31,
        "d": 1.5,
        "e": "é",
        "f": b"\xff",
        "g": None,
        "h": [1],
        "i": {"j": 0},
    }
    tags = {"a": "t", "b": "I", "c": "L", "d": "d", "e": "S", "f": "S", "g": "V", "h": "A", "i": "F"}
    for codec, big in ((base, "L"), (overlay, "l")):
        octets_ = codec.tables.encode(plain)
        table = codec.tables.decode(octets_, 0, len(octets_))[0]
        assert {name: typed.tag for name, typed in table} == {**tags, "c": big}
        assert table.plain() == {**plain, "e": "é".encode()}


def test_subclasses_of_plain_values_get_the_usual_tags(codec: Codec) -> None:
    class Number(int):
        pass

    class Text(str):
        pass

    given = {"n": Number(5), "t": Text("x"), "u": (Number(2**40),), "m": Table([("v", Typed("V", None))])}
    octets_ = codec.tables.encode(given)
    assert codec.tables.decode(octets_, 0, len(octets_))[0].plain() == {
        "n": 5, "t": b"x", "u": [2**40], "m": {"v": None},
    }  # fmt: skip


def test_a_dialect_of_few_tags_does_with_them(overlay: Codec) -> None:
    few = [t for t in overlay.dialect.table_tags if t.tag in "SIF"]
    tables = TableCodec(few)
    assert tables.encode({"a": True, "b": 7}) == octets("0000000e 0161 49 00000001 0162 49 00000007")


def test_duplicates_stay_and_the_first_one_counts(codec: Codec) -> None:
    octets_ = octets("00000008 016b 74 01 016b 74 00")
    table = codec.tables.decode(octets_, 0, len(octets_))[0]
    assert [typed.value for _, typed in table] == [True, False]
    assert (list(table.names()), table.get("k"), table.get("x")) == (["k", "k"], True, None)
    assert table.plain() == {"k": True}
    assert codec.tables.encode(table) == octets_


# --- content headers


@pytest.mark.parametrize(
    ("header", "hex_text"),
    [
        (ContentHeader(60, 0), "003c 0000 0000000000000000 0000"),
        (ContentHeader(60, 2**64 - 1, {}, 1), "003c 0001 ffffffffffffffff 0000"),
        (ContentHeader(60, 5, {"content_type": "a"}), "003c 0000 0000000000000005 8000 0161"),
        (ContentHeader(60, 5, {"reserved": "z"}), "003c 0000 0000000000000005 0004 017a"),
        (
            ContentHeader(60, 5, {"headers": EMPTY, "delivery_mode": 2, "priority": 9}),
            "003c 0000 0000000000000005 3800 00000000 02 09",
        ),
        (
            ContentHeader(
                60,
                258,
                {
                    "content_type": "a",
                    "content_encoding": "b",
                    "headers": EMPTY,
                    "delivery_mode": 1,
                    "priority": 0,
                    "correlation_id": "c",
                    "reply_to": "d",
                    "expiration": "60",
                    "message_id": "e",
                    "timestamp": 1795226400,
                    "type": "f",
                    "user_id": "g",
                    "app_id": "h",
                    "reserved": "",
                },
            ),
            "003c 0000 0000000000000102 fffc 0161 0162 00000000 01 00 0163 0164 023630 0165"
            "000000006b00fb20 0166 0167 0168 00",
        ),
    ],
)
def test_content_header(codec: Codec, header: ContentHeader, hex_text: str) -> None:
    assert codec.encode_header(header) == octets(hex_text)
    assert codec.decode_header(octets(hex_text)) == header


def test_continued_flags_without_a_property_are_read(codec: Codec) -> None:
    payload = octets("003c 0000 0000000000000000 8001 0000 0161")
    assert codec.decode_header(payload) == ContentHeader(60, 0, {"content_type": "a"})


def test_header_of_a_class_without_contents_is_read_as_far_as_it_goes(codec: Codec) -> None:
    header = ContentHeader(50, 3)
    assert codec.decode_header(octets("0032 0000 0000000000000003 0000")) == header
    assert codec.encode_header(header) == octets("0032 0000 0000000000000003 0000")


# --- frames


@pytest.mark.parametrize(
    ("frame", "hex_text"),
    [
        (Frame(1, 0, octets("000a 0033")), "01 0000 00000004 000a0033 ce"),
        (Frame(1, 65535, octets("0014 0029")), "01 ffff 00000004 00140029 ce"),
        (Frame(2, 1, octets("003c 0000 0000000000000000 0000")), f"02 0001 0000000e 003c{'00' * 12} ce"),
        (Frame(3, 1, b"hello"), "03 0001 00000005 68656c6c6f ce"),
        (Frame(3, 1, b""), "03 0001 00000000 ce"),
        (Frame(8, 0, b""), "08 0000 00000000 ce"),
    ],
)
def test_frame(codec: Codec, frame: Frame, hex_text: str) -> None:
    layout = codec.dialect.layout
    reader = FrameReader(layout)
    reader.feed(octets(hex_text))
    assert reader.next() == frame
    assert reader.next() is None
    assert encode_frame(layout, frame) == octets(hex_text)
    assert FrameWriter(layout).frame(frame.type, frame.channel, frame.payload) == octets(hex_text)


def test_protocol_header(codec: Codec) -> None:
    header = octets("41 4d 51 50 00 00 09 01")
    assert codec.dialect.protocol_header == header
    reader = FrameReader(codec.dialect.layout)
    reader.feed(header + octets("08 0000 00000000 ce"))
    assert reader.next() == ProtocolHeader(header)
    assert reader.next() == Frame(8, 0, b"", 8)
    assert str(ProtocolHeader(header)) == "protocol header AMQP 0 0 9 1"
