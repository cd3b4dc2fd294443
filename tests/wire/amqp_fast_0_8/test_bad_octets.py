"""Octets that break the grammar give a WireError that says where; never anything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command
from amqpspec.wire.amqp_fast_0_8.commands import decode_arguments, encode_arguments
from amqpspec.wire.amqp_fast_0_8.direction import CommandDirection
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, encode_frame
from amqpspec.wire.amqp_fast_0_8.malformed import counted, table_field
from amqpspec.wire.amqp_fast_0_8.message import decode_opening, encode_head
from amqpspec.wire.errors import WireError
from amqpspec.wire.values import Table
from tests.wire.amqp_fast_0_8.golden import COMMANDS, GREETING, HEAD_OCTETS, TABLE_VALUES, Golden
from tests.wire.amqp_fast_0_8.strategies import commands

COMMIT = DIALECT.commands_by_name["channel.commit"]
EACH = pytest.mark.parametrize("row", COMMANDS, ids=lambda row: f"{row.name}-{len(row.octets)}")


def command_of(row: Golden) -> Command:
    return DIALECT.commands_by_name[row.name]


def outcome(read: Callable[[], Any], length: int) -> Any:
    """What was read, or the WireError, whose offset lies within the octets."""
    try:
        return read()
    except WireError as error:
        assert 0 <= error.offset <= length
        assert error.where and error.expected and error.actual
        assert error.window.count(">") == 1
        return error


def arguments(command: Command, octets: bytes) -> Any:
    return outcome(lambda: decode_arguments(command, octets), len(octets))


def options(table: bytes) -> Any:
    """What is read of a table, as the last field of a command."""
    return arguments(COMMIT, bytes(4) + table)


# --- cut and changed in every place


@EACH
def test_a_command_cut_anywhere(row: Golden) -> None:
    for end in range(len(row.payload)):
        assert isinstance(arguments(command_of(row), row.payload[:end]), WireError), end
    with pytest.raises(WireError, match=r"fields at octet .*1 octets more, expected the end of the fields"):
        decode_arguments(command_of(row), row.payload + b"\x00")


@EACH
def test_a_command_with_any_octet_changed(row: Golden) -> None:
    for octets in changed(row.payload):
        args = arguments(command_of(row), octets)
        if not isinstance(args, WireError):
            again = encode_arguments(row.name, args)
            assert decode_arguments(command_of(row), again) == args


@EACH
def test_a_stream_with_any_octet_changed(row: Golden) -> None:
    """The reader gives commands, waits or raises WireError; what evidence says of the octets is as long as they are."""
    for octets in changed(row.octets):
        reader = CommandReader(max_size=4096)
        reader.feed(octets)
        item = outcome(reader.next, len(octets))
        assert item is None or isinstance(item, CommandFrame | WireError)
        direction = CommandDirection("out")
        shown, frames = direction.take(GREETING + octets)
        assert len(shown) == len(octets) + len(GREETING)
        assert all(frame["text"] for frame in frames)


def changed(octets: bytes) -> Iterator[bytes]:
    for at in range(len(octets)):
        for by in (octets[at] ^ 0x01, octets[at] ^ 0x80, 0x00, 0xFF):
            yield octets[:at] + bytes((by,)) + octets[at + 1 :]


def test_a_head_cut_anywhere() -> None:
    for end in range(len(HEAD_OCTETS)):
        part = HEAD_OCTETS[:end]
        assert isinstance(outcome(partial(decode_opening, part), end), WireError)
    for octets in changed(HEAD_OCTETS):
        opened = outcome(partial(decode_opening, octets), len(octets))
        if not isinstance(opened, WireError):
            assert decode_opening(encode_head(**opened.head)).head == opened.head


@pytest.mark.parametrize(("value", "read", "octets"), TABLE_VALUES, ids=lambda value: str(value))
def test_a_table_cut_anywhere(value: Any, read: Any, octets: str) -> None:
    field = b"\x04name" + bytes.fromhex(octets)
    for end in range(len(field)):
        part = counted("table", field[:end])
        assert isinstance(options(part), WireError) == bool(end)
    for part in (counted("table", field, len(field) - 1), counted("table", field, len(field) + 1)):
        assert isinstance(options(part), WireError)
        assert isinstance(options(part + bytes(20)), WireError)


@given(commands(), st.data())
def test_mutated_commands(drawn: tuple[Command, dict[str, Any], bytes], data: st.DataObject) -> None:
    command, _, octets = drawn
    at = data.draw(st.integers(0, len(octets)))
    mutated = octets[:at] + data.draw(st.binary(max_size=4)) + octets[at + data.draw(st.integers(0, 4)) :]
    args = arguments(command, mutated)
    if not isinstance(args, WireError):
        again = encode_arguments(command.name, args)
        assert decode_arguments(command, again) == args
        assert len(again) == len(mutated)


@given(st.binary(max_size=120), st.sampled_from(DIALECT.commands))
def test_random_octets(octets: bytes, command: Command) -> None:
    arguments(command, octets)
    outcome(lambda: decode_opening(octets), len(octets))
    for stream in (octets, encode_frame(command.code, octets) + octets):
        reader = CommandReader(max_size=200)
        reader.feed(stream)
        while isinstance(outcome(reader.next, len(stream)), CommandFrame):
            pass


# --- what exactly is said


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("connection.ping", "", "respond at octet 0: 0 left, expected 1 octets"),
        ("handle.notify", "0001 00000007 00000000", (
            "partial, out-of-band, recovery, delivered, redelivered at octet 10: 0 left, expected 1 octets"
        )),
        ("channel.ack", "0001 0000 000000", "message-nbr at octet 4: 3 left, expected 4 octets"),
        ("connection.close", "00c8 05 6f6b", "reply-text at octet 3: 2 left, expected 5 octets"),
        ("handle.index", "0001 00000009 00", "message-list at octet 6: 1 left, expected 2 octets"),
        ("handle.index", "0001 00000009 0009 30", "message-list at octet 8: 1 left, expected 9 octets"),
        ("channel.commit", "0001 0000 0005 01", "options at octet 6: 1 left, expected 5 octets"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_command(name: str, fields: str, message: str) -> None:
    error = arguments(DIALECT.commands_by_name[name], bytes.fromhex(fields))
    assert isinstance(error, WireError)
    assert str(error).startswith(message)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (table_field(b"k", "F", bytes(4)), "options: field value at octet 8: tag 0x46, expected a type tag of SIDT"),
        (table_field(b"k", 0), "options: field value at octet 8: tag 0x00, expected"),
        (table_field(b"k", "S", size=200), (
            "options: field name at octet 6: name of 200 octets, expected a name and a value within the 3 octets"
        )),
        (b"\x01k", "options: field name at octet 6: name of 1 octets"),
        (table_field(b"k", "I", b"\x00"), "options: field value at octet 9: 1 left, expected 4 octets"),
        (table_field(b"k", "D", bytes(4)), "options: field value at octet 9: 4 left, expected 5 octets"),
        (table_field(b"k", "S", b"\x00"), "options: field value at octet 9: 1 left, expected 2 octets"),
        (table_field(b"k", "S", b"\x00\x09a"), "options: field value at octet 11: 1 left, expected 9 octets"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_table(fields: bytes, message: str) -> None:
    error = options(counted("table", fields))
    assert isinstance(error, WireError)
    assert str(error).startswith(message)


@pytest.mark.parametrize(
    ("value", "octets"), [("I", bytes(4)), ("D", bytes(5)), ("T", bytes(4)), ("S", b"\x00\x01\x00")]
)
def test_a_value_ends_with_its_table_whatever_follows(value: str, octets: bytes) -> None:
    """The octet that the table lacks follows it: as the empty string that follows the table."""
    field = table_field(b"k", value, octets)
    payload = bytes(5) + counted("table", field, len(field) - 1)
    error = arguments(DIALECT.commands_by_name["channel.open"], payload)
    assert isinstance(error, WireError)
    assert error.where == "options: field value"


def test_what_the_grammar_forbids_but_octets_can_carry() -> None:
    """Zero octets, text that is not UTF-8 and any names are read: whether they are legal is for others to say."""
    named = options(
        counted("table", table_field(b"\x00 bad", "I", bytes(4)) + table_field(b"", "I", bytes(4)))
    )
    assert [name for name, _ in named["options"]] == ["\x00 bad", ""]
    close = DIALECT.commands_by_name["connection.close"]
    octets = b"\x00\xc8" + counted("shortstr", b"\xff\x00")
    args = decode_arguments(close, octets)
    assert args["reply_text"] == "\udcff\x00"
    assert encode_arguments("connection.close", args) == octets
    assert isinstance(options(counted("table", table_field(b"x" * 255, "I", bytes(4))))["options"], Table)


def test_bits_without_a_name_are_passed_over() -> None:
    flow = DIALECT.commands_by_name["handle.flow"]
    assert decode_arguments(flow, b"\x00\x01\x00\x00\xfe")["flow_pause"] is False
    assert decode_arguments(flow, b"\x00\x01\x00\x00\xff")["flow_pause"] is True


def test_there_is_no_nesting() -> None:
    """None of the four types holds another value, so that no input can go deep."""
    inner = counted("table", table_field(b"k", "I", bytes(4)))
    assert (
        options(counted("table", table_field(b"k", "S", counted("longstr", inner))))["options"].get("k")
        == inner
    )
    many = counted("table", table_field(b"", "I", bytes(4)) * 10_000)
    assert len(options(many)["options"]) == 10_000
