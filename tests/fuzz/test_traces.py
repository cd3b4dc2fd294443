"""What inputs of many frames leave behind: the same as their frames one by one."""

from __future__ import annotations

import pytest

from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.states.follow_up import traces
from amqpspec.fuzz.states.model import BROKEN
from amqpspec.wire.amqp_1_0.frames import performative_frame

HEADER = b"AMQP\x00\x01\x00\x00"
BEGIN = performative_frame("begin", 3, next_outgoing_id=0, incoming_window=1, outgoing_window=1)
FLOW = performative_frame("flow", 4, incoming_window=1, next_outgoing_id=0, outgoing_window=1)


def test_frames_that_are_repeated_count_each_time() -> None:
    found = traces("amqp-1-0", HEADER + BEGIN + FLOW * 3 + BEGIN)
    assert found.names == ("header", "begin", "flow", "flow", "flow", "begin")
    assert (found.whole, found.channels, found.owes) == (True, frozenset({0, 3, 4}), True)
    assert not traces("amqp-1-0", FLOW * 3).owes


@pytest.mark.parametrize("octets", [b"", BEGIN[:-1], BEGIN + b"AMQ", BEGIN + b"\0\0\0\1" + FLOW, HEADER[:5]])
def test_what_ends_inside_a_frame_is_broken(octets: bytes) -> None:
    assert traces("amqp-1-0", octets) == BROKEN


def test_a_method_on_another_channel_is_not_that_of_the_first_one() -> None:
    cell = next(cell for cell in cells("amqp-0-9-1") if cell.role == "many.channels")
    found = max((traces("amqp-0-9-1", item.octets) for item in cell), key=lambda one: len(one.names))
    assert set(found.names) == {"channel.open"} and len(found.channels) == len(found.names) > 100
