"""What the protocol is made of (amqp-1.0 §2.1): nodes, links, sessions, the nine frame bodies."""

from __future__ import annotations

from harness.peer.amqp_1_0.books import Link
from harness.peer.amqp_1_0.peer import Peer
from harness.peer.context import OutOfReach
from harness.run.case import case
from harness.run.oracles import equals, holds, worst
from harness.run.oracles_1_0 import rejects_violation
from harness.run.verdict import Verdict
from harness.spec.amqp_1_0 import DIALECT
from harness.wire.amqp_1_0.message import encode_message
from harness.wire.amqp_1_0.values import Described, Map, Symbol
from suites.amqp_1_0._connections import frames_of, until_failure
from suites.amqp_1_0._links import DURABLE, fill, filled, own_terminus, states, unsettled, unsettled_of

_SELECTOR = Symbol("apache.org:selector-filter:string")
_MESSAGES = 5
_LINKS = 10
_NO_PERFORMATIVES = (0x0F, 0x19, 0x53535353)


@case("model.entry-criteria", covers=["model/entry-criteria"], needs=["filter"])
def filtered_messages(peer: Peer) -> Verdict:
    """A link brings those messages only that fit the filter of its source."""
    address = peer.node()
    wanted = {Symbol("red"): Described(_SELECTOR, "colour = 'red'")}
    link = peer.receiver(address, source={"address": address, "filter": Map(wanted)})
    if not (own_terminus(link) or {}).get("filter"):
        raise OutOfReach("the target leaves the selector out of its attach")
    peer.claim("of a blue and a red message, the red one")
    out = peer.sender(address)
    for colour in ("blue", "red"):
        message = encode_message(application_properties={"colour": colour}, data=colour.encode())
        peer.outcome(peer.transfer(out, message=message))
    peer.credit(link, 2)
    first = peer.delivery(link)
    peer.barrier()
    bodies = [delivery.body for delivery in (first, *peer.received(link))]
    return equals(peer, bodies, [b"red"], "bodies")


@case("model.channels-order", covers=["model/channels-order"])
def order_on_each_channel(peer: Peer) -> Verdict:
    """On each channel, frames come in their order: attach, then transfers with one delivery-id after the other."""
    nodes = [filled(peer, _MESSAGES) for _ in range(2)]
    peer.begin(0)
    peer.begin(1)
    peer.claim("on both channels attach first, then delivery-ids in a row")
    links, octets = [], b""
    for channel, address in enumerate(nodes):
        octets += peer.frame("attach", channel, **peer.attach_fields("receiver", address))
        links.append(peer.session(channel).every_link[-1])
    for link in links:
        octets += peer.frame("flow", link.session.channel, handle=link, link_credit=_MESSAGES)
    peer.send_octets(octets)
    for link in links:
        peer.deliveries(link, _MESSAGES)
    told = [_order(peer, link) for link in links]
    return holds(peer, not any(told), "; ".join(filter(None, told)) or "in order")


@case("model.many-sessions", covers=["model/many-sessions"])
def two_sessions(peer: Peer) -> Verdict:
    """Two sessions live side by side on one connection, and both work."""
    peer.open_connection()
    peer.room_for_channel(1)
    peer.claim("two sessions, both usable")
    for channel in (0, 1):
        peer.begin(channel)
    for channel in (1, 0):
        peer.barrier(channel)
    return holds(peer, True, "both work")


@case("model.many-links", covers=["model/many-links"])
def many_links_in_one_session(peer: Peer) -> Verdict:
    """One session carries many links in both directions, and each carries its own messages."""
    nodes = [peer.node() for _ in range(_LINKS)]
    peer.claim(f"{2 * _LINKS} links in one session, each with its own message")
    senders = [peer.sender(address) for address in nodes]
    receivers = [peer.receiver(address, credit=1) for address in nodes]
    for number, link in enumerate(senders):
        peer.transfer(link, f"for link {number}".encode())
    bodies = [peer.delivery(link).body for link in receivers]
    return equals(peer, bodies, [f"for link {number}".encode() for number in range(_LINKS)], "bodies")


@case("model.terminus-outlives", covers=["model/terminus-outlives"], needs=["resume"])
def terminus_behind_a_lost_connection(peer: Peer) -> Verdict:
    """A terminus that never expires is still there, with what is unsettled, when its connection was lost."""
    name, address = peer.name("link"), filled(peer, 1)
    source = {"address": address, **DURABLE}
    link = peer.receiver(name=name, source=source)
    if (own_terminus(link) or {}).get("expiry_policy") != "never":
        raise OutOfReach("the target's terminus expires")
    tag = unsettled(peer, link, 1)[0].tag
    peer.hang_up()
    other = peer.another(container_id=peer.container_id)
    peer.claim("the terminus, with the delivery in its unsettled map")
    again = other.receiver(name=name, source=source, unsettled=states(tag, state="received"))
    told = unsettled_of(again)
    other.detach(again)
    return holds(peer, tag in told, f"unsettled: {', '.join(t.hex() for t in told) or 'nothing'}")


@case("model.nine-frame-bodies", covers=["model/nine-frame-bodies"])
def other_frame_bodies(peer: Peer) -> Verdict:
    """What is none of the nine performatives is refused; the target itself sends nothing else."""
    refusals = (_refused(peer.another(), code) for code in _NO_PERFORMATIVES)
    return worst((until_failure(refusals), _own_frames(peer)))


# --- steps of this module


def _order(peer: Peer, link: Link) -> str:
    """What is wrong with the order of the target's frames on a link's channel; empty where nothing is."""
    channel = link.session.remote_channel
    frames = [f for f in frames_of(peer) if f.channel == channel and f.name in ("attach", "transfer")]
    ids = [f.performative["delivery_id"] for f in frames[1:] if f.performative]
    first = ids[0] if ids and isinstance(ids[0], int) else 0
    wanted = [(first + n) % (1 << 32) for n in range(_MESSAGES)]
    if frames[0].name == "attach" and ids == wanted:
        return ""
    return f"channel {channel}: {frames[0].name} first, delivery-ids {ids}"


def _refused(peer: Peer, code: int) -> Verdict:
    """A described list of another descriptor in place of a performative."""
    peer.begin()
    descriptor = b"\x53" + bytes([code]) if code < 256 else b"\x80" + code.to_bytes(8, "big")
    peer.send_frame(b"\x00" + descriptor + b"\x45")
    return rejects_violation(peer)


def _own_frames(peer: Peer) -> Verdict:
    """A message through a node, and what frames the target sent for it."""
    address = fill(peer, peer.node(), b"message")
    link = peer.receiver(address, credit=1)
    peer.disposition(peer.delivery(link))
    peer.barrier()
    known = {row.name for row in DIALECT.performatives}
    others = {frame.name for frame in frames_of(peer)} - known - {"empty"}
    return holds(
        peer, not others, f"frames of the target: {', '.join(sorted(others)) or 'performatives only'}"
    )
