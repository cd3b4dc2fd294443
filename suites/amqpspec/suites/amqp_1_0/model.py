"""What the protocol is made of (amqp-1.0 §2.1): nodes, links, sessions, the nine frame bodies."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.run.amqp_1_0.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, worst
from amqpspec.run.verdict import Verdict
from amqpspec.spec.amqp_1_0 import DIALECT
from amqpspec.suites.amqp_1_0._cases import on_connection
from amqpspec.suites.amqp_1_0._connections import about, frames_of, until_failure
from amqpspec.suites.amqp_1_0._links import (
    DURABLE,
    RECEIVER,
    bodies,
    fill,
    filled,
    own_terminus,
    resuming,
    states,
    unsettled,
    unsettled_of,
)
from amqpspec.wire.amqp_1_0.message import encode_message
from amqpspec.wire.amqp_1_0.values import Described, Map, Symbol

_SELECTOR = Symbol("apache.org:selector-filter:string")
_MESSAGES = 5
_LINKS = 10
# One below and one after the nine, 0x10 to 0x18; an outcome, a frame of SASL, one that no single octet can hold.
_NO_PERFORMATIVES = (0x0F, 0x19, 0x24, 0x41, 0x53535353)


@case("model.entry-criteria", covers=["model/entry-criteria"], needs=["filter"])
def filtered_messages(peer: Peer) -> Verdict:
    """A link delivers only the messages that match the filter of its source."""
    address = peer.node()
    wanted = {Symbol("red"): Described(_SELECTOR, "colour = 'red'")}
    link = peer.receiver(address, source={"address": address, "filter": Map(wanted)})
    if not (own_terminus(link) or {}).get("filter"):
        raise OutOfReach("the target leaves the selector out of its attach")
    peer.claim("of a blue and a red message, the red one")
    out = peer.sender(address)
    # The blue one first: a target that passes everything on sends it first.
    for colour in ("blue", "red"):
        message = encode_message(application_properties={"colour": colour}, data=colour.encode())
        peer.outcome(peer.transfer(out, message=message))
    # Credit for both, so that a second one would come if it could.
    peer.credit(link, 2)
    first = peer.delivery(link)
    peer.barrier()
    bodies = [delivery.body for delivery in (first, *peer.received(link))]
    return equals(peer, bodies, [b"red"], "bodies")


@case("model.channels-order", covers=["model/channels-order"])
def order_on_each_channel(peer: Peer) -> Verdict:
    """Each channel keeps the order of its frames: attach, then frames of the link, with consecutive delivery-ids."""
    nodes = [peer.node(), peer.node()]
    peer.begin(0)
    peer.begin(1)
    peer.claim("on both channels, attach first, then consecutive flows and delivery-ids")
    # On both channels at once, in one write: the target is tempted to mix them up.
    _attached(peer, "sender", nodes)
    if reported := _disorder(peer):
        return holds(peer, False, reported)
    for address in nodes:
        fill(peer, address, *bodies(_MESSAGES))
    for link in _attached(peer, "receiver", nodes, _MESSAGES):
        peer.deliveries(link, _MESSAGES)
    reported = _disorder(peer)
    return holds(peer, not reported, reported or "in order")


@on_connection("model.many-sessions", covers=["model/many-sessions"])
def two_sessions(peer: Peer) -> Verdict:
    """Two sessions work at the same time on one connection."""
    peer.room_for_channel(1)
    peer.claim("two sessions, both usable")
    for channel in (0, 1):
        peer.begin(channel)
    for channel in (1, 0):
        peer.barrier(channel)
    return holds(peer, True, "both work")


@case("model.many-links", covers=["model/many-links"])
def many_links_in_one_session(peer: Peer) -> Verdict:
    """One session carries many links in both directions, each with its own messages."""
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
    """A terminus that never expires survives the loss of its connection, with its unsettled deliveries."""
    name, address = peer.name("link"), filled(peer, 1)
    source = {"address": address, **DURABLE}
    link = peer.receiver(name=name, source=source)
    if (own_terminus(link) or {}).get("expiry_policy") != "never":
        raise OutOfReach("the target's terminus expires")
    tag = unsettled(peer, link, 1)[0].tag
    # Without close: the terminus has to survive what no one announced.
    peer.hang_up()
    other = peer.another(container_id=peer.container_id)
    peer.claim("the terminus, with the delivery in its unsettled map")
    other.begin()
    again = resuming(other, RECEIVER, name=name, source=source, unsettled=states(tag, state="received"))
    reported = unsettled_of(again)
    other.detach(again)
    return holds(peer, tag in reported, f"unsettled: {', '.join(t.hex() for t in reported) or 'nothing'}")


@case("model.nine-frame-bodies", covers=["model/nine-frame-bodies"])
def other_frame_bodies(peer: Peer) -> Verdict:
    """The target rejects a body that is not one of the nine performatives, and sends no other body itself."""
    refusals = (about(_refused(peer.another(), code), f"descriptor {code:#x}") for code in _NO_PERFORMATIVES)
    return worst((until_failure(refusals), _own_frames(peer)))


# --- steps of this module


def _attached(peer: Peer, role: str, nodes: list[str], credit: int = 0) -> list[Link]:
    """A link to each node, on channels 0, 1 and so on, all in one write, flows behind."""
    links, octets = [], b""
    for channel, address in enumerate(nodes):
        octets += peer.frame("attach", channel, **peer.attach_fields(role, address))
        links.append(peer.session(channel).every_link[-1])
    for link in links:
        octets += peer.frame("flow", link.session.channel, handle=link, link_credit=credit) if credit else b""
    peer.send_octets(octets)
    for link in links:
        peer.barrier(link.session.channel)
    return links


def _disorder(peer: Peer) -> str:
    """What is wrong with the order of the target's frames on each channel; empty if nothing is."""
    handles: dict[int, set[int]] = {}
    ids: dict[int, int] = {}
    begun: set[tuple[int, int]] = set()
    for frame in frames_of(peer):
        if frame.performative is None or frame.name not in ("attach", "flow", "transfer"):
            continue
        known, handle = handles.setdefault(frame.channel, set()), frame.performative["handle"]
        if frame.name == "attach":
            known.add(handle)
        # A link is known by its attach only: whatever comes before it is out of order.
        elif handle is not None and handle not in known:
            return f"channel {frame.channel}: {frame.name} for handle {handle}, which is not attached yet"
        if frame.name != "transfer":
            continue
        first = (frame.channel, handle) not in begun
        more = frame.performative["more"] is True and frame.performative["aborted"] is not True
        (begun.add if more else begun.discard)((frame.channel, handle))
        # Only first transfers: a continuation may repeat the delivery-id (amqp-1.0 §2.7.5).
        if first and (id := frame.performative["delivery_id"]) is not None:
            if id != ids.get(frame.channel, id):
                return f"channel {frame.channel}: delivery-id {id} in place of {ids[frame.channel]}"
            ids[frame.channel] = (id + 1) % (1 << 32)
    return ""


def _refused(peer: Peer, code: int) -> Verdict:
    """A described list of another descriptor in place of a performative."""
    peer.begin()
    # Descriptors up to 255 as smallulong (53), others as ulong (80).
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
