"""Frames with a cycle octet, contents within contents, trace frames: octets written by hand from the 9.1 wire draft."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amqpspec.peer.events import Arrival, Garbled
from amqpspec.peer.methods.arrivals import Content, MethodArrived
from amqpspec.peer.methods.assembler import Assembler
from amqpspec.peer.methods.connection import Connection
from amqpspec.wire.methods.codec import codec_for
from tests.peer.fake import FakeTransport, context

CODEC = codec_for("amqp-wire-9-1")


def octets(kind: int, payload: str, channel: int = 1) -> bytes:
    """A frame from its payload in hex: type, cycle 0, channel, size, payload, 0xCE."""
    raw = bytes.fromhex(payload)
    head = bytes((kind, 0)) + channel.to_bytes(2, "big") + len(raw).to_bytes(4, "big")
    return head + raw + b"\xce"


def header(weight: int, size: int) -> bytes:
    return octets(2, f"003c {weight:04x} {size:016x} 0000")


def body(text: bytes) -> bytes:
    return octets(3, text.hex())


GET_OK = octets(1, "003c0047 0000000000000007 00 00 0171 00000000")
TREE = (
    header(2, 6) + header(1, 5) + header(0, 0) + body(b"child") + header(0, 2) + body(b"xy") + body(b"parent")
)


def arrivals(sent: bytes, step: int = 0) -> list[Arrival]:
    assembler = Assembler(CODEC)
    found: list[Arrival] = []
    for at in range(0, len(sent), step or len(sent)):
        assembler.feed(sent[at : at + (step or len(sent))])
        while (arrival := assembler.next()) is not None:
            found.append(arrival)
    return found


def connection() -> Connection:
    return Connection(replace(context(FakeTransport()), dialect="amqp-wire-9-1"))


@pytest.mark.parametrize("step", [0, 1, 5])
def test_contents_within_contents_are_put_together_as_a_tree(step: int) -> None:
    (got,) = arrivals(GET_OK + TREE, step)
    assert isinstance(got, MethodArrived)
    first, second = got.children
    assert (got.name, got.body, first.body, second.body) == ("basic.get-ok", b"parent", b"child", b"xy")
    (inner,) = first.children
    assert isinstance(inner, Content)
    assert (inner.body, inner.children, second.children) == (b"", (), ())


@pytest.mark.parametrize(
    ("frames", "expected"),
    [
        (header(1, 4) + body(b"body"), "1 contents within"),
        (header(0, 4) + header(0, 5), "a weight"),
        (header(1, 4) + header(0, 0) + header(0, 0), "a weight"),
        (header(0, 4) + body(b"fives"), "4 octets in all"),
    ],
)
def test_a_weight_that_does_not_match_is_told(frames: bytes, expected: str) -> None:
    (garbled,) = arrivals(GET_OK + frames)
    assert isinstance(garbled, Garbled)
    assert expected in garbled.error.expected


def test_a_trace_frame_on_channel_0_is_passed_over_and_no_other() -> None:
    assert arrivals(octets(7, "00ff", channel=0)) == []
    assert isinstance(arrivals(octets(7, "00ff"))[0], Garbled)


def test_frames_are_sent_with_any_cycle() -> None:
    made = connection()
    assert made.frame("heartbeat", b"", 0) == bytes.fromhex("08 00 0000 00000000 ce")
    assert made.frame("trace", b"\x01", 0, cycle=0x7F) == bytes.fromhex("07 7f 0000 00000001 01 ce")


def test_contents_within_contents_are_sent_between_header_and_body() -> None:
    made = connection()
    inner = made.content_frames(b"child", children=[made.content_frames()])
    tree = made.content_frames(b"parent", children=[inner, made.content_frames(b"xy")])
    assert tree == TREE
    assert made.content_frames(b"body", weight=3) == header(3, 4) + body(b"body")
