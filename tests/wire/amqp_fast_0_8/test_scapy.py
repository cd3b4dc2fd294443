"""The scapy layers say what our codec says, and give back the octets they were made from."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.spec.amqp_fast_0_8 import DIALECT
from amqpspec.spec.commands import Command
from amqpspec.wire.amqp_fast_0_8.commands import decode_arguments
from amqpspec.wire.amqp_fast_0_8.frames import command_frame, encode_frame
from amqpspec.wire.amqp_fast_0_8.message import encode_message
from amqpspec.wire.amqp_fast_0_8.scapy_layers import layers_for
from amqpspec.wire.layers import raw
from amqpspec.wire.values import Table, Typed
from tests.wire.amqp_fast_0_8.golden import COMMANDS, GREETING, HEAD, HEAD_OCTETS, Golden
from tests.wire.amqp_fast_0_8.strategies import commands
from tests.wire.helpers import dissected as dissected_by

LAYERS = layers_for("amqp-fast-0-8")
dissected = partial(dissected_by, LAYERS)
STREAM = GREETING + b"".join(row.octets for row in COMMANDS)


def same(layer: Any, value: Any) -> bool:
    """Whether scapy read what we read."""
    if isinstance(value, Table):
        pairs = zip(layer.entries, value, strict=True)
        return all(
            entry.key == to_octets(name) and same_typed(entry, typed) for entry, (name, typed) in pairs
        )
    return bool(layer == to_octets(value))


def to_octets(value: Any) -> Any:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def same_typed(entry: Any, typed: Typed) -> bool:
    if typed.tag == "D":
        return bool(entry.tag == ord("D") and (entry.value.decimals, entry.value.mantissa) == typed.value)
    return bool(entry.tag == ord(typed.tag) and entry.value.value == typed.value)


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: f"{row.name}-{len(row.octets)}")
def test_commands_by_hand(row: Golden) -> None:
    packet = dissected(row.octets)
    assert (packet.code, packet.end, packet.fragment_) == (row.frame[2], 0xCE, row.fragment)
    assert type(packet.body) is LAYERS.commands[row.name]
    for key, value in decode_arguments(DIALECT.commands_by_name[row.name], row.payload).items():
        assert same(getattr(packet.body, key), value), key


@settings(max_examples=60)
@given(commands())
def test_commands(drawn: tuple[Command, dict[str, Any], bytes]) -> None:
    command, args, octets = drawn
    packet = LAYERS.commands[command.name](octets)
    packet.clear_cache()
    assert bytes(packet) == octets
    assert all(same(getattr(packet, key), value) for key, value in args.items())


def test_a_stream_with_fragments_between_frames() -> None:
    stream = LAYERS.stream(STREAM)
    assert [type(item) for item in stream.frames] == [LAYERS.protocol_header] + [LAYERS.frame] * len(COMMANDS)
    assert [item.fragment_ for item in stream.frames[1:]] == [row.fragment for row in COMMANDS]
    stream.clear_cache()
    assert bytes(stream) == STREAM


def test_what_is_not_complete_is_raw() -> None:
    send = command_frame("handle.send", handle_id=1, fragment=b"hello")
    stream = LAYERS.stream(send + send[:-1])
    assert [type(item) for item in stream.frames] == [LAYERS.frame, raw()]
    assert bytes(stream) == send + send[:-1]


def test_a_stream_is_whole_when_its_fragments_are() -> None:
    whole = LAYERS.stream.tcp_reassemble
    send = command_frame("handle.send", handle_id=1, fragment=b"hello")
    assert [whole(send[:end], {}, {}) is not None for end in range(len(send) + 1)] == (
        [True] + [False] * (len(send) - 1) + [True]
    )


def test_a_frame_can_be_made_of_fields() -> None:
    layers, message = LAYERS.commands, encode_message(b"hi", identifier="m")
    body = layers["handle.send"](handle_id=1, service_type=1, dest_name=b"q")
    assert bytes(LAYERS.frame(code=31, body=body, fragment_=message)) == command_frame(
        "handle.send", handle_id=1, service_type=1, dest_name="q", fragment=message
    )
    lying = layers["handle.send"](handle_id=1, fragment_size=9)
    assert bytes(LAYERS.frame(code=31, body=lying, size=5)) == command_frame(
        "handle.send", handle_id=1, fragment_size=9, size=5
    )
    string = LAYERS.entry(key=b"k", value=LAYERS.values["S"](value=b"v"))
    table = LAYERS.table(entries=[string])
    assert bytes(LAYERS.frame(code=22, body=layers["channel.commit"](options=table))) == command_frame(
        "channel.commit", options={"k": "v"}
    )
    assert bytes(LAYERS.message(identifier=b"m", body=b"hi")) == message


def test_the_message_head() -> None:
    packet = LAYERS.message(HEAD_OCTETS + b"hello")
    assert (packet.body, packet.persistent, packet.headers.entries[0].key) == (b"hello", 1, b"k")
    assert {key: getattr(packet, key) for key in ("body_size", "priority", "expiration")} == {
        key: HEAD[key] for key in ("body_size", "priority", "expiration")
    }
    packet.clear_cache()
    assert bytes(packet) == HEAD_OCTETS + b"hello"


def test_there_is_a_layer_for_each_row() -> None:
    assert set(LAYERS.commands) == set(DIALECT.commands_by_name)
    assert set(LAYERS.values) == {tag.tag for tag in DIALECT.table_tags}
    assert layers_for("amqp-fast-0-8") is LAYERS
    assert type(dissected(encode_frame(33, b"abc")).body) is raw()


@settings(max_examples=200)
@given(st.sampled_from(COMMANDS), st.data())
def test_bent_octets_stay_the_same(row: Golden, data: st.DataObject) -> None:
    at = data.draw(st.integers(3, len(row.octets) - 1))
    bent = row.octets[:at] + data.draw(st.binary(min_size=1, max_size=1)) + row.octets[at + 1 :]
    assert bytes(LAYERS.frame(bent)) == bent
    assert bytes(LAYERS.stream(bent)) == bent
