"""Frames: sizes that can lie, streams that break, what a frame says of itself."""

from __future__ import annotations

import tracemalloc

import pytest

from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.wire.amqp_1_0.frames import (
    EMPTY_FRAME,
    RawFrame,
    RawReader,
    TypedFrame,
    TypedReader,
    encode_frame,
    header_id,
    performative_frame,
)
from amqpspec.wire.amqp_1_0.values import Described, Raw, Symbol, Value
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.greeting import ProtocolHeader


def one(octets: bytes) -> TypedFrame:
    reader = TypedReader()
    reader.feed(octets)
    frame = reader.next()
    assert isinstance(frame, TypedFrame)
    return frame


def test_frames_by_hand() -> None:
    assert bytes.fromhex("00000008 02 00 0000") == EMPTY_FRAME
    assert performative_frame("end", 5) == bytes.fromhex("0000000c 02 00 0005 00531745")
    assert performative_frame("sasl-outcome", code="ok") == bytes.fromhex(
        "00000010 02 01 0000 005344 c003015000"
    )
    extended = bytes.fromhex("00000014 04 00 0001 0102030405060708 00531745")
    assert performative_frame("end", 1, extended=bytes(range(1, 9))) == extended
    assert performative_frame("transfer", 0, handle=0, payload=b"xyz")[-3:] == b"xyz"


def test_what_a_frame_says_of_itself() -> None:
    frame = one(performative_frame("transfer", 9, handle=3, payload=b"abc", extended=b"1234"))
    assert (frame.name, frame.channel, frame.frame_type, frame.doff) == ("transfer", 9, 0, 3)
    assert frame.performative is not None and frame.performative.handle == 3
    assert (frame.payload, frame.problems, frame.error) == (b"abc", (), None)
    assert (one(EMPTY_FRAME).name, one(EMPTY_FRAME).problems) == ("empty", ())
    assert one(encode_frame(b"??", 0, 7)).name == "type-7"


def test_lies_about_size_and_offset() -> None:
    assert performative_frame("end", size=500)[:4] == bytes.fromhex("000001f4")
    assert performative_frame("end", doff=1)[4] == 1
    listed = performative_frame("end", encoding="list8", list_size=9, list_count=7)
    assert listed[8:] == bytes.fromhex("005317 c00907")
    with pytest.raises(EncodeError, match="doff=256"):
        encode_frame(b"", doff=256)
    with pytest.raises(EncodeError, match="multiple of 4"):
        encode_frame(b"", extended=b"123")


@pytest.mark.parametrize(
    ("octets", "expected"),
    [
        (bytes.fromhex("00000007 02 00 0000"), "size 7 announced, expected a size of at least 8"),
        (bytes.fromhex("00000000 00 00 0000"), "size 0 announced, expected a size of at least 8"),
        (bytes.fromhex("00000201 02 00 0000"), "size 513 announced, expected at most 512 octets"),
        (bytes.fromhex("00000010 01 00 0000"), "octet 12: data offset 1, expected a data offset from 2 to 4"),
        (bytes.fromhex("00000010 05 00 0000"), "octet 12: data offset 5, expected a data offset from 2 to 4"),
        (b"HTTP/1.1 400", "size 1213486160 announced, expected at most 512 octets"),
    ],
)
def test_a_broken_stream_stays_broken(octets: bytes, expected: str) -> None:
    reader = TypedReader(max_frame_octets=512)
    reader.feed(EMPTY_FRAME + octets)
    assert isinstance(reader.next(), TypedFrame)
    for _ in range(2):
        with pytest.raises(WireError, match=expected) as caught:
            reader.next()
        assert caught.value.offset in (8, 12)
        reader.feed(EMPTY_FRAME)


def test_a_frame_of_the_agreed_size_is_read_and_the_limit_can_move() -> None:
    reader = TypedReader(max_frame_octets=512)
    reader.feed(encode_frame(bytes(504), 0, 9) + encode_frame(bytes(505), 0, 9))
    first = reader.next()
    assert isinstance(first, TypedFrame) and len(first.octets) == 512
    reader.max_size = 513
    second = reader.next()
    assert isinstance(second, TypedFrame) and len(second.octets) == 513


def test_a_raw_frame_keeps_its_octets_and_its_body() -> None:
    octets = encode_frame(b"\x00\xff", 1, 9, extended=b"more")
    reader = RawReader()
    reader.feed(HEADERS["amqp"] + octets)
    assert reader.next() == ProtocolHeader(HEADERS["amqp"], 0)
    assert reader.next() == RawFrame(9, 1, b"\x00\xff", 8, octets, 3)


