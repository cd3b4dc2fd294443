"""The codec against octets written by hand: every type, and typical controls, commands, headers and frames."""

from __future__ import annotations

import math
from typing import Any
from uuid import UUID

import pytest

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import PackedField, Struct
from amqpspec.wire.amqp_0_10 import instructions
from amqpspec.wire.amqp_0_10.frames import cut, encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    COMMAND,
    CONTROL,
    HEADER,
    decode_header,
    decode_instruction,
    encode_header,
    encode_instruction,
    kind_of,
)
from amqpspec.wire.amqp_0_10.reading import decode, read_value, struct_reader
from amqpspec.wire.amqp_0_10.values import Array, Map, Packed, Raw, Value, plain
from amqpspec.wire.amqp_0_10.writing import encode, encode_struct, encode_value
from tests.wire.amqp_0_10 import golden
from tests.wire.amqp_0_10.golden import CODES, COMMANDS, CONTROLS, HEADER_OCTETS, VALUES, Golden

EACH_VALUE = pytest.mark.parametrize(("name", "value", "octets"), VALUES)
EACH = pytest.mark.parametrize("row", CONTROLS + COMMANDS, ids=lambda row: row.name)


# --- types


def test_there_are_octets_by_hand_for_every_type() -> None:
    assert {name for name, _, _ in VALUES} >= set(DIALECT.types_by_name)
    assert len(DIALECT.types) == 45
    assert len(CODES) == sum(kind.code is not None for kind in DIALECT.types)


@EACH_VALUE
def test_what_is_read_of_a_value(name: str, value: Any, octets: str) -> None:
    expected = bytes.fromhex(octets)
    assert decode(name, b"\xaa" + expected, 1) == (value, 1 + len(expected))
    assert type(decode(name, expected)[0]) is type(value)


@EACH_VALUE
def test_what_is_written_of_a_value(name: str, value: Any, octets: str) -> None:
    assert encode(name, value) == bytes.fromhex(octets)
    assert encode(name, Raw(b"anything")) == b"anything"


@pytest.mark.parametrize("row", CODES)
def test_values_behind_their_type_codes(row: str) -> None:
    name, code = row.split()
    value, octets = next((v, bytes.fromhex(o)) for n, v, o in VALUES if n == name)
    coded = bytes.fromhex(code) + octets
    assert encode_value(Value(name, value)) == coded
    assert read_value(coded, 0, len(coded), 0) == (Value(name, value), len(coded))


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "boolean"),
        (None, "void"),
        ("s", "str16"),
        (b"o", "vbin32"),
        (0.5, "double"),
        (UUID(int=1), "uuid"),
        (2**31 - 1, "int32"),
        (-(2**31), "int32"),
        (2**31, "int64"),
        (-(2**63), "int64"),
        (2**63, "uint64"),
        ({}, "map"),
        ([], "list"),
        (Array("uint8", [1]), "array"),
        (Packed("dtx.xa-result", {}), "struct32"),
    ],
)
def test_the_usual_type_of_plain_values(value: Any, name: str) -> None:
    octets = encode_value(value)
    assert octets == encode_value(Value(name, value))
    read, end = read_value(octets, 0, len(octets), 0)
    assert (read.type, end) == (name, len(octets))


@pytest.mark.parametrize("octet", [b"\x01", b"\x02", b"\xff"])
def test_any_octet_but_zero_is_true(octet: bytes) -> None:
    assert decode("boolean", octet) == (True, 1)


@pytest.mark.parametrize("name", ["float", "double"])
def test_floats_that_are_no_numbers(name: str) -> None:
    for value in (math.inf, -math.inf):
        assert decode(name, encode(name, value))[0] == value
    assert math.isnan(decode(name, encode(name, math.nan))[0])


def test_plain_values() -> None:
    value = {"n": 1, "l": [1, {"x": "y"}], "a": Array("uint8", (1, 2)), "s": Packed("message.acquired", {})}
    read = decode("map", encode("map", value))[0]
    assert plain(read) == {"n": 1, "l": [1, {"x": "y"}], "a": [1, 2], "s": {}}
    assert (read.get("n"), read.get("a"), read.get("other")) == (1, [1, 2], None)
    repeated = Map((("k", Value("uint8", 1)), ("j", Value("void", None)), ("k", Value("uint8", 2))))
    assert (repeated.repeated, repeated.get("k"), repeated.plain()) == (("k",), 1, {"k": 1, "j": None})


# --- structs: the examples of 5.3

