"""Incoming deliveries: the rules for a sequence of transfers, and how it grows (1.0 §2.6.14, §2.7.5).

Knows: what a continuation may repeat and what it must not contradict. Must not know: credit, what happens to a
complete delivery.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint
from amqpspec.reference.amqp_1_0.transactions import Transaction
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed
from amqpspec.wire.amqp_1_0.values import Value


@dataclass(slots=True)
class IncomingDelivery:
    """An incoming delivery."""

    delivery_id: int
    tag: bytes
    message_format: int
    settled: bool
    mode: int
    resume: bool
    octets: bytearray
    frames: int = 0
    transaction: Transaction | None = None


def continues(endpoint: LinkEndpoint, frame: Composed, partial: IncomingDelivery) -> bool:
    """Whether a transfer belongs to the delivery that has begun; refuses what contradicts it."""
    refuse, given = endpoint.session.refuse, frame.given
    other_id = "delivery_id" in given and frame["delivery_id"] != partial.delivery_id
    other_tag = "delivery_tag" in given and frame["delivery_tag"] != partial.tag
    if other_id and other_tag:
        refuse("transfers/large/not-within-link", "a delivery begins before the one before it is whole")
        return False
    if other_id:
        refuse(
            "performatives/transfer/delivery-id/differs",
            f"delivery-id {frame['delivery_id']} in mid-delivery",
        )
    if other_tag:
        refuse("performatives/transfer/delivery-tag/differs", "another delivery-tag in mid-delivery")
    if "message_format" in given and frame["message_format"] != partial.message_format:
        refuse("performatives/transfer/message-format/differs", "another message-format in mid-delivery")
    _faulty_objections(endpoint, frame, partial)
    return True


def _faulty_objections(endpoint: LinkEndpoint, frame: Composed, partial: IncomingDelivery) -> None:
    """Faults: a continuation is refused for what it repeats, or does not, though it may do either."""
    given = frame.given
    strict = endpoint.faulty("continuation-has-to-repeat-everything")
    if strict and not {"delivery_id", "delivery_tag", "message_format"} <= given:
        endpoint.fail(
            "amqp:invalid-field", "a continuation without delivery-id, delivery-tag or message-format"
        )
    minds_none = not frame["resume"] and endpoint.faulty("resume-has-to-be-repeated")
    if partial.resume and (
        minds_none or (frame["resume"] and endpoint.faulty("resume-must-not-be-repeated"))
    ):
        endpoint.fail("amqp:invalid-field", "the resume flag of a continuation")
    if not given.isdisjoint(("delivery_tag", "message_format")) and endpoint.faulty(
        "continuation-must-not-repeat"
    ):
        endpoint.fail("amqp:invalid-field", "a continuation that repeats what was said")


def grow(endpoint: LinkEndpoint, partial: IncomingDelivery, frame: Composed, payload: bytes) -> None:
    """Add a fragment. A delivery is settled as soon as one of its transfers is (1.0 §2.7.5)."""
    if not payload and endpoint.faulty("empty-fragments-refused"):
        endpoint.fail("amqp:not-allowed", "a transfer without payload")
    if not (endpoint.faulty("first-fragment-only") and partial.octets):
        partial.octets += payload
    partial.frames += 1
    if partial.frames > 1 and endpoint.faulty("settled-has-to-be-said-first"):
        return
    if "settled" in frame.given and (frame["settled"] or endpoint.faulty("last-settled-wins")):
        partial.settled = bool(frame["settled"])
    elif endpoint.faulty("booleans-of-one-octet-are-true") and is_one_octet(frame, "settled"):
        partial.settled = True
    elif endpoint.faulty("settled-left-out-is-false"):
        partial.settled = False
    elif endpoint.faulty("settled-left-out-is-true") and "settled" not in frame.given:
        partial.settled = True
    limit = endpoint.session.connection.core.max_message_octets
    if len(partial.octets) > limit:
        endpoint.session.refuse(
            "performatives/attach/max-message-size/exceeded", f"a message of over {limit} octets"
        )


def is_one_octet(frame: Composed, key: str) -> bool:
    """Whether a field was sent in the encoding of booleans that takes an octet."""
    value = frame.values.get(key)
    return isinstance(value, Value) and value.encoding == "boolean1"


FAULTS = fault_table("""
empty-fragments-refused: a transfer without payload detaches the link [transfers/large/empty-fragments]
first-fragment-only: only the first transfer of a message is stored [transfers/fragments
    performatives/transfer/split transfers/large/interleaved-links performatives/transfer/delivery-id/continuation
    performatives/transfer/delivery-tag/continuation performatives/transfer/message-format/continuation]
continuation-has-to-repeat-everything: a continuation without id, tag or format is refused
    [performatives/transfer/delivery-id/continuation performatives/transfer/delivery-tag/continuation
    performatives/transfer/message-format/continuation]
continuation-must-not-repeat: a continuation with tag or format is refused
    [performatives/transfer/delivery-tag/continuation performatives/transfer/message-format/continuation
    performatives/transfer/delivery-id/continuation]
settled-left-out-is-true: settled left out is true
    [performatives/transfer/settled/unset-first performatives/transfer/settled/unset-never]
settled-left-out-is-false: an omitted settled is false, whatever earlier transfers said
    [performatives/transfer/settled/unset-later]
last-settled-wins: of several transfers, the last one decides whether the message is settled
    [performatives/transfer/settled/unset-later performatives/transfer/settled/unset-never]
settled-has-to-be-said-first: settled on a later transfer is ignored [performatives/transfer/settled/unset-never]
booleans-of-one-octet-are-true: settled in the one-octet encoding of booleans is true, whatever the octet
    [definitions/snd-settle-mode/mixed]
resume-has-to-be-repeated: a later transfer of a resumed delivery without the resume flag is refused
    [performatives/transfer/resume/later-omitted]
resume-must-not-be-repeated: a later transfer of a resumed delivery with the resume flag is refused
    [performatives/transfer/resume/later-true]
""")
