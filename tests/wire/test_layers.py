"""Scapy layers of any layout: what is left out is computed, streams are cut where frames end."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.spec.amqp_0_10.types import LAYOUT as SEGMENTED
from amqpspec.spec.dialects import UnknownDialectError, dialect_ids, load_dialect
from amqpspec.spec.framing import Layout
from amqpspec.wire.framing import frame_octets
from amqpspec.wire.layers import Layers, layers_of, raw
from tests.wire.test_framing import COMMAND, CONTROL, FAST, OPEN, PING, fast


def _raw_body(octets: bytes, frame: Any) -> Any:
    return raw()(octets)


@pytest.fixture(scope="module")
def fast_layers() -> Layers:
    return Layers("Fast", FAST, b"\x80\x01", _raw_body)


@pytest.fixture(scope="module")
def segmented() -> Layers:
    return Layers("Segmented", SEGMENTED, b"AMQP\x01\x01\x00\x0a", _raw_body)


def test_a_stream_of_fast(fast_layers: Layers) -> None:
    octets = b"\x80\x01" + PING + fast(0xFFFF) + OPEN
    stream = fast_layers.stream(octets)
    assert [type(frame) for frame in stream.frames] == [fast_layers.protocol_header, *[fast_layers.frame] * 3]
    assert [frame.command_ for frame in stream.frames[1:]] == [14, 0x11, 13]
    assert (stream.frames[2].size, stream.frames[2].long_size, len(stream.frames[2].body)) == (
        0xFFFF,
        0x10001,
        0xFFFF,
    )
    stream.clear_cache()
    assert bytes(stream) == octets


def test_frames_of_fast_are_built_with_what_was_left_out(fast_layers: Layers) -> None:
    frame, body = fast_layers.frame, raw()
    assert bytes(frame(command_=14)) == PING
    assert bytes(frame(command_=0x11, body=body(bytes(0xFFFC)))) == fast(0xFFFC)
    assert bytes(frame(command_=0x11, body=body(bytes(0xFFFD)))) == fast(0xFFFD)
    assert bytes(frame(command_=14, size=9, end=0)) == bytes.fromhex("0009 0e 00")
    assert bytes(frame(command_=14, size=0xFFFF, long_size=2)) == bytes.fromhex("ffff 00000002 0e ce")


def test_a_frame_that_begins_as_the_greeting_does_is_a_frame_behind_another(fast_layers: Layers) -> None:
    octets = PING + bytes.fromhex("8001 11") + bytes(0x7FFF) + b"\xce"
    stream = fast_layers.stream(octets)
    assert [frame.size for frame in stream.frames] == [2, 0x8001]


def test_a_stream_of_0_10(segmented: Layers) -> None:
    octets = b"AMQP\x01\x01\x00\x0a" + CONTROL + COMMAND + COMMAND[:9]
    stream = segmented.stream(octets)
    assert [type(frame).__name__ for frame in stream.frames] == [
        "SegmentedProtocolHeader", "SegmentedFrame", "SegmentedFrame", "Raw"
    ]  # fmt: skip
    assert [(frame.flags, frame.track, frame.channel) for frame in stream.frames[1:3]] == [
        (0x0F, 0, 0),
        (9, 1, 0x0203),
    ]
    stream.clear_cache()
    assert bytes(stream) == octets
    assert (
        bytes(segmented.frame(flags=9, type="command", track=1, channel=0x0203, body=raw()(b"\xff")))
        == COMMAND
    )


@pytest.mark.parametrize(
    ("layout", "octets", "expected"),
    [
        (FAST, "00", None), (FAST, "0002", 4), (FAST, "ffff0001", None), (FAST, "ffff00010000", 0x10006),
        (FAST, "0001", None), (SEGMENTED, "0f0000", None), (SEGMENTED, "0f00000c", 12), (SEGMENTED, "0f00000b", None),
    ],
)  # fmt: skip
def test_how_long_the_next_frame_is(layout: Layout, octets: str, expected: int | None) -> None:
    assert frame_octets(layout, bytes.fromhex(octets)) == expected


@pytest.mark.parametrize("dialect_id", dialect_ids())
def test_each_dialect_has_layers(dialect_id: str) -> None:
    assert layers_of(dialect_id) is layers_of(dialect_id)
    assert layers_of(dialect_id).protocol_header().magic == load_dialect(dialect_id).greeting.magic


def test_there_are_none_of_an_unknown_dialect() -> None:
    with pytest.raises(UnknownDialectError):
        layers_of("amqp-7")
