"""Octets become arrivals: contents per channel, in whatever pieces they come, and reports of broken grammar."""

from __future__ import annotations

import pytest

from amqpspec.peer.events import Arrival, Garbled, HeaderArrived
from amqpspec.peer.methods.arrivals import HeartbeatArrived, MethodArrived
from amqpspec.peer.methods.assembler import Assembler
from tests.peer.fake import CODEC, HEARTBEAT, body, deliver, frame, header, method


def arrivals(octets: bytes, step: int = 0, assembler: Assembler | None = None) -> list[Arrival]:
    assembler = assembler or Assembler(CODEC)
    step = step or len(octets)
    found: list[Arrival] = []
    for at in range(0, len(octets), step):
        assembler.feed(octets[at : at + step])
        while (arrival := assembler.next()) is not None:
            found.append(arrival)
    return found


def only(octets: bytes, assembler: Assembler | None = None) -> Arrival:
    (arrival,) = arrivals(octets, assembler=assembler)
    return arrival


GET = method("basic.get-ok", 2, delivery_tag=7, exchange="", routing_key="q", message_count=0)


@pytest.mark.parametrize("step", [0, 1, 7])
def test_contents_of_channels_are_put_together_however_they_interleave(step: int) -> None:
    first = method("basic.deliver", 1, consumer_tag="c", delivery_tag=1, exchange="", routing_key="q")
    octets = (
        first
        + GET
        + header(6, 1, priority=3)
        + header(2, 2)
        + body(b"abc", 1)
        + body(b"xy", 2)
        + body(b"def", 1)
    )
    two, one = arrivals(octets, step)
    assert isinstance(one, MethodArrived) and isinstance(two, MethodArrived)
    assert (one.channel, one.body, one.body_frames, one.properties) == (1, b"abcdef", 2, {"priority": 3})
    assert (two.channel, two.body, two.body_frames, two.name) == (2, b"xy", 1, "basic.get-ok")


def test_a_method_is_not_held_up_by_a_content_on_another_channel() -> None:
    start = method("basic.deliver", 1, consumer_tag="c", delivery_tag=1, exchange="", routing_key="q")
    names = [
        a.name for a in arrivals(start + method("queue.purge-ok", 2, message_count=0)) if hasattr(a, "name")
    ]
    assert names == ["queue.purge-ok"]


def test_an_empty_body_needs_no_body_frame() -> None:
    arrival = only(deliver(b""))
    assert isinstance(arrival, MethodArrived)
    assert (arrival.body, arrival.body_frames, arrival["delivery_tag"]) == (b"", 0, 1)


def test_a_method_without_content_has_no_properties() -> None:
    arrival = only(method("channel.open-ok"))
    assert isinstance(arrival, MethodArrived)
    assert (arrival.properties, arrival.header) == ({}, None)


def test_heartbeats_and_protocol_headers_arrive() -> None:
    assert isinstance(only(HEARTBEAT), HeartbeatArrived)
    found = only(b"AMQP\x00\x00\x09\x01")
    assert isinstance(found, HeaderArrived)
    assert found.describe(CODEC.dialect) == str(found.header)


def test_a_body_beyond_the_bound_is_counted_but_not_kept() -> None:
    arrival = only(deliver(b"x" * 100), Assembler(CODEC, max_body_octets=10))
    assert isinstance(arrival, MethodArrived)
    assert (arrival.body, arrival.header and arrival.header.body_size_octets) == (b"x" * 10, 100)


PUBLISHED = method("basic.deliver", 1, consumer_tag="c", delivery_tag=1, exchange="", routing_key="q")


@pytest.mark.parametrize(
    ("octets", "said"),
    [
        (PUBLISHED + method("channel.open-ok"), "expected the rest of basic.deliver"),
        (header(1), "expected a method with content before it"),
        (PUBLISHED + header(5) + header(5), "expected a method with content before it"),
        (PUBLISHED + header(5, class_id=85), "expected class 60"),
        (body(b"x"), "expected a content header before it"),
        (PUBLISHED + body(b"x"), "expected a content header before it"),
        (PUBLISHED + header(2) + body(b"xyz"), "expected 2 octets in all"),
        (frame(5, b"?"), "type 5, expected one of"),
        (frame("method", b"\x00\x0a"), "frame of server→client"),
        (b"\x01\x00\x00\x00\x00\x00\x01x\x00", "expected 0xCE"),
    ],
)
def test_what_breaks_the_grammar_is_told_with_its_place(octets: bytes, said: str) -> None:
    last = arrivals(octets)[-1]
    assert isinstance(last, Garbled)
    text = last.describe(CODEC.dialect)
    assert text.startswith("undecodable octets: ")
    assert said in text


def test_what_came_before_the_garbage_is_handed_out_first() -> None:
    found = arrivals(
        method("channel.open-ok") + b"\x01\x00\x00\x00\x00\x00\x01x\x00" + method("channel.open-ok")
    )
    assert [type(a) for a in found] == [MethodArrived, Garbled]


def test_the_agreed_frame_size_bounds_what_is_read_with_some_slack() -> None:
    assembler = Assembler(CODEC)
    assembler.agree(4096)
    assert assembler.reader.max_size == 8192
    assert isinstance(only(frame("body", b"x" * 9000), assembler), Garbled)
    assembler.agree(0)
    assert assembler.reader.max_size == 16 << 20


def test_frames_are_remembered_with_the_largest_one() -> None:
    assembler = Assembler(CODEC)
    arrivals(deliver(b"x" * 50), assembler=assembler)
    assert assembler.dialect is CODEC.dialect
    assert len(assembler.frames) == 3
    assert assembler.largest_frame_octets == max(len(f.payload) for f in assembler.frames) + 8
