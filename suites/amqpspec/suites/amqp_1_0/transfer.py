"""The transfer performative (amqp-1.0 §2.7.5): single and split messages, what identifies a delivery, more, aborted."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._transfers import (
    LARGE,
    body_of,
    contents,
    cut,
    large_delivery,
    octets_of,
    piece,
    pieces,
    put,
    received,
    sender,
)

_LARGEST_OCTETS = 64 << 10
_IDENTITY = ("delivery_id", "delivery_tag", "message_format")

# --- single and split


@case("transfer.single.largest", covers=["performatives/transfer/single"])
def message_that_fills_a_frame(peer: Peer) -> Verdict:
    """A message can be one transfer as large as the target's maximum frame."""
    link = sender(peer, peer.node())
    body = bytes(_room(peer, link))
    peer.claim("the message, whole")
    sent = piece(peer, link, octets_of(body), settled=False)
    peer.outcome(sent)
    return equals(peer, [len(one) for one in contents(peer, link.address)], [len(body)], "octets of messages")


@case("transfer.single.of-target", covers=["performatives/transfer/single"])
def small_message_of_the_target(peer: Peer) -> Verdict:
    """A message of the target that fits into a frame can arrive in a single transfer."""
    address = peer.node()
    body = b"small" * 20
    put(peer, address, body)
    peer.claim("the message, whole")
    _, (delivery,) = received(peer, address, 1)
    if body_of(delivery) != body:
        return equals(peer, body_of(delivery), body, "body")
    return observed_either_way(peer, f"transfers: {len(delivery.transfers)}")


@case("transfer.split", covers=["performatives/transfer/split"])
def message_in_many_transfers(peer: Peer) -> Verdict:
    """A message can be split into many transfers, even if it would fit into one."""
    link = sender(peer, peer.node())
    octets = octets_of(bytes(range(40)))
    peer.claim("the message, whole")
    # One octet in each: every border inside the message is one between frames.
    peer.outcome(pieces(peer, link, cut(octets, len(octets))))
    return equals(peer, contents(peer, link.address), [bytes(range(40))], "messages")


# --- handle


@case("transfer.handle.missing", covers=["performatives/transfer/handle"])
def transfer_without_handle(peer: Peer) -> Verdict:
    """The target rejects a transfer without handle."""
    link = sender(peer, peer.node())
    peer.send("transfer", link.session.channel, payload=octets_of(b"message"), handle=None)
    return rejects_violation(peer)


@case("transfer.handle.of-target", covers=["performatives/transfer/handle"])
def handle_in_transfers_of_the_target(peer: Peer) -> Verdict:
    """The target's transfers contain the handle of its attach."""
    address = peer.node()
    put(peer, address, b"message")
    link = peer.receiver(address)
    peer.claim(f"a transfer with handle {link.remote_handle}")
    peer.credit(link, 1)
    transfer = peer.expect("transfer")
    return equals(peer, transfer["handle"], link.remote_handle, "handle")


# --- what identifies a delivery: the target's own


@case(
    "transfer.first.of-target",
    covers=[
        "performatives/transfer/delivery-id/first",
        "performatives/transfer/delivery-tag/first",
        "performatives/transfer/message-format/first",
    ],
)
def first_transfer_of_the_target(peer: Peer) -> Verdict:
    """The first of several transfers of the target has delivery-id, delivery-tag and message-format."""
    _, delivery = large_delivery(peer)
    lacking = [key for key in _IDENTITY if key not in delivery.transfers[0].given]
    return holds(
        peer,
        not lacking,
        f"a first transfer without {', '.join(lacking)}" if lacking else "all three",
        "delivery-id, delivery-tag and message-format on the first transfer",
    )


@case(
    "transfer.continuation.of-target",
    covers=[
        "performatives/transfer/delivery-id/differs",
        "performatives/transfer/delivery-tag/differs",
        "performatives/transfer/message-format/differs",
    ],
)
def continuations_of_the_target(peer: Peer) -> Verdict:
    """The target's continuations repeat or omit delivery-id, delivery-tag and message-format of the first transfer."""
    _, delivery = large_delivery(peer)
    differing = [key for key in _IDENTITY if _differs(delivery, key)]
    return holds(
        peer,
        not differing,
        f"another {', '.join(differing)} on a continuation" if differing else "the same, or none",
        "on continuations the delivery-id, delivery-tag and message-format of the first transfer, or none",
    )


# --- what identifies a delivery: missing on the first transfer


@case("transfer.delivery-id.missing", covers=["performatives/transfer/delivery-id/first"])
def first_transfer_without_delivery_id(peer: Peer) -> Verdict:
    """The target rejects or tolerates a multi-transfer delivery whose first transfer has no delivery-id."""
    return _first_without(peer, "delivery_id")


