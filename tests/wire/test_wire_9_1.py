"""The 9.1 wire draft in octets written by hand from its text, and its tables round trip through codec and scapy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.spec.methods import load_methods
from amqpspec.wire.capture import Segment, read_pcapng, write_pcapng
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.methods.describe import describe_frame, redacted
from amqpspec.wire.methods.direction import FrameDirection
from amqpspec.wire.methods.frames import Frame, FrameReader, FrameWriter, encode_frame
from amqpspec.wire.methods.malformed import header_payload
from amqpspec.wire.methods.scapy_layers import layers_for
from amqpspec.wire.values import Raw, Table, Typed
from tests.wire.golden import Golden
from tests.wire.golden_wire_9_1 import DEPLOYED, METHODS, VALUES
from tests.wire.strategies import calls, chunks, content_headers

DRAFT, OVERLAY = "amqp-wire-9-1", "amqp-0-8"
LAYOUT = load_methods(DRAFT).layout
BOTH = pytest.mark.parametrize("dialect_id", [DRAFT, OVERLAY])


@pytest.fixture
def draft() -> Codec:
    return codec_for(DRAFT)


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


def frames(data: bytes) -> list[Frame | ProtocolHeader]:
    reader = FrameReader(LAYOUT)
    reader.feed(data)
    return list(iter(reader.next, None))


# --- frames

FRAMES = [
    pytest.param(Frame(1, 0, octets("000a003d")), "01 00 0000 00000004 000a003d ce", id="method"),
    pytest.param(Frame(1, 258, b"", cycle=7), "01 07 0102 00000000 ce", id="cycle"),
    pytest.param(Frame(3, 65535, b"hi"), "03 00 ffff 00000002 6869 ce", id="body"),
    pytest.param(Frame(4, 1, b""), "04 00 0001 00000000 ce", id="oob-method"),
    pytest.param(Frame(7, 0, b"\xce\xce"), "07 00 0000 00000002 cece ce", id="trace"),
    pytest.param(Frame(8, 0, b""), "08 00 0000 00000000 ce", id="heartbeat"),
]


@pytest.mark.parametrize(("frame", "text"), FRAMES)
def test_a_frame(frame: Frame, text: str) -> None:
    data = octets(text)
    written = FrameWriter(LAYOUT).frame(frame.type, frame.channel, frame.payload, frame.cycle)
    assert written == encode_frame(LAYOUT, frame) == data
    assert frames(data) == [frame]


def test_frames_follow_a_protocol_header() -> None:
    data = octets("414d5150 01010901  08 00 0000 00000000 ce")
    assert frames(data) == [ProtocolHeader(b"AMQP\x01\x01\x09\x01"), Frame(8, 0, b"", 8)]


def test_a_wrong_end_octet_and_a_wrong_size_are_told_with_their_place() -> None:
    with pytest.raises(WireError, match="at octet 8: end octet 0x00, expected 0xCE"):
        frames(octets("08 00 0000 00000000 00"))
    with pytest.raises(WireError, match="size 4294967295 announced"):
        frames(octets("03 00 0001 ffffffff"))


def test_sizes_and_ends_can_lie() -> None:
    assert encode_frame(LAYOUT, Frame(8, 0, b""), size=1, end=0) == octets("08 00 0000 00000001 00")
    with pytest.raises(EncodeError, match="cycle=256"):
        FrameWriter(LAYOUT).frame(1, 0, b"", cycle=256)


@given(data=st.data())
def test_frames_come_whole_out_of_any_pieces(data: st.DataObject) -> None:
    octet, short, payload = st.integers(0, 255), st.integers(0, 65535), st.binary(max_size=40)
    one = st.builds(Frame, octet, short, payload, offset=st.just(0), cycle=octet)
    sent = data.draw(st.lists(one, max_size=5))
    stream = b"".join(encode_frame(LAYOUT, frame) for frame in sent)
    reader, got = FrameReader(LAYOUT, header_allowed=False), []
    for piece in data.draw(chunks(stream)):
        reader.feed(piece)
        got += list(iter(reader.next, None))
    assert [i._replace(offset=0) for i in got if isinstance(i, Frame)] == sent
    assert len(got) == len(sent)
    assert reader.pending_octets == 0


# --- methods and tables


@pytest.mark.parametrize("golden", METHODS, ids=lambda golden: str(golden.name))
@BOTH
def test_a_method(dialect_id: str, golden: Golden) -> None:
    codec = codec_for(dialect_id)
    assert codec.encode_method(golden.name, golden.args) == octets(golden.hex)
    call = codec.decode_method(octets(golden.hex))
    assert (call.name, dict(call.args)) == (golden.name, golden.args)


@pytest.mark.parametrize("golden", DEPLOYED, ids=lambda golden: str(golden.name))
def test_a_method_of_deployed_servers(golden: Golden) -> None:
    codec = codec_for(OVERLAY)
    assert codec.encode_method(golden.name, golden.args) == octets(golden.hex)
    assert dict(codec.decode_method(octets(golden.hex)).args) == golden.args
    with pytest.raises(WireError, match="expected a method of amqp-wire-9-1"):
        codec_for(DRAFT).decode_method(octets(golden.hex))


def test_every_method_has_its_golden_octets() -> None:
    assert {golden.name for golden in METHODS} == set(load_methods(DRAFT).methods)
    assert {golden.name for golden in (*METHODS, *DEPLOYED)} == set(load_methods(OVERLAY).methods)


@pytest.mark.parametrize(("tag", "value", "text"), VALUES)
@BOTH
def test_a_table_value(dialect_id: str, tag: str, value: Any, text: str) -> None:
    tables = codec_for(dialect_id).tables
    field = b"\x02k1" + tag.encode() + octets(text)
    table = len(field).to_bytes(4, "big") + field
    assert tables.encode(Table([("k1", Typed(tag, value))])) == table
    assert tables.decode(table, 0, len(table)) == (Table([("k1", Typed(tag, value))]), len(table))


def test_every_tag_has_its_golden_octets(draft: Codec) -> None:
    assert {tag for tag, _, _ in VALUES} == {t.tag for t in draft.dialect.table_tags}


@pytest.mark.parametrize("tag", "tbBsuilfdAVx")
def test_tags_of_later_versions_are_undefined_in_the_draft(draft: Codec, tag: str) -> None:
    table = octets("0000000b 016b") + tag.encode() + bytes(8)
    with pytest.raises(WireError, match=f"tag 0x{ord(tag):02x}, expected a type tag of DFIST"):
        draft.tables.decode(table, 0, len(table))


def test_plain_values_do_with_five_tags(draft: Codec) -> None:
    table = octets("00000016 0161 49 00000001 0162 53 00000001 78 0163 46 00000000")
    assert draft.tables.encode({"a": True, "b": "x", "c": {}}) == table
    for value in (2**31, 1.5, None, [1]):
        with pytest.raises(EncodeError, match="a value that a field table can carry"):
            draft.tables.encode({"a": value})


# --- contents


def test_a_content_header(draft: Codec) -> None:
    header = ContentHeader(60, 258, {"content_type": "t", "delivery_mode": 2, "cluster_id": "c"})
    payload = octets("003c 0000 0000000000000102 9004 0174 02 0163")
    assert draft.encode_header(header) == payload
    assert draft.decode_header(payload) == header


@pytest.mark.parametrize(
    ("class_id", "flags", "properties", "text"),
    [
        (70, "8180", {"content_type": "t", "timestamp": 1, "cluster_id": "c"}, "0174 0000000000000001 0163"),
        (80, "0800", {"timestamp": 1}, "0000000000000001"),
        (110, "1800", {"durable": 1, "broadcast": 0}, "01 00"),
        (120, "0000", {}, ""),
    ],
)
def test_content_headers_of_other_classes(
    draft: Codec, class_id: int, flags: str, properties: dict[str, Any], text: str
) -> None:
    payload = class_id.to_bytes(2, "big") + octets(f"0000 0000000000000000 {flags} {text}")
    assert draft.encode_header(ContentHeader(class_id, 0, properties)) == payload
    assert draft.decode_header(payload) == ContentHeader(class_id, 0, properties)


def test_property_flags_go_on_while_their_lowest_bit_is_set(draft: Codec) -> None:
    payload = header_payload(60, flags=(0x8001, 0x0001, 0x0000), properties=b"\x01t")
    assert payload == octets("003c 0000 0000000000000000 8001 0001 0000 0174")
    assert draft.decode_header(payload).properties == {"content_type": "t"}


@pytest.mark.parametrize(
    ("flags", "what"), [((0x0001,), "0 left"), ((0x0002,), "flag 15"), ((0x0001, 0x8000), "flag 16")]
)
def test_flags_of_nothing_are_unreadable(draft: Codec, flags: tuple[int, ...], what: str) -> None:
    with pytest.raises(WireError, match=what):
        draft.decode_header(header_payload(60, flags=flags))


def test_a_content_within_a_content(draft: Codec) -> None:
    data = octets(
        "01 00 0001 00000009 003c 0028 0001 00 00 00 ce"  # basic.publish
        "02 00 0001 0000000e 003c 0001 0000000000000002 0000 ce"  # parent: one child, two octets of body
        "02 00 0001 0000000e 003c 0000 0000000000000001 0000 ce"  # child: no child, one octet of body
        "03 00 0001 00000001 63 ce"  # body of the child
        "03 00 0001 00000002 7070 ce"  # body of the parent
    )
    writer = FrameWriter(LAYOUT)
    parent, child = ContentHeader(60, 2, weight=1), ContentHeader(60, 1)
    parts = [
        (1, draft.encode_method("basic.publish", {"ticket": 1})),
        (2, draft.encode_header(parent)),
        (2, draft.encode_header(child)),
        (3, b"c"),
        (3, b"pp"),
    ]
    assert b"".join(writer.frame(kind, 1, payload) for kind, payload in parts) == data
    read = [item for item in frames(data) if isinstance(item, Frame)]
    assert [draft.decode_header(frame.payload) for frame in read if frame.type == 2] == [parent, child]
    assert [frame.payload for frame in read if frame.type == 3] == [b"c", b"pp"]


# --- every table, there and back; scapy


@BOTH
@settings(max_examples=150)
@given(data=st.data())
def test_methods_round_trip_and_scapy_agrees(dialect_id: str, data: st.DataObject) -> None:
    codec, layers = codec_for(dialect_id), layers_for(dialect_id)
    name, args = data.draw(calls(dialect_id))
    payload = codec.encode_method(name, args)
    call = codec.decode_method(payload)
    assert (call.name, call.args) == (name, args)
    framed = encode_frame(codec.dialect.layout, Frame(1, 3, payload))
    packet = layers.frame(framed)
    packet.clear_cache()
    assert (bytes(packet), type(packet.body)) == (framed, layers.methods[name])


@BOTH
@settings(max_examples=100)
@given(data=st.data())
def test_content_headers_round_trip_and_scapy_agrees(dialect_id: str, data: st.DataObject) -> None:
    codec, layers = codec_for(dialect_id), layers_for(dialect_id)
    row = data.draw(st.sampled_from(codec.dialect.classes))
    header = data.draw(content_headers(codec.dialect, row))
    payload = codec.encode_header(header)
    assert codec.decode_header(payload) == header
    framed = encode_frame(codec.dialect.layout, Frame(2, 3, payload))
    packet = layers.frame(framed)
    packet.clear_cache()
    assert (bytes(packet), type(packet.body)) == (framed, layers.headers[row.name])
    assert packet.body.weight == header.weight


def test_scapy_shows_the_cycle_and_every_frame_type() -> None:
    packet = layers_for(DRAFT).stream(octets("07 05 0000 00000001 61 ce 08 00 0000 00000000 ce"))
    assert [(f.type, f.cycle, f.channel, f.size, f.end) for f in packet.frames] == [
        (7, 5, 0, 1, 0xCE),
        (8, 0, 0, 0, 0xCE),
    ]
    names = packet.frames[0].get_field("type").i2s
    assert {names[code] for code in range(1, 9)} == set(LAYOUT.types)
    assert "cycle" not in {f.name for f in layers_for(OVERLAY).frame().fields_desc}


# --- words and evidence


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (
            Frame(7, 0, b"abc"),
            {
                "type": "trace",
                "channel": 0,
                "text": "trace frame, 3 octets: 61 62 63",
                "fields": {"octets": 3},
            },
        ),
        (
            Frame(4, 2, b"", cycle=9),
            {
                "type": "oob-method",
                "channel": 2,
                "cycle": 9,
                "text": "oob-method frame, 0 octets",
                "fields": {"octets": 0},
            },
        ),
        (Frame(8, 0, b""), {"type": "heartbeat", "channel": 0, "text": "heartbeat"}),
        (Frame(9, 0, b""), {"type": "type-9", "channel": 0, "text": "frame of unknown type 9, 0 octets"}),
    ],
)
def test_frames_in_words(draft: Codec, frame: Frame, said: dict[str, Any]) -> None:
    assert describe_frame(draft, frame) == said


@pytest.mark.parametrize(("code", "name"), [(4, "oob-method"), (5, "oob-header"), (6, "oob-body")])
def test_out_of_band_frames_are_named(draft: Codec, code: int, name: str) -> None:
    said = describe_frame(draft, Frame(code, 1, b"\x01"))
    assert (said["type"], said["text"]) == (name, f"{name} frame, 1 octets: 01")


def login(codec: Codec) -> bytes:
    args = {"client_properties": {"product": "x"}, "mechanism": "PLAIN", "response": b"\0guest\0hunter2"}
    return encode_frame(codec.dialect.layout, Frame(1, 0, codec.encode_method("connection.start-ok", args)))


@BOTH
def test_a_login_is_starred_wherever_it_is_shown(dialect_id: str) -> None:
    codec = codec_for(dialect_id)
    octets_ = login(codec)
    starred = redacted(codec, codec.dialect.layout, octets_)
    assert len(starred) == len(octets_) and b"hunter2" not in starred and b"product" in starred
    shown, said = FrameDirection(codec, "out").take(octets_)
    assert shown == starred
    assert [frame["method"] for frame in said] == ["connection.start-ok"]
    assert "hunter2" not in str(said)


def test_a_capture_of_frames_with_a_cycle_can_be_read_back(tmp_path: Path, draft: Codec) -> None:
    here, there = ("127.0.0.1", 40000), ("127.0.0.1", 5672)
    sent = [
        Segment(0, 1, "out", load_methods(DRAFT).protocol_header, here, there),
        Segment(1000, 1, "out", login(draft), here, there),
        Segment(2000, 1, "in", octets("08 00 0000 00000000 ce"), here, there),
    ]
    write_pcapng(tmp_path / "x.pcapng", sent)
    read = read_pcapng(tmp_path / "x.pcapng")
    assert [(s.direction, s.octets) for s in read] == [(s.direction, s.octets) for s in sent]


def test_raw_octets_stand_in_for_any_argument(draft: Codec) -> None:
    payload = draft.encode_method("channel.open", {"out_of_band": Raw(b"\x03\x00ab")})
    assert payload == octets("0014 000a 03006162")
