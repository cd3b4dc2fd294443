"""The frame reader: any granularity, the same frames; the same error at the same place; bounded memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.methods import FrameLayout
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Codec, codec_for
from amqpspec.wire.methods.frames import Frame, FrameReader, FrameWriter, encode_frame
from tests.wire.strategies import chunks, mutated

LAYOUT = codec_for("amqp-0-9-1").dialect.layout
CYCLED = replace(LAYOUT, header=(("type", 1), ("cycle", 1), ("channel", 2), ("size", 4)))
HEARTBEAT = bytes.fromhex("08 0000 00000000 ce")

Result = tuple[list[Frame | ProtocolHeader], tuple[int, str, str] | None, int]


@st.composite
def streams(draw: st.DrawFn) -> bytes:
    """Frames one after the other, with or without a protocol header before them."""
    payloads = draw(st.lists(st.tuples(st.integers(0, 255), st.integers(0, 65535), st.binary(max_size=40))))
    frames = b"".join(encode_frame(LAYOUT, Frame(*row)) for row in payloads if row[0] != 0x41)
    return draw(st.sampled_from([b"", b"AMQP\0\0\x09\x01", b"AMQP\x01\x01\0\x09"])) + frames


def read(pieces: list[bytes], layout: FrameLayout = LAYOUT, max_payload_octets: int = 1000) -> Result:
    """What a reader makes of a stream that comes in these pieces."""
    reader = FrameReader(layout, max_payload_octets=max_payload_octets)
    items: list[Frame | ProtocolHeader] = []
    try:
        for piece in pieces:
            reader.feed(piece)
            while (item := reader.next()) is not None:
                items.append(item)
    except WireError as error:
        return items, (error.offset, error.expected, error.actual), reader.pending_octets
    return items, None, reader.pending_octets


@given(streams().flatmap(lambda octets: st.tuples(st.just(octets), chunks(octets))))
def test_any_chunking_of_legal_octets_gives_the_same_frames(given_: tuple[bytes, list[bytes]]) -> None:
    octets, pieces = given_
    whole = read([octets])
    assert whole[1:] == (None, 0)
    assert read([bytes([octet]) for octet in octets]) == whole
    assert read(pieces) == whole


@given(mutated(streams()).flatmap(lambda octets: st.tuples(st.just(octets), chunks(octets))))
def test_any_chunking_of_broken_octets_gives_the_same_error(given_: tuple[bytes, list[bytes]]) -> None:
    octets, pieces = given_
    whole = read([octets])
    assert read([bytes([octet]) for octet in octets]) == whole
    assert read(pieces) == whole


@given(st.binary(max_size=200))
def test_random_octets_give_frames_or_a_wire_error(octets: bytes) -> None:
    items, error, pending = read([octets])
    assert error is None or error[0] <= len(octets)
    assert pending <= len(octets)
    assert all(isinstance(item, Frame | ProtocolHeader) for item in items)


def test_frames_know_where_they_began() -> None:
    items, _, _ = read([b"AMQP\0\0\x09\x01", HEARTBEAT + HEARTBEAT])
    assert [item.offset for item in items] == [0, 8, 16]


@pytest.mark.parametrize("cut", range(len(HEARTBEAT)))
def test_a_cut_frame_is_awaited(cut: int) -> None:
    assert read([HEARTBEAT[:cut]]) == ([], None, cut)


def test_lost_framing_is_lost_for_good() -> None:
    reader = FrameReader(LAYOUT, name="client→server")
    reader.feed(HEARTBEAT + HEARTBEAT[:-1] + b"\x00" + HEARTBEAT)
    assert reader.next() == Frame(8, 0, b"")
    for _ in range(2):
        with pytest.raises(WireError) as caught:
            reader.next()
        reader.feed(HEARTBEAT)
    error = caught.value
    assert (error.where, error.offset) == ("frame of client→server", 15)
    assert (error.expected, error.actual) == ("0xCE", "end octet 0x00")
    assert error.window.startswith("08 00 00 00 00 00 00 >00< 08")
    assert str(error).startswith("frame of client→server at octet 15: end octet 0x00, expected 0xCE [08 00")
    assert (reader.offset, reader.pending_octets) == (8, 0)


def test_a_reader_that_lost_framing_keeps_nothing_of_its_callers() -> None:
    reader = FrameReader(LAYOUT)
    reader.feed(b"\x01\x00\x00\xff\xff\xff\xff")
    raised: list[WireError] = []
    for _ in "123":
        with pytest.raises(WireError) as told:
            reader.next()
        raised.append(told.value)
    traceback, frames = raised[-1].__traceback__, 0
    while traceback is not None:
        traceback, frames = traceback.tb_next, frames + 1
    assert raised[0] is raised[-1] and frames == 2, "this test, and the reader"


@pytest.mark.parametrize("octets", [b"AMQX", b"AMqP\0\0\x09\x01", b"A\0\0\0\0\0\0\xce"])
def test_almost_a_protocol_header(octets: bytes) -> None:
    at = next(n for n, (one, other) in enumerate(zip(octets, b"AMQP", strict=False)) if one != other)
    assert read([octets]) == ([], (at, "'AMQP' or a frame", f"octet 0x{octets[at]:02X}"), 0)


def test_a_protocol_header_is_for_the_beginning_only() -> None:
    items, error, _ = read([HEARTBEAT + b"AMQP\0\0\x09\x01"])
    assert items == [Frame(8, 0, b"")]
    assert error == (8, "a payload of at most 1000 octets", "size 1342177289 announced")
    reader = FrameReader(LAYOUT, header_allowed=False)
    reader.feed(b"A\0\0\0\0\0\0\xce")
    assert reader.next() == Frame(0x41, 0, b"")


def test_the_limit_is_the_largest_payload_and_can_move() -> None:
    body = encode_frame(LAYOUT, Frame(3, 1, b"x" * 10))
    reader = FrameReader(LAYOUT, max_payload_octets=10)
    reader.feed(body)
    assert reader.next() is not None
    reader.max_size = 9
    reader.feed(body[:7])
    with pytest.raises(WireError, match="size 10 announced, expected a payload of at most 9 octets"):
        reader.next()


def test_four_gibibytes_announced_cost_nothing() -> None:
    reader = FrameReader(LAYOUT)
    tracemalloc.start()
    reader.feed(bytes.fromhex("03 0001 ffffffff"))
    with pytest.raises(WireError, match="size 4294967295 announced"):
        reader.next()
    for _ in range(100):
        reader.feed(bytes(65536))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 18


@pytest.mark.parametrize("size", [1, 7, 4096, 65536])
def test_endless_data_is_held_no_longer_than_its_frame(size: int) -> None:
    reader, count, at = FrameReader(LAYOUT), 0, 0
    block = encode_frame(LAYOUT, Frame(3, 1, b"x" * 5000))
    stream = block * (size // len(block) + 2)
    allowed = 4 * max(size, len(block))
    tracemalloc.start()
    # A reader that held all of it would hold three times of what is allowed.
    while count * len(block) < 3 * allowed:
        reader.feed(stream[at : at + size])
        at = (at + size) % len(block)
        while reader.next() is not None:
            count += 1
        assert reader.pending_octets < len(block)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < allowed


# --- layouts and lies


@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 65535), st.binary(max_size=30))
def test_a_layout_with_a_cycle_octet(kind: int, cycle: int, channel: int, payload: bytes) -> None:
    octets = FrameWriter(CYCLED).frame(kind, channel, payload, cycle)
    frame = Frame(kind, channel, payload, 0, cycle)
    assert octets == encode_frame(CYCLED, frame)
    reader = FrameReader(CYCLED, header_allowed=False)
    reader.feed(octets)
    assert (reader.next(), reader.pending_octets) == (frame, 0)


def test_size_and_end_may_lie() -> None:
    frame = Frame(1, 1, b"abc")
    assert encode_frame(LAYOUT, frame, size=4).hex() == "01000100000004616263ce"
    assert encode_frame(LAYOUT, frame, size=2**32 - 1, end=0).hex() == "010001ffffffff61626300"
    assert read([encode_frame(LAYOUT, frame, size=2)])[1] == (9, "0xCE", "end octet 0x63")
    assert read([encode_frame(LAYOUT, frame, size=4)])[1:] == (None, 11)
    assert read([encode_frame(LAYOUT, frame, end=0xCF)])[1] == (10, "0xCE", "end octet 0xCF")


@pytest.mark.parametrize(
    ("frame", "lies"),
    [
        (Frame(256, 1, b""), {}),
        (Frame(1, 65536, b""), {}),
        (Frame(1, -1, b""), {}),
        (Frame(1, 1, b""), {"size": 2**32}),
        (Frame(1, 1, b""), {"end": 256}),
    ],
)
def test_what_does_not_fit_a_frame(codec: Codec, frame: Frame, lies: dict[str, int]) -> None:
    layout = codec.dialect.layout
    with pytest.raises(
        EncodeError, match=r"frame header or end: .* expected numbers within type:1 channel:2"
    ):
        encode_frame(layout, frame, **lies)
    if not lies:
        with pytest.raises(EncodeError):
            FrameWriter(layout).frame(frame.type, frame.channel, frame.payload)
