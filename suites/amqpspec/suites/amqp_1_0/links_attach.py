"""Establishing links (amqp-1.0 §2.6.3): what attach is answered by, refused links, termini as they are."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session
from amqpspec.suites.amqp_1_0._links import (
    DURABLE,
    RECEIVER,
    SENDER,
    arrived,
    asked,
    bodies,
    fill,
    filled,
    look,
    must_attach,
    own_terminus,
    partners_terminus,
    reborn,
    refused_attach,
    settled_arrivals,
)
from amqpspec.wire.amqp_1_0.values import Described, Map, Symbol

_ROLES = (SENDER, RECEIVER)
_UNHEARD_OF = Symbol("amqpspec:unheard-of")
# Unknown by its descriptor; what it says would be a selector under one that is known.
_FILTER = Map({_UNHEARD_OF: Described(_UNHEARD_OF, "colour = 'red'")})
_ASKED = ("filter", "capabilities", "durable", "expiry_policy")


@in_session("links.establishing.answer", covers=["links/establishing/answer"])
def attach_is_answered(peer: Peer) -> Verdict:
    """The target answers attach with an attach of the same name in the other role, with a handle."""
    address = peer.node()
    peer.claim("attach of the same name in the other role, with a handle")
    links = [peer.attach(role, address) for role in _ROLES]
    kept = all(link.attached is not None and "handle" in link.attached.given for link in links)
    return holds(peer, kept, "attach of both names" + ("" if kept else ", without a handle"))


@case("links.establishing.create-terminus", covers=["links/establishing/create-terminus"])
def address_that_names_nothing(peer: Peer) -> Verdict:
    """The target creates a node for an address that does not exist, or rejects the link."""
    verdicts = []
    for channel, role in enumerate(_ROLES):
        peer.room_for_channel(channel)
        address = peer.address_of(peer.will_clean("queue", peer.name("unknown")))
        link, reaction = asked(peer, role, address, channel)
        verdicts.append(borne(peer, reaction) if reaction.refusal else observed_either_way(peer, _made(link)))
    return worst(verdicts)


@case("links.establishing.null-terminus", covers=["links/establishing/null-terminus"])
def refused_link_without_terminus(peer: Peer) -> Verdict:
    """The attach that rejects a link has no terminus of the target's own."""
    return worst(_null_terminus(peer.another(), role) for role in _ROLES)


@case("links.establishing.refused-detach", covers=["links/establishing/refused-detach"])
def refused_link_is_detached(peer: Peer) -> Verdict:
    """The target sends a detach after the attach that rejects a link."""
    return worst(_refused(peer.another(), role) for role in _ROLES)


@case("links.establishing.whose-terminus", covers=["links/establishing/whose-terminus"])
def termini_of_both_sides(peer: Peer) -> Verdict:
    """A link has the source that its sender names and the target that its receiver names."""
    address, own = peer.node(), peer.name("own")
    peer.begin()
    peer.claim("the termini that each side names, and a working link")
    sender = peer.sender(address, source={"address": own})
    receiver = peer.receiver(fill(peer, address, b"one"), target={"address": own}, credit=1)
    termini = [partners_terminus(link) for link in (sender, receiver)]
    reported = [_address(terminus) for terminus in termini if terminus is not None]
    if any(address != own for address in reported):
        return equals(peer, reported, [own] * len(reported), "addresses of the peer's termini")
    verdict = equals(peer, peer.delivery(receiver).body, b"one", "body")
    # The target need not repeat the peer's terminus; what it does repeat has to be right.
    if verdict.outcome is Outcome.PASS and len(reported) < len(termini):
        return observed_either_way(peer, "a link that works; a terminus of the peer is left out of attach")
    return verdict


@case("links.establishing.adjust", covers=["links/establishing/adjust"])
def more_than_a_target_has(peer: Peer) -> Verdict:
    """A target that lacks part of what a source asks for creates a source with less, or rejects the link."""
    address = peer.node()
    capabilities = (_UNHEARD_OF,)
    # A filter and a capability that no one knows, and a source that lives forever.
    source = {"address": address, "filter": _FILTER, "capabilities": capabilities, **DURABLE}
    link, reaction = asked(peer, RECEIVER, source=source)
    if reaction.refusal is not None or link.refused:
        return observed_either_way(peer, "", reaction)
    reported = own_terminus(link)
    kept = [key for key in _ASKED if reported.get(key) not in (None, (), {}, 0)]
    peer.detach(link)
    return observed_either_way(peer, f"a source with {', '.join(kept) or 'nothing of it'}")


