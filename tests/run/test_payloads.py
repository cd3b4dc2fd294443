"""Cases of payloads: a node may say that it does not want a message; what it gives back has to be what it took."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.peer.context import Unmet
from amqpspec.record.rows import Outcome
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0.framing import _there_and_back
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from tests.peer.amqp_1_0.fake import attached, begun, credit, error, opened, peer, says
from tests.run.test_types import ledger

SENT = encode_message(value=[None, None])
DELIVERED: dict[str, Any] = {"handle": 1, "delivery_id": 0, "delivery_tag": b"1", "message_format": 0}


def told(state: str, **fields: Any) -> bytes:
    composite = encode_composite(state, **fields)
    return says("disposition", role="receiver", first=0, settled=True, state=composite)


def given(message: bytes) -> bytes:
    return told("accepted") + says("transfer", payload=message, **DELIVERED)


def trip(said: bytes) -> Verdict:
    """A message on its way through a node that takes it, and then says this."""
    links = attached("amqpspec.link.2", "receiver"), attached("amqpspec.link.3", "sender", 1)
    made, _ = peer(opened() + begun(), *links, credit(10), said, **ledger("framing/payload"))
    return _there_and_back(made, "a list", SENT)


@pytest.mark.parametrize(
    ("said", "outcome", "observed"),
    [
        (given(SENT), Outcome.PASS, "body [None, None]"),
        (given(encode_message(value=[None])), Outcome.FAIL, "body [None]"),
        (told("rejected", error=error()), Outcome.OBSERVED, "rejected"),
        (told("released"), Outcome.OBSERVED, "released"),
        (
            says("detach", handle=0, closed=True, error=error("amqp:resource-limit-exceeded")),
            Outcome.OBSERVED,
            "detach amqp:resource-limit-exceeded ('no')",
        ),
    ],
)
def test_what_comes_of_a_message_is_judged(said: bytes, outcome: Outcome, observed: str) -> None:
    verdict = trip(said)
    assert (verdict.outcome, verdict.observed) == (outcome, observed)


@pytest.mark.parametrize("condition", ["amqp:decode-error", "amqp:internal-error"])
def test_an_end_for_a_legal_message_is_none(condition: str) -> None:
    with pytest.raises(Unmet, match=condition):
        trip(says("end", error=error(condition)))
