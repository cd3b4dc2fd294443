"""What Part 3 says of messages and outcomes (amqp-1.0 §3.2, §3.4, §3.5.3): sections kept, counts, where messages go."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import about
from amqpspec.suites.amqp_1_0._links import DURABLE, filled
from amqpspec.suites.amqp_1_0._transfers import body_of, contents, sender
from amqpspec.wire.amqp_1_0.message import decode_message, encode_message
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Symbol

_PROPERTIES = {"message_id": "first", "subject": "kept", "correlation_id": b"\x00\x01", "group_sequence": 7}
_APPLICATION = {"text": "kept", "number": -5, "octets": b"\x00\xff", "nothing": None}
_OUTCOMES = (Symbol("amqp:accepted:list"), Symbol("amqp:released:list"))
_CREDIT = 10


# --- 3.2: sections


@case("messaging.bare-message", covers=["messaging/bare-message"])
def bare_message(peer: Peer) -> Verdict:
    """Properties, application properties and body arrive octet for octet unchanged."""
    sent = [
        encode_message(properties=_PROPERTIES, application_properties=_APPLICATION, data=b"first"),
        encode_message(properties={"message_id": "second"}, value={"a": [1, 2], "b": None}),
    ]
    peer.claim("the bare message of both, octet for octet")
    found = _through_a_node(peer, sent)
    kept = [
        decode_message(octets).bare == delivery.message.bare
        for octets, delivery in zip(sent, found, strict=True)
    ]
    return equals(peer, kept, [True, True], "octets kept")


@case("messaging.body-sections", covers=["messaging/body-sections"])
def sections_of_the_body(peer: Peer) -> Verdict:
    """Several data sections, several sequences and a value arrive as the same sections."""
    sent = [
        encode_message(data=[b"one", b"", b"three"]),
        encode_message(sequence=[[1, "two"], [], [b"three"]]),
        encode_message(value="a text"),
    ]
    peer.claim("the same sections with the same content")
    found = [_sections(delivery.message.octets) for delivery in _through_a_node(peer, sent)]
    return equals(peer, found, [_sections(octets) for octets in sent], "sections")


@case("messaging.durable", covers=["messaging/durable"], restarts=True)
def durable_messages_outlive_a_restart(peer: Peer) -> Verdict:
    """Durable messages that were accepted are still there after a restart; the second is not mistaken for the first."""
    address, texts = peer.node(), [b"first", b"second"]
    # Some targets make a node that is as durable as the terminus which names it.
    terminus = {"address": address, **DURABLE}
    link = sender(peer, address, target=terminus)
    for text in texts:
        outcome = _outcome_of_durable(peer, link, text)
        if outcome != "accepted":
            # A target that cannot promise to keep them must not accept them (§3.2.1).
            return holds(peer, True, outcome or "settled without a state")
    peer.context.restart()
    peer.claim("both messages after a restart")
    after = peer.another()
    back = after.receiver(address, source=terminus, credit=_CREDIT)
    with suppress(Unmet):
        after.until(lambda: len(back.inbox) >= len(texts), "both messages", link=back)
    return equals(peer, [body_of(delivery) for delivery in after.received(back)], texts, "messages")


# --- 3.4: outcomes


@case("messaging.modified.delivery-failed", covers=["messaging/modified/delivery-failed"])
def failed_deliveries_count(peer: Peer) -> Verdict:
    """Each failed delivery adds one to the delivery-count of its message, and of no other message."""
    failed = encode_composite("modified", delivery_failed=True)
    return _counted(peer, failed, [0, 1, 2])


@case("messaging.released.delivery-count", covers=["messaging/released/delivery-count"])
def released_deliveries_do_not_count(peer: Peer) -> Verdict:
    """A released message keeps its delivery-count."""
    return _counted(peer, encode_composite("released"), [0, 0, 0])


@case("messaging.modified.undeliverable-here", covers=["messaging/modified/undeliverable-here"])
def not_on_the_same_link(peer: Peer) -> Verdict:
    """A message that a link cannot deliver is not sent on it again; another link of the node may receive it."""
    address = filled(peer, 1)
    here = peer.receiver(address, credit=_CREDIT)
    first = _unsettled(peer, here)
    peer.claim("nothing on the link that cannot deliver it")
    there = peer.receiver(address, credit=_CREDIT)
    peer.disposition(first, state=encode_composite("modified", undeliverable_here=True))
    with suppress(Unmet):
        peer.until(lambda: bool(here.inbox or there.inbox), "a delivery", session=here.session)
    if here.inbox:
        return holds(peer, False, "delivered again on the same link")
    if there.inbox:
        return holds(peer, True, "delivered on the other link")
    return observed_either_way(peer, "delivered on neither link")


# --- 3.5.3: the source


@case("messaging.source.default-outcome", covers=["messaging/source/default-outcome"])
def settled_without_a_state(peer: Peer) -> Verdict:
    """Deliveries settled without a state get the default outcome of their source."""
    peer.claim("available again with the default released, removed with the default accepted")
    released = _settled_bare(peer, "released", [b"message 0"])
    return worst((about(released, "released"), about(_settled_bare(peer, "accepted", []), "accepted")))


# --- steps of this module


def _outcome_of_durable(peer: Peer, link: Link, body: bytes) -> str:
    """What happens to a durable message; a link that is detached over it accepts nothing."""
    sent = peer.transfer(link, message=encode_message(header={"durable": True}, data=body))
    try:
        return peer.outcome(sent).outcome
    except Unmet:
        if link.is_attached or peer.is_over():
            raise
        return "detached"


def _through_a_node(peer: Peer, sent: list[bytes]) -> list[Delivery]:
    link = sender(peer, peer.node())
    for octets in sent:
        peer.outcome(peer.transfer(link, message=octets))
    return peer.deliveries(peer.receiver(link.address, credit=_CREDIT), len(sent))


def _sections(octets: bytes) -> list[tuple[str, Any]]:
    """The body's sections; a target may add a header, annotations or a footer of its own."""
    kept = ("data", "amqp-sequence", "amqp-value")
    return [
        (section.name, section.value) for section in decode_message(octets).sections if section.name in kept
    ]


