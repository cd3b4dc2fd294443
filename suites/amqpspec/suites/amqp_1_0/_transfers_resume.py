"""What cases of resumed deliveries share: links suspended by a detach that does not close, and attached again.

Knows: that a terminus outlives such a detach, whatever its expiry policy but link-detach. Must not know: verdicts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from amqpspec.peer.amqp_1_0.books import TERMINAL, Delivery, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.suites.amqp_1_0._links import left_out
from amqpspec.suites.amqp_1_0._transfers import NOTHING_RECEIVED, cut, octets_of, piece, sender
from amqpspec.wire.amqp_1_0.values import Map

_OWN = {"sender": "target", "receiver": "source"}


def suspend(peer: Peer, link: Link) -> None:
    """Detach without closing; raises OutOfReach if the target does not keep the link."""
    terminus = owed(link.attached, "attach")[_OWN[link.role]]
    if terminus is not None and terminus.get("expiry_policy") == "link-detach":
        raise OutOfReach("the target's terminus expires with the detach", link.attached)
    gone = peer.detach(link, closed=False)
    # A closed link has no unsettled state that could be resumed (amqp-1.0 §2.6.6).
    if gone["closed"] is True:
        raise OutOfReach("the target closes the link in place of suspending it", gone)


def expires(link: Link, policy: str) -> None:
    """A prerequisite: the target's terminus has this expiry policy; raises OutOfReach."""
    terminus = owed(link.attached, "attach")[_OWN[link.role]]
    reported = None if terminus is None else terminus.get("expiry_policy")
    if reported != policy:
        raise OutOfReach(f"the target's terminus expires otherwise: {reported}", link.attached)


def resume(peer: Peer, link: Link, unsettled: Mapping[bytes, Any], **fields: Any) -> Link:
    """Attach the link of that name again, with a map of what is unsettled; raises OutOfReach for not-implemented."""
    channel = fields.pop("channel", link.session.channel)
    fields = {"name": link.name, "unsettled": Map(unsettled), **fields}
    try:
        return peer.attach(link.role, link.address, channel, **fields)
    except Unmet as unmet:
        raise left_out(unmet, "the target does not resume links") from unmet


def reported_unsettled(link: Link) -> Mapping[Any, Any]:
    """The unsettled map in the target's attach."""
    return owed(link.attached, "attach")["unsettled"] or {}


def outcomes_told(link: Link, begun_octets: int = 0) -> dict[Any, str]:
    """By tag, the outcome in the target's unsettled map; empty for none, or a state that leaves it open.

    A state received that says more than ``begun_octets`` is shown as it is: nothing else of any delivery was sent.
    """
    return {tag: _told(state, begun_octets) for tag, state in reported_unsettled(link).items()}


def _told(state: Any, begun_octets: int) -> str:
    name: str = getattr(state, "name", "")
    if name != "received":
        return name if name in TERMINAL else ""
    section, octets = state["section_number"], state["section_offset"]
    return "" if section == 0 and octets <= begun_octets else f"received {section}:{octets}"


def is_incomplete(link: Link) -> bool:
    """Whether the target says that its map is not all there is."""
    return link.attached is not None and link.attached["incomplete_unsettled"] is True


def nothing_received(deliveries: Iterable[Delivery]) -> dict[bytes, Any]:
    """A map of these deliveries, of which no octet has arrived."""
    return {delivery.tag: NOTHING_RECEIVED for delivery in deliveries}


def known(peer: Peer, link: Link, tag: Any) -> None:
    """A prerequisite: the target holds the tag unsettled; raises OutOfReach."""
    # What the source holds no longer cannot be resumed: the case would prove nothing.
    if tag not in reported_unsettled(link):
        raise OutOfReach("the target reports that it no longer has the delivery")


def begun_and_suspended(
    peer: Peer, body: bytes, count: int, **fields: Any
) -> tuple[Link, bytes, list[bytes]]:
    """A delivery of which the first piece was sent when its link was suspended: the link, the tag, all pieces."""
    link = sender(peer, peer.node(), **fields)
    octets = cut(octets_of(body), count)
    # On a link of mode second the delivery begins in mode first: whether that is
    # remembered is what its case asks.
    flags = {"rcv_settle_mode": "first"} if "rcv_settle_mode" in fields else {}
    begun = piece(peer, link, octets[0], more=True, **flags)
    # The first piece has arrived before the detach, or there would be nothing to resume.
    peer.barrier(link.session.channel)
    suspend(peer, link)
    return link, begun.tag, octets


def resumed_delivery(peer: Peer, link: Link, tag: bytes) -> Delivery:
    """The delivery of that tag, the next on the link; raises Unmet for another one."""
    delivery = peer.delivery(link)
    if delivery.tag != tag:
        raise Unmet(f"a delivery with tag {tag.hex()}", f"one with tag {delivery.tag.hex()}")
    return delivery