@case("links.establishing.actual-properties", covers=["links/establishing/actual-properties"])
def filter_that_is_not_there(peer: Peer) -> Verdict:
    """The target's source does not name a filter that the target cannot know."""
    address = filled(peer, 1)
    link, reaction = asked(peer, RECEIVER, source={"address": address, "filter": _FILTER})
    if reaction.refusal is not None or link.refused:
        raise OutOfReach(f"an unknown filter is refused: {reaction.describe(peer.dialect)}", reaction)
    peer.claim("a source without the unknown filter")
    reported = own_terminus(link).get("filter") or {}
    return holds(peer, _UNHEARD_OF not in reported, f"filters {', '.join(map(str, reported)) or 'none'}")


@case("links.establishing.distribution-mode", covers=["links/establishing/actual-properties"])
def distribution_mode_as_told(peer: Peer) -> Verdict:
    """A source that is asked to copy leaves its message in the node if the target's attach says copy, not if it says
    move.
    """
    address = filled(peer, 1)
    link, reaction = asked(peer, RECEIVER, source={"address": address, "distribution_mode": Symbol("copy")})
    must_attach(peer, link, reaction, "no distribution-mode copy")
    mode = own_terminus(link).get("distribution_mode")
    if mode not in ("copy", "move"):
        raise OutOfReach("the target's attach names no distribution-mode", link.attached)
    peer.credit(link, 1)
    arrived(peer, link, 1)
    settled_arrivals(peer, link)
    peer.detach(link)
    peer.claim(f"what a source of the mode {mode} leaves in its node")
    kept = bodies(1) if mode == "copy" else []
    return equals(peer, look(peer, address, kept), kept, f"mode {mode}: messages in the node")


@case(
    "links.establishing.dynamic-address",
    covers=["links/establishing/actual-properties"],
    needs=["dynamic-nodes"],
)
def address_of_a_dynamic_node(peer: Peer) -> Verdict:
    """The source of a dynamic node names its address, which no other dynamic node has."""
    links = []
    # Two nodes: an address that is always the same would pass with one.
    for _ in range(2):
        link, reaction = asked(peer, RECEIVER, source={"dynamic": True})
        must_attach(peer, link, reaction, "no nodes on request")
        links.append(link)
    peer.claim("two addresses, each of a node that can be sent to")
    one, two = (_address(own_terminus(link)) for link in links)
    if not one or not two or one == two:
        return holds(peer, False, f"addresses {one!r} and {two!r}")
    peer.credit(links[0], 1)
    peer.transfer(peer.sender(one), b"to the first")
    return equals(peer, peer.delivery(links[0]).body, b"to the first", "body")


@case(
    "links.establishing.expiry-as-told",
    covers=["links/establishing/actual-properties"],
    needs=["resume"],
)
def expiry_as_announced(peer: Peer) -> Verdict:
    """A source that should outlive its connection does so exactly if the target's attach confirms it."""
    name, address = peer.name("link"), filled(peer, 1)
    link = peer.receiver(name=name, source={"address": address, **DURABLE})
    reported = str(own_terminus(link)["expiry_policy"])
    peer = reborn(peer)
    # No source in this attach: it is there only if the target has kept it.
    again, _ = asked(peer, RECEIVER, name=name, source=None)
    there = again.attached is not None and own_terminus(again) is not None
    if there:
        peer.detach(again)
    peer.claim(f"a source that follows the announced expiry-policy {reported}")
    return holds(peer, there == (reported == "never"), "it existed" if there else "it did not exist")


# --- steps of this module


def _made(link: Link) -> str:
    return "refused without an error" if link.refused else f"a node is created for a {link.role}"


def _refused(peer: Peer, role: str) -> Verdict:
    peer.begin()
    peer.claim("attach, then detach")
    link, reaction = refused_attach(peer, role)
    # The figure shows this detach without an error (amqp-1.0 §2.6.3).
    return holds(peer, link.refused and link.detached_by is not None, reaction)


def _null_terminus(peer: Peer, role: str) -> Verdict:
    peer.begin()
    peer.claim("attach without a terminus of the target's own")
    link, reaction = refused_attach(peer, role)
    if link.attached is None:
        return holds(peer, False, reaction)
    return holds(peer, own_terminus(link) is None, _reported(link.attached, link))


def _reported(attach: FrameArrived, link: Link) -> str:
    terminus = own_terminus(link)
    return "attach without terminus" if terminus is None else f"attach with {terminus.name}"


def _address(terminus: Any) -> Any:
    return None if terminus is None else terminus.get("address")
