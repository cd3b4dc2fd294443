"""Whatever is drawn returns as it was: values and octets, which are put together beside the codec."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.spec.amqp_0_10 import DIALECT
from amqpspec.spec.assemblies import Control
from amqpspec.wire.amqp_0_10.frames import Frame, cut, encode_frame
from amqpspec.wire.amqp_0_10.instructions import (
    BODY,
    HEADER,
    decode_header,
    decode_instruction,
    encode_header,
    encode_instruction,
    kind_of,
)
from amqpspec.wire.amqp_0_10.reader import FrameReader
from amqpspec.wire.amqp_0_10.reading import decode, read_value
from amqpspec.wire.amqp_0_10.values import Value
from amqpspec.wire.amqp_0_10.writing import encode, encode_value
from tests.wire.amqp_0_10.strategies import COMPOUNDS, SIMPLE, VALUES, instructions, struct32s, structs

FEW = settings(max_examples=20)


@pytest.mark.parametrize("name", sorted(SIMPLE.keys() | COMPOUNDS.keys() | {"struct32"}))
@FEW
@given(st.data())
def test_types(name: str, data: st.DataObject) -> None:
    value, octets = data.draw(({**SIMPLE, **COMPOUNDS, "struct32": struct32s()})[name])
    assert encode(name, value) == octets
    assert decode(name, octets + b"\xff") == (value, len(octets))


def test_every_type_is_drawn() -> None:
    assert SIMPLE.keys() | COMPOUNDS.keys() | {"struct32"} == DIALECT.types_by_name.keys()


@given(VALUES)
def test_values_with_their_codes(drawn: tuple[Value, bytes]) -> None:
    value, octets = drawn
    assert encode_value(value) == octets
    assert read_value(octets, 0, len(octets), 0) == (value, len(octets))


@pytest.mark.parametrize("name", sorted(DIALECT.structs))
@FEW
@given(st.data())
def test_structs(name: str, data: st.DataObject) -> None:
    value, octets = data.draw(structs(DIALECT.structs[name]))
    assert encode(name, value) == octets
    assert decode(name, octets) == (value, len(octets))


@settings(max_examples=200)
@given(instructions())
def test_controls_and_commands(drawn: tuple[Control, dict[str, Any], bool, bytes]) -> None:
    row, args, sync, octets = drawn
    assert encode_instruction(row.name, args, sync=sync) == octets
    read = decode_instruction(kind_of(row.name), octets)
    assert (read.row, read.args, read.sync, read.error) == (row, args, sync, None)


@FEW
@given(st.lists(struct32s(), max_size=4))
def test_headers(entries: list[tuple[Any, bytes]]) -> None:
    structs_drawn = tuple(value for value, _ in entries)
    octets = b"".join(octets for _, octets in entries)
    assert encode_header(structs_drawn) == octets
    assert decode_header(octets) == structs_drawn


@FEW
@given(
    st.lists(st.tuples(instructions(), st.integers(0, 3), st.integers(13, 60)), min_size=1, max_size=4),
    st.data(),
)
def test_assemblies_on_several_channels_in_any_pieces(drawn: list[Any], data: st.DataObject) -> None:
    """Frames of assemblies on distinct channels and tracks in any order among each other, and octets in any pieces."""
    queues, expected = {}, {}
    for (row, args, _, octets), channel, most in drawn:
        key = channel, 0 if row.name in DIALECT.controls else 1
        segments = [(kind_of(row.name), octets)]
        if key[1]:
            segments += [(HEADER, b""), (BODY, octets)]
        queues[key] = list(cut(segments, channel=channel, max_frame_octets=most))
        expected[key] = row.name, args, octets if key[1] else None
    sent = b""
    while any(queues.values()):
        sent += queues[data.draw(st.sampled_from([key for key, frames in queues.items() if frames]))].pop(0)
    reader, found, at = FrameReader(), {}, 0
    while at < len(sent):
        size = data.draw(st.integers(1, max(1, len(sent) - at)))
        reader.feed(sent[at : at + size])
        at += size
        while (frame := reader.next()) is not None:
            assert isinstance(frame, Frame)
            assert frame.error is None
            if frame.assembly is not None:
                assembly = frame.assembly
                assert assembly.instruction is not None
                found[frame.channel, frame.track] = assembly.name, assembly.instruction.args, assembly.body
    assert found == expected
    assert (reader.offset, reader.pending_octets, reader.assembler.held_octets) == (len(sent), 0, 0)


HEADERS = st.tuples(
    st.integers(0, 255), st.integers(0, 255), st.integers(0, 255), st.integers(0, 255), st.integers(0, 65_535),
    st.integers(0, 2**32 - 1), st.binary(max_size=50),
)  # fmt: skip


@given(HEADERS)
def test_frame_headers(drawn: tuple[int, int, int, int, int, int, bytes]) -> None:
    flags, kind, reserved_1, track, channel, reserved_2, payload = drawn
    octets = encode_frame(
        payload,
        type=kind,
        flags=flags,
        channel=channel,
        track=track,
        reserved_1=reserved_1,
        reserved_2=reserved_2,
    )
    reader = FrameReader(header_allowed=False)
    reader.feed(octets)
    frame = reader.next()
    assert isinstance(frame, Frame)
    assert frame[:7] == drawn
