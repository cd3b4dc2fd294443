"""The scapy layers say what our codec says, and give back the octets they were made from."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.wire.amqp_1_0.boundaries import BOUNDARIES, Boundary
from amqpspec.wire.amqp_1_0.frames import EMPTY_FRAME, encode_frame, performative_frame
from amqpspec.wire.amqp_1_0.scapy_layers import layers_for
from tests.wire.amqp_1_0.golden import COMPOSITES, Golden
from tests.wire.amqp_1_0.test_golden import boundary_id
from tests.wire.helpers import dissected as dissected_by

LAYERS = layers_for("amqp-1-0")
dissected = partial(dissected_by, LAYERS)
FRAMED = [row for row in COMPOSITES if row.name in LAYERS.bodies]


@pytest.mark.parametrize("row", FRAMED, ids=lambda row: f"{row.name}-{len(row.octets)}")
def test_performatives_by_hand(row: Golden) -> None:
    octets = performative_frame(row.name, 3, extended=b"1234", payload=b"rest", **row.fields)
    packet = dissected(octets)
    assert (packet.size, packet.doff, packet.channel, packet.extended) == (len(octets), 3, 3, b"1234")
    assert (packet.body.name, packet.body.payload_octets) == (row.name, b"rest")


def test_fields_have_their_names() -> None:
    packet = dissected(
        performative_frame("attach", 0, name="l", handle=7, role="sender", target={"address": "q"})
    )
    body = packet.body
    assert (body.name_.value, body.handle.value, body.role.code) == (b"l", 7, 0x42)
    assert (body.target.name, body.target.address.value) == ("target", b"q")
    assert body.source.code == 0x40


def test_a_frame_can_be_made_of_fields() -> None:
    values = LAYERS.values
    body = LAYERS.bodies["detach"](handle=values["smalluint"](value=3), closed=values["true"]())
    assert bytes(LAYERS.frame(channel=2, body=body)) == performative_frame("detach", 2, handle=3, closed=True)
    assert bytes(LAYERS.frame()) == EMPTY_FRAME
    body = LAYERS.bodies["detach"](closed=values["true"](), payload_octets=b"x")
    assert bytes(LAYERS.frame(body=body)) == performative_frame("detach", closed=True, payload=b"x")
    lying = LAYERS.frame(size=5, doff=1, body=LAYERS.bodies["end"](list_code=0x45))
    assert bytes(lying) == performative_frame("end", size=5, doff=1)
    wide = LAYERS.bodies["end"](list_code=0xD0)
    assert bytes(LAYERS.frame(body=wide)) == performative_frame("end", encoding="list32")


@pytest.mark.parametrize("row", BOUNDARIES, ids=boundary_id)
def test_values_keep_their_octets(row: Boundary) -> None:
    octets = encode_frame(b"\x00\x53\x77" + row.octets)
    dissected(octets)
    if row.legal:
        packet = LAYERS.values[str(row.value.encoding)](row.octets)
        packet.clear_cache()
        assert bytes(packet) == row.octets


def test_a_stream_is_frames_one_after_the_other() -> None:
    octets = EMPTY_FRAME + performative_frame("end", 1) + EMPTY_FRAME
    stream = LAYERS.stream(octets)
    assert [frame.size for frame in stream.frames] == [8, 12, 8]
    assert bytes(stream) == octets


def test_there_is_a_layer_for_each_row() -> None:
    assert set(LAYERS.composites) == set(DIALECT.composites)
    assert set(LAYERS.values) == set(DIALECT.encodings)
    assert len(LAYERS.bodies) == 14


@settings(max_examples=200)
@given(st.sampled_from([row.octets for row in FRAMED]), st.data())
def test_bent_octets_stay_the_same(octets: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(3, len(octets) - 1))
    bent = octets[:at] + data.draw(st.binary(min_size=1, max_size=1)) + octets[at + 1 :]
    assert bytes(LAYERS.frame(encode_frame(bent))) == encode_frame(bent)
