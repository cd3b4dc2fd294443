"""The codec against octets written by hand, command by command, type by type."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import CommandField
from amqpspec.wire.amqp_fast_0_8.commands import decode_arguments, encode_arguments
from amqpspec.wire.amqp_fast_0_8.fields import FieldRun
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame, encode_frame
from amqpspec.wire.amqp_fast_0_8.message import decode_opening, encode_head, encode_message
from amqpspec.wire.amqp_fast_0_8.tables import encode_table
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.values import Table, Typed
from tests.wire.amqp_fast_0_8.golden import (
    CLIENT,
    COMMANDS,
    EMPTY_HEAD_OCTETS,
    GREETING,
    HEAD,
    HEAD_OCTETS,
    TABLE_VALUES,
    Golden,
)

EACH = pytest.mark.parametrize("row", COMMANDS, ids=lambda row: f"{row.name}-{len(row.octets)}")


def in_full(row: Golden) -> dict[str, Any]:
    """The fields as they are read: those that were left out, and values with their tags."""
    usual = {"bit": False, "shortstr": "", "longstr": b"", "table": Table()}
    command = DIALECT.commands_by_name[row.name]
    read = {field.key: usual.get(field.type, 0) for field in command.fields}
    sized = {"fragment_size": len(row.fragment)} if row.fragment else {}
    given = {**sized, **row.fields}
    tables = {
        key: Table(map(tagged, value.items())) for key, value in given.items() if isinstance(value, dict)
    }
    return read | given | tables


def tagged(field: tuple[str, Any]) -> tuple[str, Typed]:
    name, value = field
    if isinstance(value, str):
        return name, Typed("S", value.encode())
    return name, value if isinstance(value, Typed) else Typed("I", value)


def test_there_are_octets_by_hand_for_every_command() -> None:
    assert {row.name for row in COMMANDS} == set(DIALECT.commands_by_name)


@EACH
def test_what_is_written(row: Golden) -> None:
    assert command_frame(row.name, fragment=row.fragment, **row.fields) == row.octets
    assert encode_frame(row.frame[2], row.payload) == row.frame


@EACH
def test_what_is_read(row: Golden) -> None:
    command = DIALECT.commands_by_name[row.name]
    args = decode_arguments(command, row.payload)
    assert args == in_full(row)
    assert list(args) == [field.key for field in command.fields]
    assert encode_arguments(row.name, args) == row.payload


@EACH
def test_what_the_reader_gives(row: Golden) -> None:
    reader = CommandReader()
    reader.feed(row.octets)
    frame = reader.next()
    assert frame == CommandFrame(row.frame[2], in_full(row), row.payload, row.fragment)
    assert isinstance(frame, CommandFrame)
    assert (frame.name, frame.command) == (row.name, DIALECT.commands_by_name[row.name])
    assert (reader.next(), reader.pending_octets, reader.offset) == (None, 0, len(row.octets))


def test_what_the_client_of_2005_opens_with() -> None:
    reader = CommandReader(greets=True)
    reader.feed(GREETING + b"".join(row.octets for row in CLIENT))
    items = [reader.next() for _ in range(len(CLIENT) + 2)]
    assert items[0] == ProtocolHeader(GREETING)
    assert [item.name for item in items if isinstance(item, CommandFrame)] == [row.name for row in CLIENT]
    assert items[-1] is None


def test_the_example_of_a_login() -> None:
    octets = b"\x00\x1c" + b"\x05LOGINS\x00\x05Johan" + b"\x08PASSWORDS\x00\x02Ok"
    assert encode_table({"LOGIN": "Johan", "PASSWORD": "Ok"}) == octets
    args = decode_arguments(DIALECT.commands_by_name["connection.response"], b"\x05PLAIN" + octets)
    assert args["responses"].plain() == {"LOGIN": b"Johan", "PASSWORD": b"Ok"}


@pytest.mark.parametrize(("value", "read", "octets"), TABLE_VALUES, ids=lambda value: str(value))
def test_values_of_tables(value: Any, read: Typed, octets: str) -> None:
    fields = b"\x01n" + bytes.fromhex(octets)
    payload = len(fields).to_bytes(2, "big") + fields
    commit = DIALECT.commands_by_name["channel.commit"]
    assert encode_table({"n": value}) == payload
    assert encode_table([("n", value)]) == payload
    assert decode_arguments(commit, b"\x00\x01\x00\x02" + payload)["options"] == Table([("n", read)])


def test_of_two_fields_of_one_name_the_first_counts_and_both_stay() -> None:
    table = [("a", 1), ("a", 2)]
    commit = DIALECT.commands_by_name["channel.commit"]
    options = decode_arguments(commit, b"\x00\x01\x00\x02" + encode_table(table))["options"]
    assert (options.get("a"), len(options)) == (1, 2)


def test_the_message_head() -> None:
    assert encode_head(**HEAD) == HEAD_OCTETS
    assert encode_message(b"hello", **{**HEAD, "body_size": 5}) == HEAD_OCTETS + b"hello"
    head, body = decode_opening(HEAD_OCTETS + b"hello")
    assert head == {**HEAD, "headers": Table([("k", Typed("I", 1))])}
    assert body == b"hello"


def test_an_empty_message_is_its_head() -> None:
    assert encode_message() == encode_head() == EMPTY_HEAD_OCTETS
    assert decode_opening(EMPTY_HEAD_OCTETS).body == b""
    assert encode_message(b"hi")[:4] == b"\x00\x00\x00\x02"
    assert encode_message(b"hi", body_size=9)[:4] == b"\x00\x00\x00\x09"


def test_bits_beyond_the_eighth_go_on_in_the_next_octet() -> None:
    run = FieldRun([CommandField(f"bit-{number}", "bit") for number in range(10)])
    args: dict[str, Any] = {}
    assert run.write({"bit_0": True, "bit_9": True}, "ten bits") == b"\x01\x02"
    assert run.read(b"\x01\x02", 0, args) == 2
    assert [key for key, value in args.items() if value] == ["bit_0", "bit_9"]
