"""The reader: the same at every split, per channel and track, bounded, and going on behind frames without a place."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from amqpspec.wire.amqp_0_10 import reader as reader_module
from amqpspec.wire.amqp_0_10.frames import (
    FIRST_FRAME,
    FIRST_SEGMENT,
    LAST_FRAME,
    LAST_SEGMENT,
    MAX_FRAME_OCTETS,
    WHOLE,
    Frame,
    cut,
    encode_assembly,
    encode_frame,
)
from amqpspec.wire.amqp_0_10.instructions import BODY, COMMAND, CONTROL, HEADER, encode_instruction
from amqpspec.wire.amqp_0_10.malformed import sized
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.segments import Assembly
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.greeting import ProtocolHeader
from tests.wire.amqp_0_10 import golden
from tests.wire.amqp_0_10.golden import COMMANDS, CONTROLS, GREETING

Items = list[Frame | ProtocolHeader]

TRANSFER = b"".join(golden.TRANSFER_FRAMES)
STREAM = GREETING + b"".join(
    [
        *(encode_frame(row.octets, type=CONTROL, channel=1) for row in CONTROLS[6:]),
        TRANSFER,
        *(encode_frame(row.octets, type=COMMAND, channel=2) for row in COMMANDS),
    ]
)


def taken(reader: FrameReader, octets: bytes) -> Iterator[Frame | ProtocolHeader]:
    reader.feed(octets)
    while (item := reader.next()) is not None:
        yield item


def read(*pieces: bytes, max_frame_octets: int = MAX_FRAME_OCTETS) -> Items:
    reader = FrameReader(max_frame_octets=max_frame_octets)
    return [item for piece in pieces for item in taken(reader, piece)]


def frames(*octets: bytes) -> list[Frame]:
    return [item for item in read(*octets) if isinstance(item, Frame)]


def assemblies(*octets: bytes) -> list[Assembly]:
    return [frame.assembly for frame in frames(*octets) if frame.assembly is not None]


def errors(items: list[Frame]) -> list[str]:
    return [str(frame.error) for frame in items if frame.error is not None]


# --- splits of octets


@pytest.mark.parametrize("at", range(0, len(STREAM), 3))
def test_every_split_gives_the_same(at: int) -> None:
    assert read(STREAM[:at], STREAM[at:]) == read(STREAM)


def test_octet_by_octet() -> None:
    pieces = (STREAM[at : at + 1] for at in range(len(STREAM)))
    items = read(*pieces)
    assert items == read(STREAM)
    assert items[0] == ProtocolHeader(GREETING)
    names = [frame.assembly.name for frame in items if isinstance(frame, Frame) and frame.assembly]
    assert names == [row.name for row in (*CONTROLS[6:], COMMANDS[3], *COMMANDS)]


def test_offsets_are_those_of_the_stream() -> None:
    offset = 0
    for item in read(STREAM):
        assert item.offset == offset
        offset += item.size if isinstance(item, Frame) else len(item.octets)
    assert offset == len(STREAM)


def test_a_frame_by_hand() -> None:
    (frame,) = frames(golden.CONTROL_FRAME)
    assert frame[:8] == (WHOLE, CONTROL, 0, 0, 258, 0, bytes.fromhex("010a 0000"), 0)
    assert (frame.size, frame.track, frame.problems) == (16, 0, ())
    assert frame.segment is not None
    assert frame.segment == (CONTROL, bytes.fromhex("010a 0000"), 12)
    assert frame.assembly is not None
    assert (frame.assembly.name, frame.assembly.error, frame.assembly.problems) == (
        "connection.heartbeat",
        None,
        (),
    )


# --- greetings


def test_a_greeting_begins_the_stream_and_stands_nowhere_else() -> None:
    header, frame = read(GREETING + golden.CONTROL_FRAME)
    assert header == ProtocolHeader(GREETING)
    assert str(header) == "protocol header AMQP 1 1 0 10"
    assert isinstance(frame, Frame)
    # ``A`` as flags is a frame of another version, whose size is that of ``QP``.
    reader = FrameReader()
    items = taken(reader, GREETING + GREETING + b"\0" * 10)
    assert next(items) == header
    assert list(items) == []
    assert reader.pending_octets == 18


def test_a_broken_greeting() -> None:
    with pytest.raises(WireError, match="octet 2: octet 0x58, expected 'AMQP' or a frame"):
        read(b"AMXP\1\1\0\x0a")


# --- segments and assemblies over frames


def pieces_of(octets: bytes, kind: int, place: int, at: int) -> bytes:
    """A segment in two frames, cut at an offset."""
    first = encode_frame(octets[:at], type=kind, flags=place | FIRST_FRAME, channel=7)
    return first + encode_frame(octets[at:], type=kind, flags=place | LAST_FRAME, channel=7)


@pytest.mark.parametrize("kind", [COMMAND, HEADER, BODY])
def test_every_segment_cut_at_every_place(kind: int) -> None:
    (whole,) = assemblies(TRANSFER)
    places = {COMMAND: FIRST_SEGMENT, HEADER: 0, BODY: LAST_SEGMENT}
    segment = next(segment for segment in whole.segments if segment.type == kind)
    for at in range(len(segment.octets) + 1):
        octets = b"".join(
            pieces_of(other.octets, other.type, places[other.type], at if other is segment else 0)
            for other in whole.segments
        )
        (assembly,) = assemblies(octets)
        assert (assembly.name, assembly.error) == ("message.transfer", None)
        assert (assembly.instruction, assembly.header, assembly.body) == (
            whole.instruction,
            whole.header,
            b"hello",
        )


@pytest.mark.parametrize("max_frame_octets", [13, 14, 20, 50, 4096, MAX_FRAME_OCTETS])
def test_assemblies_in_frames_of_any_size(max_frame_octets: int) -> None:
    body = bytes(range(256)) * 8
    octets = encode_assembly(
        "message.transfer", 3, sync=True, destination="d", accept_mode=1, acquire_mode=0,
        header=golden.HEADER, body=body, max_frame_octets=max_frame_octets,
    )  # fmt: skip
    items = [item for item in read(octets, max_frame_octets=max_frame_octets) if isinstance(item, Frame)]
    assert max(frame.size for frame in items) <= max_frame_octets
    assembly = items[-1].assembly
    assert assembly is not None
    assert (assembly.channel, assembly.track, assembly.error) == (3, 1, None)
    assert (assembly.header, assembly.body) == (golden.HEADER, body)
    assert assembly.instruction is not None
    assert assembly.instruction.sync


def test_an_empty_body_and_an_empty_header_are_there() -> None:
    octets = encode_assembly("message.transfer", header=[], body=b"")
    (assembly,) = assemblies(octets)
    assert (assembly.header, assembly.body) == ((), b"")
    (assembly,) = assemblies(encode_assembly("message.transfer"))
    assert (assembly.header, assembly.body) == (None, None)


def test_controls_between_the_frames_of_a_command_and_channels_among_each_other() -> None:
    control = [encode_frame(CONTROLS[8].octets, type=CONTROL, channel=7)]
    other = [frame[:6] + b"\x00\x08" + frame[8:] for frame in golden.TRANSFER_FRAMES]
    mixed = [
        octets for pair in zip(golden.TRANSFER_FRAMES, control * 4, other, strict=True) for octets in pair
    ]
    found = [(assembly.name, assembly.channel, assembly.body) for assembly in assemblies(b"".join(mixed))]
    assert found == [
        *[("connection.heartbeat", 7, None)] * 3,
        *[
            ("message.transfer", 7, b"hello"),
            ("connection.heartbeat", 7, None),
            ("message.transfer", 8, b"hello"),
        ],
    ]


# --- frames without a place


def flagged(flags: int, kind: int = COMMAND, payload: bytes = b"") -> bytes:
    return encode_frame(payload, type=kind, flags=flags, channel=7, track=1)


@pytest.mark.parametrize(
    ("octets", "expected"),
    [
        (flagged(0), "the first frame of an assembly"),
        (flagged(FIRST_FRAME | LAST_FRAME | LAST_SEGMENT), "the first frame of an assembly"),
        (flagged(FIRST_SEGMENT | LAST_FRAME), "the first frame of an assembly"),
        (golden.TRANSFER_FRAMES[0] * 2, "the next segment of the assembly"),
        (golden.TRANSFER_FRAMES[0] + flagged(0, HEADER), "the first frame of a segment"),
        (flagged(FIRST_SEGMENT | FIRST_FRAME) * 2, "the next frame of the segment"),
        (flagged(FIRST_SEGMENT | FIRST_FRAME) + flagged(FIRST_SEGMENT, BODY), "type 1 as before"),
        (flagged(FIRST_SEGMENT | FIRST_FRAME) + flagged(0), "the same first-segment flag"),
        (
            flagged(FIRST_SEGMENT | FIRST_FRAME) + flagged(FIRST_SEGMENT | LAST_SEGMENT),
            "the same last-segment flag",
        ),
    ],
)
def test_a_frame_without_a_place_is_told_and_the_next_assembly_is_read(octets: bytes, expected: str) -> None:
    items = frames(octets + TRANSFER)
    (error,) = errors(items)
    assert expected in error
    assert "frame on channel 7 track 1 at octet" in error
    assert items[-1].assembly is not None
    assert items[-1].assembly.name == "message.transfer"


def test_the_rest_of_an_assembly_behind_a_command_point() -> None:
    reader = FrameReader()
    reader.assembler.expect_rest(7)
    items = list(taken(reader, b"".join(golden.TRANSFER_FRAMES[3:])))
    assert isinstance(items[-1], Frame)
    assembly = items[-1].assembly
    assert assembly is not None
    assert (assembly.rest, assembly.body, assembly.error, assembly.name) == (
        True,
        b"llo",
        None,
        "rest from body",
    )
    assert assembly.problems == ()
    # Only once.
    assert errors([i for i in taken(reader, golden.TRANSFER_FRAMES[3]) if isinstance(i, Frame)]) != []


def test_a_whole_assembly_where_a_rest_could_stand() -> None:
    reader = FrameReader()
    reader.assembler.expect_rest(7)
    assert [
        frame.assembly.rest
        for frame in taken(reader, TRANSFER)
        if isinstance(frame, Frame) and frame.assembly
    ] == [False]


def test_what_is_begun_on_a_channel_can_be_forgotten() -> None:
    reader = FrameReader()
    list(taken(reader, golden.TRANSFER_FRAMES[0] + golden.TRANSFER_FRAMES[1]))
    assert reader.assembler.held_octets == 18
    reader.assembler.forget(7)
    assert reader.assembler.held_octets == 0
    (frame,) = taken(reader, golden.TRANSFER_FRAMES[2])
    assert isinstance(frame, Frame)
    assert frame.error is not None


# --- orders of segments


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        ([HEADER], "control or command"),
        ([BODY], "control or command"),
        ([9], "control or command"),
        ([CONTROL, BODY], "the end of the assembly"),
        ([COMMAND, BODY, HEADER], "the end of the assembly"),
        ([COMMAND, HEADER, HEADER], "body"),
        ([COMMAND, COMMAND], "header or body"),
        ([COMMAND, BODY, BODY], "the end of the assembly"),
    ],
)
def test_segments_in_the_wrong_order(kinds: list[int], expected: str) -> None:
    octets = {CONTROL: CONTROLS[8].octets, COMMAND: COMMANDS[3].octets, BODY: b"b"}
    (assembly,) = assemblies(b"".join(cut([(kind, octets.get(kind, b"")) for kind in kinds])))
    assert assembly.error is not None
    assert assembly.error.where == "assembly"
    assert assembly.error.expected == expected


def test_the_first_error_is_told() -> None:
    (assembly,) = assemblies(b"".join(cut([(COMMAND, b"\xff\xff"), (CONTROL, b"")])))
    assert "code 255.255" in str(assembly.error)
    (assembly,) = assemblies(b"".join(cut([(COMMAND, COMMANDS[3].octets), (HEADER, b"\0"), (BODY, b"b")])))
    assert str(assembly.error).startswith("header struct32 at octet 34: 1 left")
    assert (assembly.header, assembly.body) == (None, b"b")


# --- sizes


@pytest.mark.parametrize("size", range(12))
def test_a_size_that_does_not_hold_the_header(size: int) -> None:
    with pytest.raises(WireError, match=f"size {size} announced, expected a size of at least 12"):
        read(encode_frame(b"", type=CONTROL, size=size))


@pytest.mark.parametrize("max_frame_octets", [4096, 5000, MAX_FRAME_OCTETS])
def test_frames_at_the_maximum(max_frame_octets: int) -> None:
    largest = encode_frame(b"x" * (max_frame_octets - 12), type=BODY)
    assert len(largest) == max_frame_octets
    (frame,) = (item for item in read(largest, max_frame_octets=max_frame_octets) if isinstance(item, Frame))
    assert frame.size == max_frame_octets
    if max_frame_octets < MAX_FRAME_OCTETS:
        too_large = encode_frame(b"", type=BODY, size=max_frame_octets + 1)
        with pytest.raises(WireError, match=f"at most {max_frame_octets} octets"):
            read(too_large, max_frame_octets=max_frame_octets)
    with pytest.raises(EncodeError):
        encode_frame(b"x" * (MAX_FRAME_OCTETS - 11), type=BODY)


def test_a_size_that_lies_takes_what_follows() -> None:
    octets = encode_frame(CONTROLS[8].octets, type=CONTROL, size=17) + b"\x00"
    (frame,) = frames(octets)
    assert frame.assembly is not None
    assert "1 octets more, expected the end of the arguments" in str(frame.assembly.error)


# --- headers of frames


@pytest.mark.parametrize(
    ("octets", "problem"),
    [
        (encode_frame(b"", type=CONTROL, flags=WHOLE | 0x40), "frame-format-version: 0x40, expected 0"),
        (encode_frame(b"", type=CONTROL, flags=WHOLE | 0x10), "reserved flags: 0x10, expected 0"),
        (encode_frame(b"", type=CONTROL, reserved_1=1), "octet 4: 0x01, expected 0"),
        (encode_frame(b"", type=CONTROL, track=0x20), "octet 5 before the track: 0x20, expected 0"),
        (encode_frame(b"", type=CONTROL, reserved_2=256), "octets 8 to 11: 0x100, expected 0"),
        (encode_frame(b"", type=4, track=0), "type: 4, expected a segment type"),
        (encode_frame(b"", type=CONTROL, track=2), "track: 2, expected a track that is defined"),
    ],
)
def test_what_is_wrong_with_a_header_is_told(octets: bytes, problem: str) -> None:
    (frame,) = frames(octets)
    assert [str(p) for p in frame.problems] == [f"frame header: {problem}"]
    assert frame.assembly is not None


# --- bounds


def test_what_is_held_is_bounded_over_all_channels() -> None:
    reader = FrameReader(max_octets=100)
    begins = FIRST_SEGMENT | LAST_SEGMENT | FIRST_FRAME
    octets = [encode_frame(b"x" * 40, type=BODY, flags=begins, channel=channel) for channel in range(3)]
    *fine, last = taken(reader, b"".join(octets))
    assert all(isinstance(item, Frame) and item.error is None for item in fine)
    assert isinstance(last, Frame)
    assert "at most 100 octets of assemblies that are not complete" in str(last.error)
    assert reader.assembler.held_octets == 80


def test_open_assemblies_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "MAX_OPEN", 2)
    begins = [encode_frame(b"", type=BODY, flags=FIRST_SEGMENT | FIRST_FRAME, channel=c) for c in range(3)]
    assert "at most 2 assemblies at a time" in errors(frames(*begins))[0]


def test_segments_are_bounded() -> None:
    kinds = [(COMMAND, b""), *[(BODY, b"")] * reader_module.MAX_SEGMENTS]
    assert "at most 16 segments" in errors(frames(*cut(kinds)))[0]


def test_what_is_read_as_values_is_bounded() -> None:
    most = reader_module.MAX_READ_OCTETS
    pieces = list(cut([(COMMAND, bytes(most + 1))], max_frame_octets=MAX_FRAME_OCTETS))
    assert f"a segment of at most {most} octets" in errors(frames(*pieces))[0]
    body = list(cut([(COMMAND, b""), (BODY, bytes(most + 1))], max_frame_octets=MAX_FRAME_OCTETS))
    assert errors(frames(*body)) == []


def test_a_size_that_lies_takes_no_memory() -> None:
    octets = encode_instruction("execution.exception", {"error_info": sized("map", b"", 2**32 - 1)})
    tracemalloc.start()
    (assembly,) = assemblies(encode_frame(octets, type=COMMAND))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert assembly.error is not None
    assert peak < 1 << 18


def test_framing_stays_lost() -> None:
    reader = FrameReader()
    reader.feed(bytes(12))
    for _ in range(2):
        with pytest.raises(WireError, match="size 0 announced"):
            reader.next()
        reader.feed(golden.CONTROL_FRAME)
