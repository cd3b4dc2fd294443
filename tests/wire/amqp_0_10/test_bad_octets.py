"""Octets that break the grammar give a WireError that says where; never anything else."""

from __future__ import annotations

import re
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.wire.amqp_0_10 import malformed
from amqpspec.wire.amqp_0_10.direction import AssemblyDirection
from amqpspec.wire.amqp_0_10.frames import Frame, encode_frame
from amqpspec.wire.amqp_0_10.instructions import (
    COMMAND,
    CONTROL,
    Instruction,
    decode_header,
    decode_instruction,
    encode_instruction,
    kind_of,
)
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.reading import BY_CODE, MAX_DEPTH, decode
from amqpspec.wire.amqp_0_10.values import Raw, Value
from amqpspec.wire.amqp_0_10.writing import encode
from amqpspec.wire.errors import WireError
from tests.wire.amqp_0_10.golden import (
    COMMANDS,
    CONTROLS,
    GREETING,
    HEADER_OCTETS,
    TRANSFER_FRAMES,
    VALUES,
    Golden,
)

EACH = pytest.mark.parametrize("row", CONTROLS + COMMANDS, ids=lambda row: row.name)
SIZED = [row for row in VALUES if row[2] and row[0] not in DIALECT.structs]


def outcome(read: Callable[[], Any], length: int) -> Any:
    """What was read, or the WireError, whose offset lies within the octets."""
    try:
        return read()
    except WireError as error:
        return checked(error, length)


def checked(error: WireError, length: int) -> WireError:
    assert 0 <= error.offset <= length
    assert error.where
    assert error.expected
    assert error.actual
    assert error.window.count(">") == 1
    return error


def changed(octets: bytes) -> Iterator[bytes]:
    for at in range(len(octets)):
        for by in (octets[at] ^ 0x01, octets[at] ^ 0x80, 0x00, 0xFF):
            yield octets[:at] + bytes((by,)) + octets[at + 1 :]


# --- cut and changed in every place


@pytest.mark.parametrize(("name", "_value", "octets"), SIZED)
def test_a_value_cut_anywhere(name: str, _value: Any, octets: str) -> None:
    whole = bytes.fromhex(octets)
    for end in range(len(whole)):
        assert isinstance(outcome(partial(decode, name, whole[:end]), end), WireError), end


@EACH
def test_a_control_or_command_cut_anywhere(row: Golden) -> None:
    for end in range(len(row.octets)):
        read = decode_instruction(kind_of(row.name), row.octets[:end])
        assert read.error is not None
        checked(read.error, end)
        assert read.args.items() <= row.args.items()
    longer = decode_instruction(kind_of(row.name), row.octets + b"\x00")
    assert longer.args == row.args
    assert "arguments" in str(longer.error)
    assert "1 octets more, expected the end of the arguments" in str(longer.error)


@EACH
def test_a_control_or_command_with_any_octet_changed(row: Golden) -> None:
    for octets in changed(row.octets):
        read = decode_instruction(kind_of(row.name), octets)
        if read.error is not None:
            checked(read.error, len(octets))
        else:
            assert isinstance(read, Instruction)
            again = encode_instruction(read.name, read.args, sync=read.sync)
            assert decode_instruction(kind_of(row.name), again) == read


def test_a_header_segment_cut_and_changed() -> None:
    whole = b"".join(HEADER_OCTETS)
    ends = {sum(map(len, HEADER_OCTETS[:count])) for count in range(len(HEADER_OCTETS) + 1)}
    for end in range(len(whole)):
        found = outcome(partial(decode_header, whole[:end]), end)
        assert isinstance(found, WireError) == (end not in ends), end
    for octets in changed(whole):
        outcome(partial(decode_header, octets), len(octets))


@EACH
def test_a_stream_with_any_octet_changed(row: Golden) -> None:
    """The reader gives frames, waits or raises WireError; what evidence says of the octets is as long as they are."""
    for octets in changed(encode_frame(row.octets, type=kind_of(row.name))):
        reader = FrameReader(max_frame_octets=4096, header_allowed=False)
        reader.feed(octets)
        item = outcome(reader.next, len(octets))
        assert item is None or isinstance(item, Frame | WireError)
        direction = AssemblyDirection("out")
        shown, frames = direction.take(GREETING + octets)
        assert len(shown) == len(octets) + len(GREETING)
        assert all(frame["text"] for frame in frames)


