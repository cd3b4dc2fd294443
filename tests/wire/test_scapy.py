"""The scapy layers say what our codec says, and give back the octets they were made from."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amqpspec.wire.methods.codec import Codec, ContentHeader, codec_for
from amqpspec.wire.methods.frames import Frame, encode_frame
from amqpspec.wire.methods.malformed import method_payload, table, table_field
from amqpspec.wire.methods.primitives import to_octets
from amqpspec.wire.methods.scapy_layers import AmqpLayers, layers_for
from amqpspec.wire.values import Table, Typed
from tests.wire.helpers import dissected
from tests.wire.strategies import CODECS, DIALECTS, calls, content_headers

EACH_CODEC = pytest.mark.parametrize("codec", CODECS, ids=DIALECTS)


@pytest.fixture
def layers(codec: Codec) -> AmqpLayers:
    return layers_for(codec.dialect.id)


def framed(codec: Codec, type_code: int, payload: bytes) -> bytes:
    return encode_frame(codec.dialect.layout, Frame(type_code, 1, payload))


def same(layer: Any, value: Any) -> bool:
    """Whether scapy read what we read."""
    if isinstance(value, Table):
        pairs = zip(layer.entries, value, strict=True)
        return all(
            entry.key == to_octets(name) and same_typed(entry, typed) for entry, (name, typed) in pairs
        )
    if isinstance(value, str | bytes):
        return bool(layer == to_octets(value))
    return bool(layer == value)


def same_typed(entry: Any, typed: Typed) -> bool:
    tag, value = typed
    if entry.tag != ord(tag):
        return False
    if tag == "D":
        return bool((entry.value.scale, entry.value.unscaled) == value)
    if isinstance(value, list):
        return all(same_typed(*pair) for pair in zip(entry.value.entries, value, strict=True))
    return value is None or same(entry.value if isinstance(value, Table) else entry.value.value, value)


@EACH_CODEC
@settings(max_examples=60)
@given(data=st.data())
def test_methods(codec: Codec, data: st.DataObject) -> None:
    layers = layers_for(codec.dialect.id)
    name, args = data.draw(calls(codec.dialect.id))
    packet = dissected(layers, framed(codec, 1, codec.encode_method(name, args)))
    assert (packet.type, packet.channel, packet.end) == (1, 1, 0xCE)
    assert type(packet.body) is layers.methods[name]
    for key, value in args.items():
        assert same(getattr(packet.body, "global_" if key == "global" else key), value), key


@EACH_CODEC
@settings(max_examples=40)
@given(data=st.data())
def test_content_headers(codec: Codec, data: st.DataObject) -> None:
    layers = layers_for(codec.dialect.id)
    header = data.draw(content_headers(codec.dialect, codec.dialect.classes_by_name["basic"]))
    packet = dissected(layers, framed(codec, 2, codec.encode_header(header)))
    assert type(packet.body) is layers.headers["basic"]
    assert (packet.body.weight, packet.body.body_size_octets) == (header.weight, header.body_size_octets)
    for key, value in header.properties.items():
        assert same(getattr(packet.body, key), value), key
        assert getattr(packet.body.flags, key)


def test_frames_are_built_with_what_was_left_out(codec: Codec, layers: AmqpLayers) -> None:
    body = layers.methods["queue.declare"](queue=b"q", durable=1, no_wait=1)
    expected = codec.encode_method("queue.declare", {"queue": "q", "durable": True, "no_wait": True})
    assert bytes(layers.frame(channel=1, body=body)) == framed(codec, 1, expected)
    entry = layers.entry(key=b"x", value=layers.values["S"](value=b"y"))
    body = layers.methods["queue.declare"](arguments=layers.table(entries=[entry]))
    expected = codec.encode_method("queue.declare", {"arguments": {"x": "y"}})
    assert bytes(layers.frame(channel=1, body=body)) == framed(codec, 1, expected)
    header = layers.headers["basic"](flags="priority", priority=5, body_size_octets=3)
    expected = codec.encode_header(ContentHeader(60, 3, {"priority": 5}))
    assert bytes(layers.frame(type="header", channel=1, body=header)) == framed(codec, 2, expected)


def test_a_lying_size_is_one_field(codec: Codec, layers: AmqpLayers) -> None:
    frame = layers.frame(channel=1, size=99, body=layers.methods["channel.open"]())
    assert bytes(frame) == encode_frame(
        codec.dialect.layout, Frame(1, 1, codec.encode_method("channel.open", {})), size=99
    )


def test_frames_one_after_the_other(codec: Codec, layers: AmqpLayers) -> None:
    octets = framed(codec, 8, b"") + framed(codec, 3, b"body") + framed(codec, 1, b"\0\x0a\0\x33")
    packet = layers.stream(octets)
    assert [frame.type for frame in packet.frames] == [8, 3, 1]
    assert bytes(packet.frames[1].body) == b"body"
    assert bytes(packet) == octets


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\0",
        method_payload(1, 1, b"?"),
        method_payload(50, 10, b"\0\0\x01q\0" + table(table_field(b"k", "?", b"xyz"))),
        method_payload(50, 10, b"\0\0\x09q"),
    ],
)
@pytest.mark.parametrize("type_code", [1, 2, 3, 200])
def test_what_cannot_be_dissected_keeps_its_octets(
    codec: Codec, layers: AmqpLayers, type_code: int, payload: bytes
) -> None:
    octets = framed(codec, type_code, payload)
    assert bytes(layers.frame(octets)) == octets


def test_many_entries(codec: Codec, layers: AmqpLayers) -> None:
    args = {"arguments": {f"k{n}": n for n in range(500)}}
    packet = dissected(layers, framed(codec, 1, codec.encode_method("queue.declare", args)))
    assert len(packet.body.arguments.entries) == 500


def test_scapy_is_imported_when_it_is_needed() -> None:
    program = (
        "import sys, amqpspec.wire.methods.scapy_layers, amqpspec.wire.capture; print('scapy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_layers_are_made_once() -> None:
    assert layers_for("amqp-0-9-1") is layers_for("amqp-0-9-1")
    assert layers_for("amqp-0-9-1") is not layers_for("rabbitmq-0-9-1")
    assert codec_for("amqp-0-9-1") is codec_for("amqp-0-9-1")