def test_headers_stand_at_any_boundary_even_where_all_sizes_are_allowed() -> None:
    reader = TypedReader(max_frame_octets=(1 << 32) - 1)
    reader.feed(HEADERS["sasl"] + EMPTY_FRAME + b"AMQP\x00\x00\x09\x01")
    items = [reader.next() for _ in range(3)]
    assert items[0] == ProtocolHeader(HEADERS["sasl"], 0)
    assert items[2] == ProtocolHeader(b"AMQP\x00\x00\x09\x01", 16)
    assert [header_id(h) for h in (*HEADERS.values(), b"AMQP\x00\x00\x09\x01")] == [
        "amqp",
        "tls",
        "sasl",
        None,
    ]


def test_an_unreadable_body_does_not_end_the_stream() -> None:
    reader = TypedReader()
    bad = encode_frame(bytes.fromhex("005310 c0 09 01 a1"))
    reader.feed(bad + EMPTY_FRAME)
    frame = reader.next()
    assert isinstance(frame, TypedFrame) and frame.name == "unreadable"
    assert frame.error is not None and frame.error.offset == 12
    assert str(frame.error).startswith("performative: list8 at octet 12: 2 left, expected 9 octets")
    assert isinstance(reader.next(), TypedFrame)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (bytes.fromhex("00531d45"), "error"),
        (bytes.fromhex("005399 45"), "descriptor 153"),
        (bytes.fromhex("005310 a000"), "descriptor 16, open, of no list"),
        (b"\x40", "NoneType None"),
        (b"\x3f", "constructor 0x3F"),
    ],
)
def test_a_body_that_is_no_performative(body: bytes, said: str) -> None:
    frame = one(encode_frame(body))
    assert frame.performative is None
    assert frame.error is not None and said in str(frame.error)
    assert frame.payload == body


def test_what_is_wrong_with_a_frame() -> None:
    def told(octets: bytes) -> list[str]:
        return [str(problem) for problem in one(octets).problems]

    assert told(performative_frame("end", frame_type=1)) == ["end: frame type sasl, expected frame type amqp"]
    assert told(performative_frame("end", payload=b"x")) == ["end: 1 octets, expected no payload"]
    assert told(encode_frame(b"", 0, 1)) == ["SASL frame: none, expected a body"]
    assert told(performative_frame("begin")) == [
        f"begin {name}: none, expected a value, for it is mandatory"
        for name in ("next-outgoing-id", "incoming-window", "outgoing-window")
    ]


def test_fields_may_be_anything_on_purpose() -> None:
    octets = performative_frame(
        "detach",
        handle=Value("string", "x"),
        closed=Raw(b"\x56\x07"),
        error=Described(Symbol("no:such"), []),
        extra=[1],
    )
    frame = one(octets)
    assert frame.performative is not None
    assert frame.performative["handle"] == "x"
    assert [str(p) for p in frame.problems] == [
        "detach: 4 fields, expected at most 3 fields",
        "detach handle: string 'x', expected handle (uint)",
        "detach closed: octet 0x07, expected octet 0x00 or 0x01",
        "detach error: a value described by 'no:such', expected error (amqp:error:list)",
    ]
    with pytest.raises(TypeError, match="detach: no field 'handel'"):
        performative_frame("detach", handel=1)
    with pytest.raises(EncodeError, match="detach handle uint"):
        performative_frame("detach", handle="x")


def test_memory_is_bounded_by_what_was_sent() -> None:
    million = (1_000_000).to_bytes(4, "big")
    huge = bytes.fromhex("f0 00000005 ffffffff 40")
    many = bytes.fromhex("f0 00000005 0000ffff 45") * 2000
    hostile = [
        encode_frame(b"\x00\x53\x10" + huge),
        encode_frame(b"\x00\x53\x10\xd0" + b"\xff" * 8),
        encode_frame(b"\x00\x53\x10\xb1" + b"\xff" * 4),
        encode_frame(b"\x00" * 60_000),
        encode_frame(b"\xc0\xff\x01" * 20_000),
        encode_frame(
            b"\x00\x53\x10\xd0" + (len(many) + 4).to_bytes(4, "big") + (2000).to_bytes(4, "big") + many
        ),
        b"\x00\x0f\xff\xff\x02\x00\x00\x00" + million,
        b"\xff\xff\xff\xff\x02\x00\x00\x00",
    ]
    tracemalloc.start()
    try:
        for octets in hostile:
            reader = TypedReader()
            reader.feed(octets)
            try:
                frame = reader.next()
            except WireError:
                continue
            assert frame is None or isinstance(frame, TypedFrame)
            if frame is not None and frame.performative is not None:
                assert frame.problems
                assert len(repr(frame)) < 20_000
        _, peak_octets = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak_octets < 4 << 20