@case("transfer.delivery-tag.missing", covers=["performatives/transfer/delivery-tag/first"])
def first_transfer_without_delivery_tag(peer: Peer) -> Verdict:
    """The target rejects or tolerates a multi-transfer delivery whose first transfer has no delivery-tag."""
    return _first_without(peer, "delivery_tag")


@case("transfer.message-format.missing", covers=["performatives/transfer/message-format/first"])
def first_transfer_without_message_format(peer: Peer) -> Verdict:
    """The target rejects or tolerates a multi-transfer delivery whose first transfer has no message-format."""
    return _first_without(peer, "message_format")


# --- what identifies a delivery: left out or repeated on continuations


@case("transfer.delivery-id.continuation", covers=["performatives/transfer/delivery-id/continuation"])
def delivery_id_on_continuations(peer: Peer) -> Verdict:
    """Continuations can omit or repeat delivery-id."""
    return _continued(peer, "delivery_id")


@case("transfer.delivery-tag.continuation", covers=["performatives/transfer/delivery-tag/continuation"])
def delivery_tag_on_continuations(peer: Peer) -> Verdict:
    """Continuations can omit or repeat delivery-tag."""
    return _continued(peer, "delivery_tag")


@case("transfer.message-format.continuation", covers=["performatives/transfer/message-format/continuation"])
def message_format_on_continuations(peer: Peer) -> Verdict:
    """Continuations can omit or repeat message-format."""
    return _continued(peer, "message_format")


# --- what identifies a delivery: changed on continuations


@case("transfer.delivery-id.higher", covers=["performatives/transfer/delivery-id/differs"])
def higher_delivery_id_on_a_continuation(peer: Peer) -> Verdict:
    """The target rejects a continuation with a higher delivery-id."""
    return _continued_as(peer, lambda first: {"delivery_id": first.id + 1})


@case("transfer.delivery-id.lower", covers=["performatives/transfer/delivery-id/differs"])
def lower_delivery_id_on_a_continuation(peer: Peer) -> Verdict:
    """The target rejects a continuation with the delivery-id of an earlier delivery."""
    return _continued_as(peer, lambda first: {"delivery_id": first.id - 1})


@case("transfer.delivery-tag.other", covers=["performatives/transfer/delivery-tag/differs"])
def other_delivery_tag_on_a_continuation(peer: Peer) -> Verdict:
    """The target rejects a continuation with another delivery-tag and no delivery-id."""
    return _continued_as(peer, lambda first: {"delivery_tag": b"another tag"})


@case("transfer.delivery-tag.other.same-id", covers=["performatives/transfer/delivery-tag/differs"])
def other_delivery_tag_for_the_same_id(peer: Peer) -> Verdict:
    """The target rejects a continuation with another delivery-tag and the same delivery-id."""
    return _continued_as(peer, lambda first: {"delivery_id": first.id, "delivery_tag": b"another tag"})


@case("transfer.message-format.other", covers=["performatives/transfer/message-format/differs"])
def other_message_format_on_a_continuation(peer: Peer) -> Verdict:
    """The target rejects a continuation with another message-format."""
    return _continued_as(peer, lambda first: {"message_format": 0x100})


# --- more and aborted


@case("transfer.more.aborted", covers=["performatives/transfer/more/aborted"])
def more_on_an_aborting_transfer(peer: Peer) -> Verdict:
    """The more flag of an aborting transfer has no effect: the next transfer starts a new delivery."""
    link = sender(peer, peer.node())
    peer.claim("the next delivery, as a new one")
    piece(peer, link, octets_of(b"given up" * 20)[:50], more=True)
    piece(peer, link, aborted=True, more=True)
    peer.outcome(peer.transfer(link, b"next"))
    return equals(peer, contents(peer, link.address), [b"next"], "messages")


@case("transfer.aborted", covers=["performatives/transfer/aborted/discarded"])
def aborted_message(peer: Peer) -> Verdict:
    """An aborted message does not reach the node."""
    link = sender(peer, peer.node())
    peer.claim("nothing of the aborted message")
    octets = octets_of(b"whole, and given up")
    piece(peer, link, octets, more=True)
    piece(peer, link, aborted=True)
    peer.outcome(peer.transfer(link, b"next"))
    return equals(peer, contents(peer, link.address), [b"next"], "messages")


