"""Resuming and recovering links (amqp-1.0 §2.6.3): what is unsettled, whose termini count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.record.rows import Outcome
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
    own_terminus,
    partners_terminus,
    reborn,
    resuming,
    second_mode,
    states,
    unsettled,
    unsettled_of,
)
from amqpspec.suites.amqp_1_0._transfers import NOTHING_RECEIVED, in_mode_second, octets_of, piece
from amqpspec.suites.amqp_1_0._transfers_resume import outcomes_told, resume, suspend
from amqpspec.wire.amqp_1_0.values import Map

_BEGUN_OCTETS = 3
_KEPT = ("address", "durable", "expiry_policy", "distribution_mode")


@case(
    "links.establishing.unsettled-state.sender",
    covers=["links/establishing/unsettled-state"],
    needs=["resume"],
)
def unsettled_of_a_target(peer: Peer) -> Verdict:
    """A target that is still there tells what it holds unsettled when its link is attached again."""
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
    """A source that is still there tells what it holds unsettled when its link is attached again."""
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
    """As a receiver, the target tells the outcome of what came whole, and none of what did not."""
    link = in_mode_second(peer, "sender", peer.node())
    whole = [peer.outcome(peer.transfer(link, body)) for body in (b"1", b"2")]
    if any(sent.settled_by_target for sent in whole):
        raise Unmet("unsettled dispositions", "a settled one")
    begun = piece(peer, link, octets_of(b"begun")[:_BEGUN_OCTETS], more=True)
    peer.barrier()
    peer.claim("the outcomes as they were told before, and none of the delivery that has begun")
    suspend(peer, link)
    tags = {sent.tag: NOTHING_RECEIVED for sent in (*whole, begun)}
    again = resume(peer, link, tags, rcv_settle_mode="second")
    wanted = {**{sent.tag: sent.outcome for sent in whole}, begun.tag: ""}
    return equals(peer, outcomes_told(again, _BEGUN_OCTETS), wanted, "outcomes by tag")


@case(
    "transfers.resuming.unsettled-map.settled", covers=["transfers/resuming/unsettled-map"], needs=["resume"]
)
def map_without_what_is_settled(peer: Peer) -> Verdict:
    """Whose outcome the receiver has told by its map is settled, and in no map of the target's that comes later."""
    name, address = peer.name("link"), filled(peer, 2)
    link = peer.receiver(address, name=name)
    decided, left = unsettled(peer, link, 2)
    peer.detach(link, closed=False)
    map = {**states(decided.tag), **states(left.tag, state="received")}
    again = resuming(peer, RECEIVER, address, name=name, unsettled=Map(map))
    if left.tag not in unsettled_of(again):
        raise OutOfReach("the source holds nothing unsettled any more")
    peer.credit(again, 2)
    peer.claim("the delivery without an outcome alone in the next map")
    peer.until(lambda: left.tag in {delivery.tag for delivery in again.inbox}, "it resumed", link=again)
    suspend(peer, again)
    last = resuming(peer, RECEIVER, address, name=name, unsettled=states(left.tag, state="received"))
    return equals(peer, outcomes_told(last), {left.tag: ""}, "outcomes by tag")


@case("links.establishing.authority", covers=["links/establishing/authority"], needs=["resume"])
def authority_over_termini(peer: Peer) -> Verdict:
    """A link that is resumed with another target has it: the receiver decides on that, the sender on the source."""
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


@case("links.recovering.full-state", covers=["links/recovering/full-state"], needs=["resume"])
def recovered_source(peer: Peer) -> Verdict:
    """Who attaches without a source, by name alone, gets the source as it was told before."""
    name, address = peer.name("link"), peer.node()
    before = own_terminus(peer.receiver(name=name, source={"address": address, **DURABLE}))
    if before["expiry_policy"] != "never":
        raise OutOfReach("the target makes no source that outlives its connection")
    # On a new connection, so that only what the target keeps can tell the source.
    peer = reborn(peer)
    peer.claim("the source as it was told before")
    again = peer.try_attach(RECEIVER, name=name, source=None)
    after = own_terminus(again)
    if after is None:
        return holds(peer, False, "attach without source")
    verdict = equals(peer, _reported(after), _reported(before), "source")
    return verdict if verdict.outcome is not Outcome.PASS else _works(peer, address, name)


@case("links.recovering.no-record", covers=["links/recovering/no-record"])
def link_that_nobody_knows(peer: Peer) -> Verdict:
    """Attach by a name that the target does not know, without a terminus of its own, finds none."""
    return worst(_not_found(peer.another(), role) for role in (RECEIVER, SENDER))


# --- steps of this module


def _reported(terminus: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(terminus[key]) for key in _KEPT}


def _works(peer: Peer, address: str, name: str) -> Verdict:
    """The recovered link brings what its node holds."""
    link = owed(peer.session().link_named(name, RECEIVER), "attach")
    peer.credit(link, 1)
    fill(peer, address, b"recovered")
    body = peer.delivery(link).body
    peer.detach(link)
    return equals(peer, body, b"recovered", "body")


def _not_found(peer: Peer, role: str) -> Verdict:
    own = "source" if role == RECEIVER else "target"
    none: dict[str, Any] = {own: None}
    # No terminus of the target's is named: without a record of the name there is none it could be.
    link, reaction = asked(peer, role, **none)
    if link.attached is not None and own_terminus(link) is not None:
        return holds(peer, False, f"attach with a {own}", f"attach without {own}, then detach")
    return judge_reaction(peer, reaction)
