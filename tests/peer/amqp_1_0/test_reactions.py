"""What a target does about a breach, and what that amounts to."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.peer.amqp_1_0.arrivals import refusal_of
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.events import Passed, Reaction
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.transport import StreamEnd
from tests.peer.amqp_1_0.fake import (
    ATTACHED_SENDER,
    attached,
    begun,
    credit,
    error,
    names,
    opened,
    peer,
    says,
)

REJECTED = encode_composite("rejected", error=error("amqp:not-allowed"))


def told(reaction: Reaction, made: Peer) -> str:
    return reaction.describe(made.dialect)


def test_a_close_with_an_error_is_refusal_of_the_connection() -> None:
    made, _ = peer(opened() + begun(), says("close", error=error("amqp:decode-error")), StreamEnd.FIN)
    made.begin()
    reaction = made.reaction()
    assert reaction.refusal == Refusal(Scope.CONNECTION, "amqp:decode-error")
    assert told(reaction, made) == "close amqp:decode-error ('no'), then connection ended (FIN)"


def test_a_close_without_an_error_is_none_and_is_told() -> None:
    made, _ = peer(opened() + begun(), says("close"), StreamEnd.FIN)
    made.begin()
    reaction = made.reaction()
    assert reaction.refusal is None and reaction.closing is not None
    assert told(reaction, made) == "close without error, then connection ended (FIN)"


def test_an_end_of_the_session_is_a_refusal_and_one_of_another_is_not() -> None:
    made, _ = peer(
        opened() + begun(0, 0) + begun(1, 1),
        says("end", 1, error=error()) + says("end", 0, error=error("amqp:session:errant-link")),
    )
    made.begin(0)
    made.begin(1)
    assert made.reaction(0).refusal == Refusal(Scope.SESSION, "amqp:session:errant-link")
    assert made.expect("end", channel=1).condition == "amqp:internal-error"


def test_a_detach_refuses_the_link_that_is_meant() -> None:
    made, _ = peer(
        ATTACHED_SENDER + attached("m", "receiver", 1),
        says("detach", handle=1, error=error()) + says("detach", handle=0, error=error("amqp:not-allowed")),
    )
    link, _ = made.sender("q", name="l"), made.sender("q", name="m")
    assert made.reaction(link=link).refusal == Refusal(Scope.LINK, "amqp:not-allowed")


def test_a_refused_attach_is_a_refusal_of_the_link() -> None:
    made, _ = peer(
        opened() + begun(),
        attached("l", "receiver", target=None),
        says("detach", handle=0, error=error("amqp:not-found")),
    )
    made.begin()
    made.send("attach", name="l", role="sender", source={}, target={"address": "x"})
    reaction = made.reaction()
    assert reaction.refusal == Refusal(Scope.LINK, "amqp:not-found")
    assert told(reaction, made) == "attach on channel 0, then detach amqp:not-found ('no')"


def test_a_rejected_delivery_counts_unless_more_is_refused() -> None:
    rejected = says("disposition", role="receiver", first=0, settled=True, state=REJECTED)
    answer = attached("amqpspec.barrier.1", "receiver", 1) + says("detach", handle=1)
    made, _ = peer(ATTACHED_SENDER + credit(1), rejected, None, answer)
    sent = made.transfer(made.sender("q", name="l"), b"x")
    reaction = made.reaction(delivery=sent)
    assert reaction.refusal == Refusal(Scope.DELIVERY, "amqp:not-allowed")
    assert isinstance(reaction.arrivals[-1], Passed)


def test_the_widest_refusal_counts() -> None:
    made, _ = peer(
        ATTACHED_SENDER + credit(1),
        says("disposition", role="receiver", first=0, settled=True, state=REJECTED),
        says("end", error=error("amqp:session:errant-link")),
    )
    made.transfer(made.sender("q", name="l"), b"x")
    assert made.reaction().refusal == Refusal(Scope.SESSION, "amqp:session:errant-link")


def test_silence_is_proven_by_a_link_in_the_same_session() -> None:
    answer = attached("amqpspec.barrier.1", "receiver", 1)
    made, transport = peer(ATTACHED_SENDER, None, answer, says("detach", handle=1))
    made.sender("q", name="l")
    reaction = made.reaction()
    assert reaction.refusal is None and reaction.closing is None
    assert told(reaction, made) == "no refusal: attach after it was answered"
    assert names(transport)[-2:] == ["attach", "detach"]


def test_where_no_session_stands_another_one_is_begun() -> None:
    made, transport = peer(opened(), None, begun(0, 0), says("end", 0))
    made.open_connection()
    made.send("flow", 9)
    assert told(made.reaction(9), made) == "no refusal: begin after it was answered"
    assert names(transport)[-2:] == ["begin", "end"]


def test_a_barrier_that_is_not_answered_is_no_proof() -> None:
    made, _ = peer(ATTACHED_SENDER, None)
    made.sender("q", name="l")
    assert told(made.reaction(), made) == "nothing within 5.0 s"


def test_a_header_and_the_end() -> None:
    made, _ = peer(HEADERS["amqp"], StreamEnd.RST)
    made.send_header(b"AMQP\x00\x01\x01\x00")
    assert made.reaction(barrier=False).refusal == Refusal(Scope.HEADER)
    made, _ = peer(StreamEnd.FIN)
    made.send_header(b"AMQP\x00\x01\x01\x00")
    assert made.reaction(barrier=False).refusal == Refusal(Scope.SOCKET)


def test_a_refusal_that_came_during_an_earlier_wait_is_found() -> None:
    made, _ = peer(opened() + begun() + begun(1, 1), says("end", 1, error=error()), says("flow", **_WINDOWS))
    made.begin()
    made.begin(1)
    made.expect("flow")
    assert made.reaction(1).refusal == Refusal(Scope.SESSION, "amqp:internal-error")


def test_a_close_that_came_before_is_found() -> None:
    made, _ = peer(opened() + begun(), says("close", error=error()), StreamEnd.FIN)
    made.begin()
    made.arrival("flow")
    assert made.reaction().refusal == Refusal(Scope.CONNECTION, "amqp:internal-error")


_WINDOWS: dict[str, Any] = {"incoming_window": 1, "next_outgoing_id": 0, "outgoing_window": 1}


def test_nothing_amounts_to_nothing() -> None:
    assert refusal_of(()) == (None, None)


@pytest.mark.parametrize(
    ("octets", "kind", "refusal"),
    [
        (says("close", error=error("amqp:decode-error")), "close amqp:decode-error",
         Refusal(Scope.CONNECTION, "amqp:decode-error")),
        (says("close"), "close without error", None),
        (says("end", 0, error=error()), "end amqp:internal-error", Refusal(Scope.SESSION, "amqp:internal-error")),
        (says("detach", 0, handle=0, error=error()), "detach amqp:internal-error",
         Refusal(Scope.LINK, "amqp:internal-error")),
        (says("disposition", 0, role=True, first=0, state=REJECTED), "disposition rejected amqp:not-allowed",
         Refusal(Scope.DELIVERY, "amqp:not-allowed")),
        (says("disposition", 0, role=True, first=0), "disposition", None),
        (says("transfer", 0, handle=0, delivery_id=0, delivery_tag=b"1", state=REJECTED),
         "transfer rejected amqp:not-allowed", None),
    ],
)  # fmt: skip
def test_a_frame_is_data_that_targets_have_in_common(
    octets: bytes, kind: str, refusal: Refusal | None
) -> None:
    """Neither the text of an error nor numbers that the target chooses are part of it."""
    made, _ = peer(opened() + begun() + octets)
    made.begin()
    arrival = made.read(1.0)
    assert (arrival.kind, arrival.refusal) == (kind, refusal)
    assert refusal_of((arrival,))[0] == refusal