def _unsettled(peer: Peer, link: Link) -> Delivery:
    delivery = peer.delivery(link)
    if delivery.settled:
        raise OutOfReach("the target sends everything settled")
    return delivery


def _counted(peer: Peer, state: Any, wanted: list[int]) -> Verdict:
    """The delivery-counts of a message that is returned in a state repeatedly, and of another message."""
    address, beside = filled(peer, 1), filled(peer, 1)
    link, other = peer.receiver(address, credit=_CREDIT), peer.receiver(beside, credit=_CREDIT)
    peer.claim(f"delivery-counts {wanted}, and 0 of another message")
    untouched = _unsettled(peer, other)
    counts = []
    for step in range(len(wanted)):
        delivery = _unsettled(peer, link)
        counts.append(_count(delivery))
        last = step + 1 == len(wanted)
        peer.disposition(delivery, state="accepted" if last else state)
    return equals(peer, (counts, _count(untouched)), (wanted, 0), "delivery-counts")


def _count(delivery: Delivery) -> int:
    """The delivery-count in a message's header, which is 0 if it is left out (amqp-1.0 §3.2.1)."""
    header = delivery.message.header
    return 0 if header is None else header["delivery_count"] or 0


def _settled_bare(peer: Peer, outcome: str, wanted: list[bytes]) -> Verdict:
    """What a node holds once a message was settled without a state on a link with a default outcome."""
    address = filled(peer, 1)
    default = encode_composite(outcome)
    source = {"address": address, "default_outcome": default, "outcomes": _OUTCOMES}
    link = peer.receiver(address, source=source, credit=1)
    told = owed(link.attached, "attach")["source"]["default_outcome"]
    if getattr(told, "name", None) != outcome:
        raise OutOfReach(f"the target does not apply the default outcome {outcome}")
    peer.disposition(_unsettled(peer, link), state=OMIT)
    peer.detach(link)
    return equals(peer, contents(peer, address, len(wanted)), wanted, "messages")
