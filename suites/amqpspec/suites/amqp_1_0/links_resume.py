"""Resuming and recovering links (amqp-1.0 §2.6.3): unsettled deliveries, and whose termini apply."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import (
    DURABLE,
    RECEIVER,
    SECOND,
    SENDER,
    asked,
    fill,
    filled,
    look,
    own_terminus,
    partners_terminus,
    reborn,
    refused_bare,
    resuming,
    second_mode,
    settled_arrivals,
    states,
    unsettled,
    unsettled_of,
)
from amqpspec.suites.amqp_1_0._transfers import NOTHING_RECEIVED, in_mode_second, octets_of, piece
from amqpspec.suites.amqp_1_0._transfers_resume import outcomes_told, resume, suspend
from amqpspec.wire.amqp_1_0.values import Map

_BEGUN_OCTETS, _ENOUGH = 3, 10
_KEPT = ("address", "durable", "expiry_policy", "distribution_mode")


@case(
    "links.establishing.unsettled-state.sender",
    covers=["links/establishing/unsettled-state"],
    needs=["resume"],
)
def unsettled_of_a_target(peer: Peer) -> Verdict:
    """A target that still exists reports its unsettled deliveries when its link is attached again."""
    name, address = peer.name("link"), peer.node()
    # In mode second the target keeps a delivery unsettled until the sender has settled it; in mode first
    # there would be nothing to tell.
    link = second_mode(peer, address, name=name)
    sent = peer.outcome(peer.transfer(link, b"unsettled"))
    peer.claim("an unsettled map with the delivery")
    if sent.settled_by_target:
        return holds(peer, False, "settled by the receiver, which settles second")
    peer.detach(link, closed=False)
    again = resuming(peer, SENDER, address, name=name, rcv_settle_mode=SECOND, unsettled=states(sent.tag))
    reported = unsettled_of(again)
    return holds(
        peer, sent.tag in reported, f"unsettled: {', '.join(tag.hex() for tag in reported) or 'nothing'}"
    )


@case(
    "links.establishing.unsettled-state.receiver",
    covers=["links/establishing/unsettled-state"],
    needs=["resume"],
)
def unsettled_of_a_source(peer: Peer) -> Verdict:
    """A source that still exists reports its unsettled deliveries when its link is attached again."""
    name, address = peer.name("link"), filled(peer, 2)
    link = peer.receiver(address, name=name)
    tags = sorted((delivery.tag for delivery in unsettled(peer, link, 2)), key=str)
    peer.claim("an unsettled map with both deliveries")
    peer.detach(link, closed=False)
    again = resuming(peer, RECEIVER, address, name=name, unsettled=states(*tags, state="received"))
    return equals(peer, sorted(unsettled_of(again), key=str), tags, "unsettled")


@case(
    "transfers.resuming.unsettled-map.receiver", covers=["transfers/resuming/unsettled-map"], needs=["resume"]
)
def map_of_the_target_as_receiver(peer: Peer) -> Verdict:
    """As a receiver, the target reports the outcome of each complete delivery and of no incomplete one."""
    link = in_mode_second(peer, "sender", peer.node())
    whole = [peer.outcome(peer.transfer(link, body)) for body in (b"1", b"2")]
    if any(sent.settled_by_target for sent in whole):
        raise Unmet("unsettled dispositions", "a settled one")
    begun = piece(peer, link, octets_of(b"begun")[:_BEGUN_OCTETS], more=True)
    peer.barrier()
    peer.claim("the outcomes as reported before, and none for the incomplete delivery")
    suspend(peer, link)
    tags = {sent.tag: NOTHING_RECEIVED for sent in (*whole, begun)}
    again = resume(peer, link, tags, rcv_settle_mode="second")
    wanted = {**{sent.tag: sent.outcome for sent in whole}, begun.tag: ""}
    return equals(peer, outcomes_told(again, _BEGUN_OCTETS), wanted, "outcomes by tag")


@case(
    "transfers.resuming.unsettled-map.settled", covers=["transfers/resuming/unsettled-map"], needs=["resume"]
)
def map_without_what_is_settled(peer: Peer) -> Verdict:
    """A delivery with an outcome in the receiver's map is settled, and appears in no later map of the target."""
    name, address = peer.name("link"), filled(peer, 2)
    link = peer.receiver(address, name=name)
    decided, left = unsettled(peer, link, 2)
    peer.detach(link, closed=False)
    map = {**states(decided.tag), **states(left.tag, state="received")}
    again = resuming(peer, RECEIVER, address, name=name, unsettled=Map(map))
    if left.tag not in unsettled_of(again):
        raise OutOfReach("the source has no unsettled delivery")
    peer.credit(again, 2)
    peer.claim("only the delivery without an outcome in the next map")
    peer.until(lambda: left.tag in {delivery.tag for delivery in again.inbox}, "it resumed", link=again)
    suspend(peer, again)
    last = resuming(peer, RECEIVER, address, name=name, unsettled=states(left.tag, state="received"))
    return equals(peer, outcomes_told(last), {left.tag: ""}, "outcomes by tag")


