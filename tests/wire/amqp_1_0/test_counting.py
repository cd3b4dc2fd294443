"""Flows that are counted from the number of the target's first transfer."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.wire.amqp_1_0.counting import with_next_incoming_id
from amqpspec.wire.amqp_1_0.frames import TypedFrame, TypedReader, performative_frame

WINDOWS: dict[str, Any] = {"incoming_window": 2048, "next_outgoing_id": 0, "outgoing_window": 2048}
LONG: dict[str, Any] = {"handle": 0, "properties": {"a" * 200: 1}}


def flow(number: int | None, **more: Any) -> bytes:
    return performative_frame("flow", 3, next_incoming_id=number, **WINDOWS, **more)


@pytest.mark.parametrize("number", [1, 4_294_967_292, 2**32 + 5])
@pytest.mark.parametrize("more", [{}, LONG])
def test_a_flow_that_counts_from_0_is_counted_from_the_number(number: int, more: dict[str, Any]) -> None:
    octets = flow(1 << 24, **more).replace(b"\x70\x01\0\0\0", b"\x70\0\0\0\0", 1)
    counted = with_next_incoming_id(octets * 2, number)
    assert len(counted) == 2 * len(octets)
    assert read(counted) == [number % 2**32] * 2
    assert read(octets * 2) == [0, 0]


def read(octets: bytes) -> list[object]:
    """The next-incoming-id of each flow."""
    reader, found = TypedReader(max_frame_octets=1 << 16), []
    reader.feed(octets)
    while isinstance(frame := reader.next(), TypedFrame):
        assert frame.performative is not None
        found.append(frame.performative["next_incoming_id"])
    return found


@pytest.mark.parametrize(
    "octets",
    [
        flow(1 << 24), flow(None), b"",
        performative_frame("transfer", 0, handle=0, payload=b"\x70\0\0\0\0"),
    ],
)  # fmt: skip
def test_everything_else_is_unchanged(octets: bytes) -> None:
    assert with_next_incoming_id(octets, 7) == octets
