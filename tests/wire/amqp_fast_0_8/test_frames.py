"""The reader: the same at every split of octets, bounded, and broken permanently once framing is lost."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator

import pytest

from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame, encode_frame
from amqpspec.wire.errors import EncodeError, WireError
from amqpspec.wire.greeting import ProtocolHeader
from tests.wire.amqp_fast_0_8.golden import COMMANDS, GREETING

Items = list[CommandFrame | ProtocolHeader]

PING = bytes.fromhex("0003 0e 00 ce")
STREAM = b"".join(row.octets for row in COMMANDS)


def taken(reader: CommandReader, octets: bytes) -> Iterator[CommandFrame | ProtocolHeader]:
    reader.feed(octets)
    while (item := reader.next()) is not None:
        yield item


def read(*pieces: bytes, greets: bool = False, max_size: int = 1 << 20) -> Items:
    reader = CommandReader(greets=greets, max_size=max_size)
    return [item for piece in pieces for item in taken(reader, piece)]


def only(octets: bytes) -> CommandFrame:
    (item,) = read(octets)
    assert isinstance(item, CommandFrame)
    return item


# --- splits


@pytest.mark.parametrize("at", range(len(GREETING + STREAM)))
def test_every_split_gives_the_same(at: int) -> None:
    octets = GREETING + STREAM
    items = read(octets[:at], octets[at:], greets=True)
    assert items == read(octets, greets=True)
    assert len(items) == len(COMMANDS) + 1


def test_octet_by_octet() -> None:
    octets = GREETING + STREAM
    pieces = (octets[at : at + 1] for at in range(len(octets)))
    assert read(*pieces, greets=True) == read(octets, greets=True)


def test_a_command_waits_for_its_fragment() -> None:
    notify = next(row for row in COMMANDS if row.name == "handle.notify")
    reader = CommandReader()
    for octets in (notify.frame, notify.fragment[:1]):
        assert list(taken(reader, octets)) == []
        assert reader.pending is not None
        assert (reader.pending.name, reader.pending.fragment) == ("handle.notify", b"")
    (frame,) = taken(reader, notify.fragment[1:] + PING[:1])
    assert isinstance(frame, CommandFrame)
    assert (frame.fragment, reader.pending, reader.pending_octets) == (b"hi", None, 1)


def test_offsets_are_those_of_the_stream() -> None:
    offset = len(GREETING)
    for row, item in zip(COMMANDS, read(GREETING + STREAM, greets=True)[1:], strict=True):
        assert item.offset == offset
        offset += len(row.octets)


# --- greetings


@pytest.mark.parametrize("octets", [b"\x80\x01", b"\x80\x02", b"\x00\x00", b"AM", b"\xff\xff"])
def test_a_client_begins_with_two_octets_whichever_they_are(octets: bytes) -> None:
    header, ping = read(octets[:1], octets[1:], PING, greets=True)
    assert header == ProtocolHeader(octets)
    assert ping == only(PING)._replace(offset=2)


def test_a_server_begins_with_a_command() -> None:
    with pytest.raises(WireError, match="size 32769 announced"):
        read(b"\x80\x01\x00", max_size=4096)


# --- sizes


@pytest.mark.parametrize(
    ("size", "head"), [(0xFFFE, "fffe"), (0xFFFF, "ffff 0000ffff"), (0x10000, "ffff 00010000")]
)
def test_the_size_is_escaped_from_ffff_on(size: int, head: str) -> None:
    text = bytes(size - 10)
    octets = bytes.fromhex(head) + b"\x2a\x00\x01" + bytes(4) + b"\x00\x00" + text + b"\xce"
    # A table or a long string cannot fill such a frame: octets after the last field can.
    assert command_frame("handle.index", handle_id=1, extra=text) == octets
    frame = only(octets)
    assert (frame.name, len(frame.fields), frame.args["handle_id"]) == ("handle.index", size - 2, 1)
    assert frame.error is not None and frame.error.actual == f"{len(text)} octets more"
    assert read(octets[:-1]) == []


def test_a_small_size_in_the_long_form() -> None:
    octets = bytes.fromhex("ffff 00000003 0e 01 ce")
    assert command_frame("connection.ping", respond=True, escaped=True) == octets
    assert only(octets).args == {"respond": True}
    assert read(octets[:5], octets[5:]) == read(octets)
    assert only(octets)._replace(offset=0) == only(bytes.fromhex("0003 0e 01 ce"))


def test_sizes_codes_and_ends_that_lie() -> None:
    assert command_frame("connection.ping", size=7) == bytes.fromhex("0007 0e 00 ce")
    assert command_frame("connection.ping", end=0xCF) == bytes.fromhex("0003 0e 00 cf")
    assert command_frame("connection.ping", code=99) == bytes.fromhex("0003 63 00 ce")
    assert command_frame("connection.ping", size=1, escaped=True) == bytes.fromhex("ffff 00000001 0e 00 ce")
    assert encode_frame(33, b"abc") == bytes.fromhex("0005 21 616263 ce")


@pytest.mark.parametrize(
    ("octets", "message"),
    [
        ("0000", None),
        ("0000 0e", "frame of server→client at octet 0: size 0 announced, expected a size of at least 2"),
        ("0001 ce", "size 1 announced, expected a size of at least 2"),
        ("ffff 00000001 0e", "size 1 announced, expected a size of at least 2"),
        ("0401 0e", "size 1025 announced, expected at most 1024 octets"),
        ("fffe 0e", "size 65534 announced"),
        ("ffff ffffffff 0e", "size 4294967295 announced, expected at most 1024 octets"),
        ("0002 0e 00", "at octet 3: end octet 0x00, expected 0xCE"),
        ("0004 0e 01 ce ff", "at octet 5: end octet 0xFF, expected 0xCE"),
    ],
)
def test_framing_that_is_lost(octets: str, message: str | None) -> None:
    reader = CommandReader(max_size=1024)
    reader.feed(bytes.fromhex(octets))
    if message is None:
        assert reader.next() is None
        return
    for _ in range(2):
        with pytest.raises(WireError) as caught:
            reader.next()
        assert message in str(caught.value)
        assert caught.value.window.count(">") == 1
        reader.feed(PING)
    assert bytes.fromhex(octets).startswith(reader.lost) and reader.lost


# --- fragments


def test_a_fragment_is_as_long_as_announced() -> None:
    send = command_frame("handle.send", handle_id=1, fragment_size=6, fragment=b"123456")
    short = command_frame("handle.send", handle_id=1, fragment_size=5, fragment=b"123456")
    assert read(send + PING)[0] == only(send)
    with pytest.raises(WireError, match="size 13824 announced"):
        read(short + PING, max_size=1024)


def test_a_fragment_may_have_no_octets() -> None:
    frame = only(command_frame("handle.send", handle_id=1))
    assert (frame.announced, frame.fragment, frame.args["fragment_size"]) == (0, b"", 0)


def test_what_goes_out_of_band_is_not_in_the_stream() -> None:
    send = command_frame("handle.send", handle_id=1, fragment_size=1 << 31, out_of_band=True)
    frames = read(send + PING, max_size=1024)
    assert [frame.fragment for frame in frames if isinstance(frame, CommandFrame)] == [b"", b""]


@pytest.mark.parametrize("name", ["handle.send", "handle.notify", "handle.prepare"])
def test_a_fragment_is_bounded_as_frames_are(name: str) -> None:
    fits = command_frame(name, handle_id=1, fragment=bytes(1024))
    assert len(read(fits, max_size=1024)) == 1
    octets = command_frame(name, handle_id=1, fragment_size=1025)
    reader = CommandReader(max_size=1024)
    reader.feed(PING + octets)
    assert isinstance(reader.next(), CommandFrame)
    expected = f"a fragment of at most 1024 octets behind {name}"
    for _ in range(2):
        with pytest.raises(WireError, match=f"1025 octets announced, expected {expected}") as caught:
            reader.next()
        assert caught.value.offset == len(PING + octets)


def test_memory_is_bounded_by_what_came() -> None:
    tracemalloc.start()
    for head in ("ffff ffffffff 1f", "0011 29 0001 00000007 ffffffff 00 00 ce"):
        reader = CommandReader()
        with pytest.raises(WireError):
            for _ in range(100):
                reader.feed(bytes.fromhex(head) + bytes(100_000))
                reader.next()
        assert reader.pending_octets == 0
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


# --- commands that cannot be read


def test_reading_goes_on_behind_a_command_that_cannot_be_read() -> None:
    broken = encode_frame(34, b"\x00\x01\x00")
    frame, ping = read(broken + PING[:1], PING[1:])
    assert isinstance(frame, CommandFrame) and isinstance(ping, CommandFrame)
    assert (frame.name, frame.args) == ("handle.flow", {"handle_id": 1})
    assert str(frame.error).startswith("handle.flow confirm-tag at octet 5: 1 left, expected 2 octets")
    assert (ping.name, ping.error) == ("connection.ping", None)


def test_a_code_that_there_is_not() -> None:
    _, frame = read(PING + encode_frame(33, b"\x01\x02", escaped=True))
    assert isinstance(frame, CommandFrame)
    assert (frame.name, frame.command, frame.args, frame.fields, frame.announced) == (
        "command-33", None, {}, b"\x01\x02", 0,
    )  # fmt: skip
    assert str(frame.error) == (
        "command at octet 11: code 33, expected a command of amqp-fast-0-8 [ff ff 00 00 00 04 >21< 01 02 ce]"
    )


def test_the_fragment_is_found_behind_a_command_that_cannot_be_read() -> None:
    name_too_long = bytes.fromhex("0001 0000 0001 00000003 00 09 71")
    frame, ping = read(encode_frame(31, name_too_long) + b"abc" + PING)
    assert isinstance(frame, CommandFrame) and isinstance(ping, CommandFrame)
    assert (frame.fragment, frame.args["partial"]) == (b"abc", False)
    assert str(frame.error).startswith("handle.send dest-name at octet 15: 1 left, expected 9 octets")
    assert ping.name == "connection.ping"


@pytest.mark.parametrize(
    ("code", "fields", "at"),
    [(31, "0001 0000 0001 0000", 9), (31, "0001 0000 0001 00000003", 13), (43, "0001", 5)],
)
def test_a_fragment_that_nobody_can_find_loses_framing(code: int, fields: str, at: int) -> None:
    with pytest.raises(WireError, match="whose fragment cannot be located") as caught:
        read(encode_frame(code, bytes.fromhex(fields)) + b"abc")
    assert caught.value.offset == at


def test_a_frame_that_cannot_be_said() -> None:
    for size, code in ((None, 256), (1 << 32, 14), (-1, 14)):
        with pytest.raises(EncodeError, match="frame header or end"):
            encode_frame(code, size=size)
    with pytest.raises(KeyError):
        command_frame("handle.nothing")
