"""Whatever a command holds returns as it was: values and octets, which are put together beside the codec."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command
from amqpspec.wire.amqp_fast_0_8.commands import decode_arguments, encode_arguments
from amqpspec.wire.amqp_fast_0_8.frames import CommandFrame, CommandReader, command_frame
from amqpspec.wire.amqp_fast_0_8.message import cut, decode_opening, encode_head
from tests.wire.amqp_fast_0_8.strategies import commands, fields, streams


@given(commands())
def test_commands(drawn: tuple[Command, dict[str, Any], bytes]) -> None:
    command, args, octets = drawn
    assert encode_arguments(command.name, args) == octets
    assert decode_arguments(command, octets) == args
    by_name = {field.name: args[field.key] for field in command.fields}
    assert encode_arguments(command.name, by_name) == octets


@given(fields(DIALECT.message_head), st.binary(max_size=40))
def test_message_heads(drawn: tuple[dict[str, Any], bytes], body: bytes) -> None:
    head, octets = drawn
    assert encode_head(**head) == octets
    assert decode_opening(octets + body) == (head, body)


@given(streams(), st.data())
def test_streams_in_any_pieces(items: list[tuple[str, dict[str, Any], bytes]], data: st.DataObject) -> None:
    octets = b"".join(command_frame(name, fragment=fragment, **args) for name, args, fragment in items)
    reader, read, at = CommandReader(), [], 0
    while at < len(octets):
        size = data.draw(st.integers(1, len(octets) - at))
        reader.feed(octets[at : at + size])
        at += size
        while (item := reader.next()) is not None:
            assert isinstance(item, CommandFrame)
            read.append((item.name, item.args, item.fragment))
    assert read == items
    assert (reader.offset, reader.pending_octets) == (len(octets), 0)


@given(st.binary(max_size=100), st.integers(1, 40))
def test_fragments_put_together_are_the_message(message: bytes, most_octets: int) -> None:
    pieces = list(cut(message, most_octets))
    assert b"".join(piece for piece, _ in pieces) == message
    assert [partial for _, partial in pieces] == [True] * (len(pieces) - 1) + [False]
    assert all(len(piece) == most_octets for piece, partial in pieces if partial)
    assert len(pieces[-1][0]) <= most_octets