def test_a_transfer_with_any_octet_changed() -> None:
    for octets in changed(b"".join(TRANSFER_FRAMES)):
        shown, frames = AssemblyDirection("in").take(GREETING + octets + octets)
        assert shown == GREETING + octets + octets
        assert frames


@given(st.binary(max_size=60), st.sampled_from(sorted(DIALECT.types_by_name)))
def test_any_octets_as_any_type(octets: bytes, name: str) -> None:
    outcome(lambda: decode(name, octets), len(octets))


@given(st.sampled_from(CONTROLS + COMMANDS), st.binary(max_size=60))
def test_any_octets_as_arguments(row: Golden, octets: bytes) -> None:
    read = decode_instruction(kind_of(row.name), row.octets[:4] + octets)
    if read.error is not None:
        checked(read.error, 4 + len(octets))


# --- in words


@pytest.mark.parametrize(
    ("octets", "message"),
    [
        ("", "control code at octet 0: 0 left, expected 2 octets"),
        ("01", "control code at octet 0: 1 left, expected 2 octets"),
        ("0163 0000", "control at octet 0: code 1.99, expected a control of amqp-0-10"),
        ("0401 0100 0000", "control at octet 0: code 4.1, expected a control of amqp-0-10"),
        ("010b 01", "packing flags at octet 2: 1 left, expected 2 octets"),
        ("010b 0400", "packing flags at octet 2: 04 00, expected flags of 2 fields"),
        ("010b 0080", "packing flags at octet 2: 00 80, expected flags of 2 fields"),
        ("010b 0100 01", "reply-code: uint16 at octet 4: 1 left, expected 2 octets"),
        ("010b 0200 05 4f4b", "reply-text: str8 at octet 5: 2 left, expected 5 octets"),
        ("020a 0100 0007 00000000 000000", "commands: sequence-set at octet 4: 7 octets, expected a size that is"),
        ("0102 0100 00000003 000000", "client-properties: map at octet 8: 3 left, expected 4 octets"),
        ("0102 0100 00000004 00000001", "map at octet 8: count 1, expected at most 0 in 0 octets"),
        ("0102 0100 00000005 00000000 00", "map at octet 12: 1 octets more, expected the end of 0 entries"),
        ("0102 0100 00000007 00000001 0161 b0", "client-properties: value at octet 14: 0xB0, expected a type code"),
        ("0101 0200 00000001 95", "array at octet 9: 0 left, expected 4 octets"),
        ("0101 0200 00000005 e5 00000000", "mechanisms: array at octet 8: 0xE5, expected a type code"),
        ("0101 0200 00000005 f0 00000101", "array at octet 9: count 257, expected at most 256 in 0 octets"),
    ],
)  # fmt: skip
def test_where_and_why(octets: str, message: str) -> None:
    read = decode_instruction(CONTROL, bytes.fromhex(octets))
    assert message in str(read.error)


@pytest.mark.parametrize(
    ("octets", "message"),
    [
        ("0301", "session.header at octet 2: 0 left"),
        ("0301 00", "packing flags at octet 3: 0 left"),
        ("0301 0104 0000", "packing flags at octet 3: 04, expected flags of 1 fields"),
        ("0301 020100 0000", "session.header at octet 4: 1 octets more, expected the end of its fields"),
        ("0302 0100 0200 00000001 06", "value: struct32 at octet 10: 1 left, expected 2 octets"),
        ("0302 0100 0200 00000003 0601 01", "value: packing flags at octet 12: 1 left, expected 2 octets"),
        ("0602 0100 0100 0002 0800", "xid: packing flags at octet 8: 08 00, expected flags of 3 fields"),
        ("0302 0100 0200 00000007 0601 0100 0001 ff", "dtx.xa-result at octet 16: 1 octets more"),
    ],
)  # fmt: skip
def test_where_and_why_in_commands(octets: str, message: str) -> None:
    read = decode_instruction(COMMAND, bytes.fromhex(octets))
    assert message in str(read.error)


@pytest.mark.parametrize("code", [*range(0xB0, 0xC0), *range(0xE0, 0xF0)])
def test_reserved_type_codes(code: int) -> None:
    assert code not in BY_CODE
    octets = encode("list", [Value(code, Raw(b"\x00"))])
    with pytest.raises(WireError, match=f"0x{code:02X}, expected a type code that is not reserved"):
        decode("list", octets)


def test_all_other_codes_are_read_or_passed_over() -> None:
    assert len(BY_CODE) == 256 - 32
    for code, (name, _, _) in BY_CODE.items():
        assert isinstance(name, str) == (code in DIALECT.types_by_code)