@case("links.establishing.authority", covers=["links/establishing/authority"], needs=["resume"])
def authority_over_termini(peer: Peer) -> Verdict:
    """A link resumed with another target uses it: the receiver decides on the target, the sender on the source."""
    name, address = peer.name("link"), filled(peer, 1)
    source = {"address": address, **DURABLE}
    link = peer.receiver(name=name, source=source, target={"address": "before"})
    tag = unsettled(peer, link, 1)[0].tag
    peer.detach(link, closed=False)
    peer.claim("the target as the receiver names it now, the source as before")
    map = states(tag, state="received")
    # The receiver's own terminus differs, the source is as before: what each side has authority over.
    again = resuming(peer, RECEIVER, name=name, source=source, target={"address": "after"}, unsettled=map)
    target, reported = partners_terminus(again), own_terminus(again)
    peer.detach(again)
    if target is not None and target.get("address") != "after":
        return holds(peer, False, f"attach with the target {target.get('address')!r}")
    return equals(peer, reported and reported.get("address"), address, "address of the source")


@case("links.establishing.without-map", covers=["links/establishing/answer"])
def attached_again_without_a_map(peer: Peer) -> Verdict:
    """A peer that lost the state of a link attaches it again without a map and receives new messages."""
    name, address = peer.name("link"), filled(peer, 1)
    link = peer.receiver(address, name=name)
    unsettled(peer, link, 1)
    peer.detach(link, closed=False)
    peer.claim("the link attached, and a new message over it")
    again = peer.receiver(address, name=name)
    fill(peer, address, b"new")
    peer.credit(again, _ENOUGH)
    peer.until(lambda: b"new" in {d.body for d in again.inbox}, "the new message", link=again)
    settled_arrivals(peer, again)
    peer.detach(again)
    return holds(peer, True, "attach, and the new message")


@case("links.recovering.full-state", covers=["links/recovering/full-state"], needs=["resume"])
def recovered_source(peer: Peer) -> Verdict:
    """A client that attaches by name without a source receives the source of the earlier attach."""
    peer, address, link, verdict = _recovered(peer, RECEIVER)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    peer.credit(link, 1)
    fill(peer, address, b"recovered")
    body = peer.delivery(link).body
    peer.detach(link)
    return equals(peer, body, b"recovered", "body")


@case("links.recovering.full-state.target", covers=["links/recovering/full-state"], needs=["resume"])
def recovered_target(peer: Peer) -> Verdict:
    """A client that attaches by name, without a target, gets the target of the earlier attach."""
    peer, address, link, verdict = _recovered(peer, SENDER)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    peer.outcome(peer.transfer(link, b"recovered"))
    peer.detach(link)
    return equals(peer, look(peer, address, [b"recovered"]), [b"recovered"], "bodies")


@case("links.recovering.no-record", covers=["links/recovering/no-record"])
def link_that_nobody_knows(peer: Peer) -> Verdict:
    """An attach by an unknown name without a terminus finds no terminus."""
    return worst(_not_found(peer.another(), role) for role in (RECEIVER, SENDER))


# --- steps of this module


def _recovered(peer: Peer, role: str) -> tuple[Peer, str, Link, Verdict]:
    """A link whose terminus is named before its connection is closed, and not afterwards; whether it is the same."""
    name, address, own = peer.name("link"), peer.node(), "source" if role == RECEIVER else "target"
    terminus: dict[str, Any] = {own: {"address": address, **DURABLE}}
    before = own_terminus(peer.attach(role, name=name, **terminus))
    if before["expiry_policy"] != "never":
        raise OutOfReach(f"the target creates no {own} that outlives its connection")
    # On a new connection, so that only what the target keeps can tell its terminus.
    peer = reborn(peer)
    peer.claim(f"the {own} as reported before")
    none: dict[str, Any] = {own: None}
    link, reaction = asked(peer, role, name=name, **none)
    if link.attached is None:
        return peer, address, link, holds(peer, False, reaction)
    after = own_terminus(link)
    if after is None:
        return peer, address, link, holds(peer, False, f"attach without {own}")
    return peer, address, link, equals(peer, _reported(after), _reported(before), own)


def _reported(terminus: Any) -> dict[str, str]:
    return {key: str(terminus.get(key)) for key in _KEPT}


def _not_found(peer: Peer, role: str) -> Verdict:
    own = "source" if role == RECEIVER else "target"
    none: dict[str, Any] = {own: None}
    # No terminus of the target's is named: without a record of the name there is none it could be.
    link, reaction = asked(peer, role, **none)
    if link.attached is not None and own_terminus(link) is not None:
        return holds(peer, False, f"attach with a {own}", f"attach without {own}, then detach")
    verdict = holds(peer, True, reaction) if refused_bare(link) else judge_reaction(peer, reaction)
    # An error has a condition, whichever it is (amqp-1.0 §2.8.14).
    return verdict if link.detached_by is None else worst((verdict, well_formed(peer, link.detached_by)))
