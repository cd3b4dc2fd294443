"""After an end in its name, a broker of AMQP 1.0 that does not know of it sends nothing that contradicts it."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.run.case import load_suite
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.suites import clients_1_0
from amqpspec.wire.amqp_1_0.frames import encode_frame, performative_frame
from amqpspec.wire.hostility import Passing

_FLOW: dict[str, Any] = {"incoming_window": 1, "next_outgoing_id": 0, "outgoing_window": 1}
_ATTACH: dict[str, Any] = {"name": "link", "role": False}


def passing(id: str) -> Passing:
    load_suite(clients_1_0.DIALECT)
    found = provocations_of(clients_1_0.DIALECT)[id].passing
    assert found is not None
    return found


def test_a_link_that_was_detached_is_silent_until_it_is_attached_again() -> None:
    passes = passing("client.hostile.detach.plain.flow")(performative_frame("flow", 1, handle=2, **_FLOW))
    answer = performative_frame("detach", 1, handle=2, closed=True)
    silent = (
        answer,
        performative_frame("flow", 1, handle=2, **_FLOW),
        performative_frame("transfer", 1, handle=2, delivery_id=0, delivery_tag=b"t"),
    )
    others = (
        performative_frame("detach", 1, handle=3, closed=True),
        performative_frame("detach", 0, handle=2, closed=True),
        performative_frame("flow", 1, **_FLOW),
        encode_frame(b"", 1),
    )
    assert not any(passes(frame) for frame in silent) and all(passes(frame) for frame in others)
    assert passes(performative_frame("attach", 1, handle=3, **_ATTACH)) and not passes(answer)
    assert passes(performative_frame("attach", 1, handle=2, **_ATTACH)) and passes(answer)


def test_a_session_that_was_ended_is_silent_until_it_begins_again() -> None:
    passes = passing("client.hostile.end.plain.attach")(performative_frame("attach", 1, handle=0, **_ATTACH))
    answer = performative_frame("end", 1)
    assert not passes(answer) and not passes(performative_frame("flow", 1, handle=0, **_FLOW))
    assert passes(performative_frame("end", 0)) and passes(encode_frame(b"", 0))
    begin = performative_frame(
        "begin", 1, remote_channel=1, next_outgoing_id=0, incoming_window=1, outgoing_window=1
    )
    assert passes(begin) and passes(answer)


@pytest.mark.parametrize("frame", [performative_frame("close", 0), encode_frame(b"", 0)])
def test_behind_a_close_nothing_is_sent(frame: bytes) -> None:
    assert not passing("client.hostile.close.plain.begin")(performative_frame("begin", 0))(frame)