@case("transfer.aborted.payload", covers=["performatives/transfer/aborted/payload"])
def payload_of_an_aborting_transfer(peer: Peer) -> Verdict:
    """The target ignores the payload of an aborting transfer."""
    link = sender(peer, peer.node())
    octets = cut(octets_of(LARGE), 3)
    peer.claim("nothing of what the aborting transfer carries")
    piece(peer, link, octets[0], more=True)
    piece(peer, link, octets[1], more=True)
    piece(peer, link, octets[2], aborted=True)
    # Then the other way round: what aborts looks like a whole message.
    piece(peer, link, octets_of(b"first part")[:4], more=True)
    piece(peer, link, octets_of(b"a whole message"), aborted=True)
    peer.outcome(peer.transfer(link, b"next"))
    return equals(peer, contents(peer, link.address), [b"next"], "messages")


@case("transfer.aborted.only", covers=["performatives/transfer/aborted/payload"])
def only_transfer_aborts(peer: Peer) -> Verdict:
    """The target ignores the payload of a delivery whose only transfer aborts."""
    link = sender(peer, peer.node())
    peer.claim("nothing of what the aborting transfer carries")
    piece(peer, link, octets_of(b"a whole message"), aborted=True)
    # No transition leads from the start to ABORTED (amqp-1.0 §2.6.14, figure 2.58): a target may refuse it.
    reaction = peer.reaction(link=link)
    if reaction.refusal is not None:
        return observed_either_way(peer, "", reaction)
    peer.outcome(peer.transfer(link, b"next"))
    return equals(peer, contents(peer, link.address), [b"next"], "messages")


@case("transfer.aborted.settled", covers=["performatives/transfer/aborted/settled"])
def tag_of_an_aborted_delivery(peer: Peer) -> Verdict:
    """An aborted delivery is settled: it gets no disposition, and its tag can be used again at once."""
    link = sender(peer, peer.node())
    peer.claim("the tag of the aborted delivery accepted for the next one, and no outcome of the aborted one")
    aborted = piece(peer, link, octets_of(b"given up"), more=True, settled=False)
    piece(peer, link, aborted=True)
    # An aborted delivery is settled (amqp-1.0 §2.7.5, aborted), so its tag is free.
    again = peer.transfer(link, b"next", delivery_tag=aborted.tag)
    peer.outcome(again)
    if aborted.outcome == "accepted":
        return holds(peer, False, "the aborted delivery accepted")
    return equals(peer, contents(peer, link.address), [b"next"], "messages")


# --- steps of this module


def _room(peer: Peer, link: Link) -> int:
    """How large a body fills one frame that the target takes, and one message."""
    octets = min(peer.max_frame_octets, _LARGEST_OCTETS)
    # A transfer with the longest delivery-id: the rest of the frame is for the message.
    frame = peer.exact(
        "transfer",
        handle=link.handle,
        delivery_id=0xFFFFFFFF,
        delivery_tag=bytes(4),
        message_format=0,
        settled=False,
    )
    overhead = len(octets_of(bytes(1000))) - 1000
    room = octets - len(frame)
    if link.max_message_size:
        room = min(room, link.max_message_size)
    return room - overhead


def _differs(delivery: Delivery, key: str) -> bool:
    first, *others = delivery.transfers
    return any(key in other.given and other[key] != first[key] for other in others)


def _first_without(peer: Peer, key: str) -> Verdict:
    link = sender(peer, peer.node())
    octets = cut(octets_of(b"message" * 9), 2)
    pieces(peer, link, octets, {key: OMIT})
    return borne(peer, peer.reaction(link=link))


def _continued(peer: Peer, key: str) -> Verdict:
    """Two deliveries of three transfers: one that repeats a field, one that does not."""
    link = sender(peer, peer.node())
    peer.claim("both messages, whole")
    bodies = b"left out" * 90, b"repeated" * 90
    octets = [cut(octets_of(body), 3) for body in bodies]
    others = {"delivery_id": OMIT, "delivery_tag": OMIT, "message_format": OMIT}
    peer.outcome(pieces(peer, link, octets[0], {}, others, others))
    first = piece(peer, link, octets[1][0], more=True)
    repeated: dict[str, Any] = {
        "delivery_id": first.id,
        "delivery_tag": first.tag,
        "message_format": 0,
    }
    piece(peer, link, octets[1][1], more=True, **{key: repeated[key]})
    peer.outcome(piece(peer, link, octets[1][2], **{key: repeated[key]}))
    return equals(peer, contents(peer, link.address), list(bodies), "messages")


def _continued_as(peer: Peer, change: Any) -> Verdict:
    """A delivery after another one, whose second and last transfer contradicts its first."""
    link = sender(peer, peer.node())
    # An earlier delivery, so that an id one lower is one that has been used.
    peer.outcome(peer.transfer(link, b"an earlier one"))
    octets = cut(octets_of(b"message" * 9), 2)
    first = piece(peer, link, octets[0], more=True)
    piece(peer, link, octets[1], **change(first))
    return rejects_violation(peer, link=link)
