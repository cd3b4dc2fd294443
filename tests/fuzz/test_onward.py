"""What an input leaves behind, and what may be said next: read from octets and names alone."""

from __future__ import annotations

import pytest

from amqpspec.fuzz.states.follow_up import fresh_channel, handshake, has_no_excuse, rest, rung, traces
from amqpspec.fuzz.states.model import BROKEN, Say, Step, Values
from amqpspec.fuzz.states.ways import octets_of_step
from amqpspec.spec.dialects import load_dialect

METHODS, TYPES = "amqp-0-9-1", "amqp-1-0"
HEARTBEAT = bytes.fromhex("08000000000000ce")
EMPTY = bytes.fromhex("0000000802000000")


def said(dialect: str, name: str, channel: int = 1, **args: object) -> bytes:
    return octets_of_step(dialect, Step((Say(name, name, channel, tuple(args.items())),)), Values())


def method(name: str, channel: int = 1, **args: object) -> bytes:
    return said(METHODS, name, channel, **args)


@pytest.mark.parametrize(
    ("octets", "whole", "sound", "owes"),
    [
        (HEARTBEAT, True, True, False),
        (HEARTBEAT[:-1], False, False, True),
        (method("basic.qos"), True, True, True),
        (method("basic.ack"), True, True, False),
        (method("queue.declare", no_wait=True), True, True, False),
        (method("basic.qos", 0), True, False, True),
        (method("connection.open", 1), True, False, True),
        (method("basic.qos-ok"), True, False, False),
        (method("basic.publish"), True, False, False),
        (method("basic.qos") + b"\x01", False, False, True),
        (bytes.fromhex("09000100000000ce"), True, False, True),
        (bytes.fromhex("0100010000000200 14ce"), True, False, True),
        (method("basic.ack") * 17, True, False, False),
    ],
)
def test_traces_of_frames(octets: bytes, whole: bool, sound: bool, owes: bool) -> None:
    found = traces(METHODS, octets)
    assert (found.whole, found.sound, found.owes) == (whole, sound, owes)


@pytest.mark.parametrize(
    ("octets", "whole", "sound", "owes"),
    [
        (EMPTY, True, True, False),
        (EMPTY[:5], False, False, True),
        (said(TYPES, "flow", 0, incoming_window=1, next_outgoing_id=0, outgoing_window=1), True, True, False),
        (said(TYPES, "flow", 0, incoming_window=1, next_outgoing_id=0, outgoing_window=1, echo=True), True, True, True),
        (said(TYPES, "transfer", 0, handle=0), True, False, True),
        (said(TYPES, "open", 0, container_id="a", max_frame_size=4096), True, True, True),
        (bytes.fromhex("0000000803000000"), False, False, True),
    ],
)  # fmt: skip
def test_traces_of_performatives(octets: bytes, whole: bool, sound: bool, owes: bool) -> None:
    found = traces(TYPES, octets)
    assert (found.whole, found.sound, found.owes) == (whole, sound, owes)


def test_only_methods_move_the_connection() -> None:
    assert traces(METHODS, method("connection.close-ok", 0)).moves
    assert not traces(METHODS, method("channel.close-ok")).moves
    assert traces(TYPES, said(TYPES, "close", 0)).moves and not traces(TYPES, said(TYPES, "end", 0)).moves


def test_a_claim_needs_an_open_connection_and_nothing_that_excuses() -> None:
    qos = traces(METHODS, method("basic.qos"))
    assert has_no_excuse(METHODS, "channel", qos, ("basic.qos-ok",))
    assert not has_no_excuse(METHODS, "body", qos, ())
    assert not has_no_excuse(METHODS, "tune", qos, ())
    assert not has_no_excuse(METHODS, "channel", traces(METHODS, method("connection.tune-ok", 0)), ())
    assert not has_no_excuse(METHODS, "channel", BROKEN, ())


def test_an_input_that_the_handshake_takes_is_gone_on_behind() -> None:
    start_ok = traces(METHODS, method("connection.start-ok", 0, mechanism="X"))
    answers = ("connection.tune",)
    assert [step.words for step in rest(METHODS, "start", start_ok, answers) or ()] == [
        "C:TUNE-OK C:OPEN S:CONNECTION.OPEN-OK"
    ]
    assert has_no_excuse(METHODS, "start", start_ok, answers)
    assert rest(METHODS, "start", start_ok, ()) is None
    assert not has_no_excuse(METHODS, "header", start_ok, ("connection.start",))
    assert rest(METHODS, "header", start_ok, ("connection.start",)) is None


def test_behind_a_close_nothing_may_be_said() -> None:
    assert rest(METHODS, "closing", BROKEN, ()) is None
    assert rest(METHODS, "channel", traces(METHODS, method("connection.close", 0)), ()) is None
    assert rest(TYPES, "session", traces(TYPES, said(TYPES, "close", 0)), ()) is None


def test_rungs_of_both_families() -> None:
    assert [rung(METHODS, (name,)) for name in ("connection.start", "connection.tune", "connection.open-ok", "x")] == [
        1, 2, 3, 0,
    ]  # fmt: skip
    assert rung(TYPES, ("header", "sasl-mechanisms", "sasl-outcome")) == 2
    assert len(handshake(METHODS, 1)) == 2 and handshake(METHODS, 3) == ()


def test_a_header_of_ones_own_is_whole() -> None:
    assert traces(METHODS, load_dialect(METHODS).protocol_header).names == ("protocol-header",)
    assert not traces(METHODS, b"AMQP\x00\x00\x09\x02").whole


def test_a_fresh_channel_is_none_that_was_used() -> None:
    assert fresh_channel(frozenset({0, 1, 2}), 2047) == 3
    assert fresh_channel(frozenset({0, 1}), 1) is None