ADDRESS = Struct("address", (PackedField("host", "str8"), PackedField("port", "uint16")), size_octets=2)
BINDING = Struct(
    "binding",
    tuple(PackedField(name, "str8") for name in ("exchange-name", "queue-name", "binding-key")),
    pack_octets=1,
)
HEADERS = Struct(
    "content-headers",
    (PackedField("mime-type", "str8"), PackedField("length", "uint64"), PackedField("encoding", "str8")),
    size_octets=4,
    pack_octets=2,
    code=(4, 123),
)
FLAG = Struct("flag", (PackedField("on", "boolean"),), pack_octets=1)
WIDE = Struct("wide", tuple(PackedField(f"f{n}", "uint8") for n in range(32)), size_octets=1, pack_octets=4)


@pytest.mark.parametrize(
    ("row", "fields", "octets"),
    [
        (ADDRESS, {"host": "h", "port": 5672}, "0004 0168 1628"),
        (BINDING, {"exchange_name": "e", "binding_key": "b"}, "05 0165 0162"),
        (BINDING, {}, "00"),
        (HEADERS, {"mime_type": "m", "encoding": ""}, "00000007 04 7b 0500 016d 00"),
        (FLAG, {"on": False}, "01 00"),
        (WIDE, {"f0": 10, "f9": 11, "f31": 12}, "07 01020080 0a0b0c"),
    ],
)
def test_sizes_codes_and_packing_flags_of_every_width(
    row: Struct, fields: dict[str, Any], octets: str
) -> None:
    expected = bytes.fromhex(octets)
    assert encode_struct(row, fields) == expected
    assert struct_reader(row)(expected, 0, len(expected), 0) == (Packed(row.name, fields), len(expected))


# --- controls and commands


@EACH
def test_what_is_written(row: Golden) -> None:
    assert encode_instruction(row.name, row.args, sync=row.sync) == row.octets
    by_name = {key.replace("_", "-"): value for key, value in row.args.items()}
    assert encode_instruction(row.name, by_name, sync=row.sync) == row.octets


@EACH
def test_what_is_read(row: Golden) -> None:
    read = decode_instruction(kind_of(row.name), row.octets)
    assert (read.name, read.args, read.sync, read.error) == (row.name, row.args, row.sync, None)
    assert read.row is instructions.ROWS[row.name]
    assert read.code == tuple(row.octets[:2])


def test_values_as_people_write_them() -> None:
    written = encode_instruction(
        "session.expected",
        {"commands": [(5, 5)], "fragments": [{"command-id": 5, "byte-ranges": [(0, 9)]}]},
    )
    assert written == next(row.octets for row in CONTROLS if row.name == "session.expected")
    start = encode_instruction("connection.start", {"mechanisms": ["PLAIN"], "locales": ("en_US",)})
    assert start == CONTROLS[0].octets


@pytest.mark.parametrize("absent", [{"force": False}, {"force": None}, {}])
def test_a_bit_that_is_false_has_no_flag(absent: dict[str, Any]) -> None:
    octets = encode_instruction("session.attach", {"name": b"s", **absent})
    assert octets == bytes.fromhex("0201 0100 0001 73")


def test_names_of_controls_and_commands_are_distinct_and_none_hides_a_keyword() -> None:
    assert not DIALECT.controls.keys() & DIALECT.commands.keys()
    keywords = {"channel", "sync", "header", "body", "max_frame_octets"}
    assert not keywords & {field.key for row in instructions.ROWS.values() for field in row.fields}


# --- header segments


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (3, 2, 1, 0), (2,), (), (1, 1)])
def test_header_structs_in_any_order(order: tuple[int, ...]) -> None:
    octets = b"".join(HEADER_OCTETS[at] for at in order)
    structs = tuple(golden.HEADER[at] for at in order)
    assert encode_header(structs) == octets
    assert decode_header(octets) == structs
    assert encode_header([Raw(octets)]) == octets


# --- frames


def test_frames_by_hand() -> None:
    heartbeat = next(row for row in CONTROLS if row.name == "connection.heartbeat")
    assert encode_frame(heartbeat.octets, type=CONTROL, channel=258) == golden.CONTROL_FRAME
    assert encode_assembly("connection.heartbeat", 258) == golden.CONTROL_FRAME
    whole = encode_assembly(
        "message.transfer",
        7,
        destination="q",
        accept_mode=0,
        acquire_mode=0,
        header=[golden.HEADER[2]],
        body=b"hello",
    )
    command, header = golden.TRANSFER_FRAMES[:2]
    body = bytes.fromhex("07 03 0011 00 01 0007 00000000") + b"hello"
    assert whole == command + header + body
    segments = [(COMMAND, command[12:]), (HEADER, header[12:]), (BODY, b"hello")]
    assert b"".join(cut(segments, channel=7, max_frame_octets=22)) == whole


def test_a_body_in_two_frames() -> None:
    body = golden.TRANSFER_FRAMES[2:]
    pieces = (octets[12:] for octets in body)
    flags = (octets[0] for octets in body)
    written = [encode_frame(p, type=BODY, flags=f, channel=7) for p, f in zip(pieces, flags, strict=True)]
    assert written == list(body)