def test_offsets_are_those_of_the_stream() -> None:
    frame = encode_frame(bytes.fromhex("010b 0100 01"), type=CONTROL)
    reader = FrameReader()
    reader.feed(GREETING + frame)
    reader.next()
    item = reader.next()
    assert isinstance(item, Frame)
    assert item.assembly is not None
    assert str(item.assembly.error).startswith("connection.close reply-code: uint16 at octet 24: 1 left")


# --- what lies on purpose


@pytest.mark.parametrize(
    ("type_name", "octets"),
    [
        ("map", malformed.counted("map", b"", 0, size=3)),
        ("map", malformed.counted("map", b"\x01a\xf0", 2)),
        ("map", malformed.counted("map", b"\x01a", 1)),
        ("list", malformed.counted("list", b"\x02\x01", 2)),
        ("list", malformed.counted("list", b"\xf0\xf0", 1)),
        ("list", malformed.counted("list", b"", 2**32 - 1)),
        ("array", malformed.counted("array", b"\x00", 1, item_code=0x95)),
        ("array", malformed.counted("array", b"", 1, item_code=0xEF)),
        ("array", malformed.counted("array", b"", 2**32 - 1, item_code=0xF0)),
        ("array", malformed.counted("array", b"\x01\x02", 1, item_code=0x02)),
        ("vbin32", malformed.sized("vbin32", b"abc", 4)),
        ("str8", malformed.sized("str8", b"", 255)),
        ("byte-ranges", malformed.sized("byte-ranges", b"\x00" * 15)),
        ("message.reply-to", malformed.struct("message.reply-to", {"exchange": "e"}, flags=3)),
        ("message.reply-to", malformed.struct("message.reply-to", {"exchange": "e"}, flags=0)),
        ("message.reply-to", malformed.struct("message.reply-to", {}, flags=0x8000)),
        ("message.reply-to", malformed.struct("message.reply-to", {}, size=1)),
        ("message.reply-to", malformed.struct("message.reply-to", {}, extra=b"x")),
        ("dtx.xa-result", malformed.struct("dtx.xa-result", {"status": 1}, code=(6, 2))),
        ("struct32", malformed.sized("struct32", b"\x04")),
        ("struct32", malformed.struct("message.acquired", {}, flags=1)),
    ],
)  # fmt: skip
def test_what_lies_cannot_be_read(type_name: str, octets: Raw) -> None:
    assert isinstance(outcome(lambda: decode(type_name, octets), len(octets)), WireError)
    assert encode(type_name, octets) == octets


@pytest.mark.parametrize("type_name", ["list", "map"])
def test_nesting_is_bounded(type_name: str) -> None:
    octets = malformed.nested(MAX_DEPTH - 1, type_name)
    assert decode(type_name, octets)[1] == len(octets)
    with pytest.raises(WireError, match="another level, expected at most 100 levels"):
        decode(type_name, malformed.nested(MAX_DEPTH, type_name))
    assert isinstance(
        outcome(lambda: decode(type_name, malformed.nested(10_000, type_name)), 1 << 20), WireError
    )


def test_elements_without_octets_take_little_memory() -> None:
    inner = malformed.counted("array", b"", 256, item_code=0xF0)
    octets = malformed.counted("array", inner * 250, 250, item_code=0xAA)
    tracemalloc.start()
    decode("array", octets)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


def test_octets_behind_a_struct_in_an_array() -> None:
    row = next(row for row in CONTROLS if row.name == "session.expected")
    longer = row.octets.replace(b"\x1d\x90", b"\x1e\x90").replace(b"\0\x16", b"\0\x17") + b"\0"
    read = decode_instruction(CONTROL, longer)
    assert "1 octets more, expected the end of session.command-fragment" in str(read.error)


def test_codes_flags_and_octets_that_lie() -> None:
    octets = encode_instruction(
        "message.transfer", {}, session=Raw(b"\x01\x80"), code=(200, 201), flags=0xFFFF, extra=b"end"
    )
    assert octets == bytes.fromhex("c8c9 0180 ffff") + b"end"
    assert re.fullmatch("command-200.201", decode_instruction(COMMAND, octets).name)
    assert decode_instruction(COMMAND, b"").name == "command-?"
    bit = encode_instruction("session.attach", {"name": Raw(b"?"), "force": Raw(b"!")})
    assert bit == bytes.fromhex("0201 0300") + b"?!"
