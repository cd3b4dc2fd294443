"""The neutral reader and writer, with the layouts of dialects to come: octets by hand, from the text of each."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from types import MappingProxyType

import pytest

from amqpspec.spec.amqp_0_10.types import LAYOUT as SEGMENTED
from amqpspec.spec.amqp_1_0 import LAYOUT as TYPED
from amqpspec.spec.amqp_fast_0_8.types import LAYOUT as TABLES_OF_FAST
from amqpspec.spec.framing import Counts, Greeting, Layout
from amqpspec.spec.methods import load_methods
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.framing import CutFrame, PlainReader, encode
from amqpspec.wire.greeting import ProtocolHeader

Items = list[CutFrame | ProtocolHeader]


class _Fast(Layout):
    """As AMQP/Fast 0.8d6, but that frames may begin as the greeting does.

    The size counts what follows it, and is escaped from FFFF on; then come the command's code, fields, the end octet.
    """

    header = (("size", 2), ("command", 1))
    types = MappingProxyType({"connection-ping": 14})
    counts = Counts.REST
    end = 0xCE
    long_size_octets = 4
    greeting = Greeting(b"\x80\x01", 2, decisive=False)


FAST = _Fast()
PING = bytes.fromhex("0002 0e ce")
OPEN = bytes.fromhex("0005 0d 01 02 03 ce")
CONTROL = bytes.fromhex("0f 00 000e 00 00 0000 00000000 0a0b")
COMMAND = bytes.fromhex("09 01 000d 00 01 0203 00000000 ff")


def read(layout: Layout, *pieces: bytes, max_size: int = 1 << 20) -> Items:
    """What a reader makes of octets that come in these pieces."""
    reader = PlainReader(layout, max_size=max_size)
    return [item for piece in pieces for item in _fed(reader, piece)]


def _fed(reader: PlainReader, octets: bytes) -> Iterator[CutFrame | ProtocolHeader]:
    reader.feed(octets)
    while (item := reader.next()) is not None:
        yield item


def fast(payload_octets: int) -> bytes:
    """A command of Fast, written by hand."""
    size = payload_octets + 2
    head = size.to_bytes(2, "big") if size < 0xFFFF else b"\xff\xff" + size.to_bytes(4, "big")
    return head + b"\x11" + bytes(payload_octets) + b"\xce"


# --- golden octets


def test_the_tables_of_fast_cut_its_frames() -> None:
    octets = b"\x80\x01" + PING + fast(0xFFFF) + OPEN
    assert read(TABLES_OF_FAST, octets) == read(FAST, octets)
    with pytest.raises(WireError, match=r"octet 0x02, expected 80 01 or a frame"):
        read(TABLES_OF_FAST, b"\x80\x02" + PING)


def test_a_message_stands_between_frames() -> None:
    reader = PlainReader(FAST)
    reader.feed(PING + b"frag")
    assert isinstance(reader.next(), CutFrame)
    assert reader.take(8) is None
    reader.feed(b"ment" + PING)
    assert (reader.take(8), reader.offset) == (b"fragment", 12)
    assert reader.next() == CutFrame((2, 14), b"", 12)


def test_fast_begins_with_two_octets_and_goes_on_with_commands() -> None:
    assert read(FAST, b"\x80\x01" + PING + OPEN) == [
        ProtocolHeader(b"\x80\x01"), CutFrame((2, 14), b"", 2), CutFrame((5, 13), b"\x01\x02\x03", 6)
    ]  # fmt: skip
    assert str(ProtocolHeader(b"\x80\x01")) == "protocol header 80 01"


def test_segments_of_0_10() -> None:
    header = b"AMQP\x01\x01\x00\x0a"
    assert read(SEGMENTED, header + CONTROL + COMMAND) == [
        ProtocolHeader(header),
        CutFrame((0x0F, 0, 14, 0, 0, 0, 0), b"\x0a\x0b", 8),
        CutFrame((0x09, 1, 13, 0, 1, 0x0203, 0), b"\xff", 22),
    ]
    assert str(ProtocolHeader(header)) == "protocol header AMQP 1 1 0 10"


@pytest.mark.parametrize(
    ("layout", "octets"),
    [
        (FAST, b"\x80\x01" + PING + OPEN + fast(3)),
        (FAST, PING + fast(0xFFFD) + OPEN),
        (SEGMENTED, b"AMQP\x01\x01\x00\x0a" + CONTROL + COMMAND),
    ],
)
def test_every_split_gives_the_same(layout: Layout, octets: bytes) -> None:
    whole = read(layout, octets)
    step = max(1, len(octets) // 30)
    near = {*range(0, len(octets), step), *range(40), *range(len(octets) - 20, len(octets))}
    for at in sorted(near):
        assert read(layout, octets[:at], octets[at:]) == whole
    assert read(layout, *(bytes([octet]) for octet in octets[:60]), octets[60:]) == whole


@pytest.mark.parametrize(
    ("size", "head"), [(0xFFFE, "fffe"), (0xFFFF, "ffff 0000ffff"), (0x10000, "ffff 00010000")]
)
def test_the_size_is_escaped_from_ffff_on(size: int, head: str) -> None:
    octets = bytes.fromhex(head) + b"\x11" + bytes(size - 2) + b"\xce"
    assert octets == fast(size - 2) == encode(FAST, {"command": 0x11}, bytes(size - 2))
    (frame,) = read(FAST, octets)
    assert isinstance(frame, CutFrame)
    assert (frame.values, len(frame.payload)) == ((size, 0x11), size - 2)
    assert read(FAST, octets[:-1]) == []


def test_a_short_size_may_be_written_in_the_long_form() -> None:
    assert read(FAST, bytes.fromhex("ffff 00000003 0e aa ce")) == [CutFrame((3, 14), b"\xaa")]


def test_what_is_written_is_read() -> None:
    assert encode(FAST, {"command": 14}, b"") == PING
    values = {"flags": 9, "type": 1, "reserved-1": 0, "track": 1, "channel": 0x0203, "reserved-2": 0}
    assert encode(SEGMENTED, values, b"\xff") == COMMAND
    assert encode(FAST, {"command": 14}, b"", size=7, end=0) == bytes.fromhex("0007 0e 00")


# --- what is not so


@pytest.mark.parametrize(
    ("layout", "octets", "offset", "actual"),
    [
        (FAST, "0001 0e", 0, "size 1 announced"),
        (FAST, "0101", 0, ""),
        (FAST, "0101 0e", 0, "size 257 announced"),
        (FAST, "ffff 00000101", 0, ""),
        (FAST, "ffff 00000101 0e", 0, "size 257 announced"),
        (FAST, "ffff ffffffff 0e", 0, "size 4294967295 announced"),
        (FAST, "ffff 00000001 0e", 0, "size 1 announced"),
        (FAST, "0002 0e cf", 3, "end octet 0xCF"),
        (FAST, "0002 0e ce 0003 0e 00 00", 8, "end octet 0x00"),
        (SEGMENTED, "0f00000b 00000000 00000000", 0, "size 11 announced"),
        (SEGMENTED, "0f000101 00000000 00000000", 0, "size 257 announced"),
        (SEGMENTED, "414d5158", 3, "octet 0x58"),
    ],
)
def test_broken_streams(layout: Layout, octets: str, offset: int, actual: str) -> None:
    reader = PlainReader(layout, max_size=256, name="client→server")
    try:
        list(_fed(reader, bytes.fromhex(octets)))
    except WireError as error:
        assert (error.where, error.offset, error.actual) == ("frame of client→server", offset, actual)
        with pytest.raises(WireError, match=actual):
            reader.next()
        assert reader.pending_octets == 0
    else:
        assert not actual


def test_what_is_announced_too_large_is_not_stored() -> None:
    reader = PlainReader(FAST, max_size=1 << 16)
    reader.feed(bytes.fromhex("ffff 7fffffff 0e"))
    with pytest.raises(WireError, match="size 2147483647 announced, expected at most 65536 octets"):
        reader.next()
    tracemalloc.start()
    for _ in range(100):
        reader.feed(bytes(65536))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 18


def test_a_limit_below_the_escape_holds_for_both_forms_and_can_move() -> None:
    reader = PlainReader(FAST, max_size=5)
    assert list(_fed(reader, OPEN)) == [CutFrame((5, 13), b"\x01\x02\x03")]
    reader.max_size = 4
    with pytest.raises(WireError, match="size 5 announced, expected at most 4 octets"):
        list(_fed(reader, OPEN))


def test_a_greeting_is_for_the_beginning() -> None:
    assert read(FAST, PING + b"\x80\x01", max_size=1 << 20) == [CutFrame((2, 14), b"")]
    reader = PlainReader(SEGMENTED, header_allowed=False)
    with pytest.raises(WireError, match="size 20560 announced"):
        reader.max_size = 100
        list(_fed(reader, b"AMPP" + bytes(8)))


def test_a_frame_may_begin_as_the_greeting_of_fast_does() -> None:
    octets = fast(0x8000)
    assert octets[:2] == b"\x80\x02"
    assert [len(item.payload) for item in read(FAST, octets) if isinstance(item, CutFrame)] == [0x8000]
    assert read(FAST, b"\x80") == []


def test_values_that_do_not_fit() -> None:
    with pytest.raises(
        EncodeError, match=r"frame header or end: size=2 command=256, expected .* command:1 end:1 "
    ):
        encode(FAST, {"command": 256}, b"")
    with pytest.raises(
        EncodeError, match=r"frame header: flags=0 .* expected numbers within flags:1 type:1 size:2"
    ):
        encode(
            SEGMENTED,
            dict.fromkeys(("flags", "type", "reserved-1", "track", "channel", "reserved-2"), 0),
            b"",
            size=1 << 16,
        )


# --- tables


@pytest.mark.parametrize(
    ("layout", "uncounted", "least", "overhead"),
    [
        (FAST, 2, 2, 4),
        (SEGMENTED, 0, 12, 12),
        (load_methods("amqp-0-9-1").layout, 8, 0, 8),
        (load_methods("amqp-wire-9-1").layout, 9, 0, 9),
        (TYPED, 0, 8, 8),
    ],
)
def test_what_sizes_count(layout: Layout, uncounted: int, least: int, overhead: int) -> None:
    assert (layout.uncounted_octets, layout.least_size, layout.overhead_octets) == (
        uncounted,
        least,
        overhead,
    )
