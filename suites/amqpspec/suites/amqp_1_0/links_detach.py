"""Detaching, reattaching, failing and closing links (amqp-1.0 §2.6.4 to §2.6.6)."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import allows, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import (
    RECEIVER,
    SECOND,
    SENDER,
    asked,
    bodies,
    breach,
    failed,
    failed_open,
    fill,
    filled,
    look,
    names_condition,
    oversize,
    own_terminus,
    partners_terminus,
    refused_attach,
    resuming,
    second_mode,
    states,
    twin,
    unsettled,
    unsettled_of,
)

_LATER_COUNT = 500

# --- detaching


@case("links.detaching.announce", covers=["links/detaching/announce"])
def detach_is_answered(peer: Peer) -> Verdict:
    """The target answers a detach that does not close with detach, in either direction."""
    address = peer.node()
    links = [peer.attach(role, address) for role in (SENDER, RECEIVER)]
    peer.claim("detach for each link")
    reported = [peer.detach(link, closed=False) for link in links]
    return holds(
        peer, all(t.error is None for t in reported), "; ".join(t.describe(peer.dialect) for t in reported)
    )


@case("links.detaching.fully-detached", covers=["links/detaching/fully-detached"])
def attach_after_detach(peer: Peer) -> Verdict:
    """A link that both sides have detached can be attached again under another handle."""
    address, name = fill(peer, peer.node(), b"one"), peer.name("link")
    link = peer.receiver(address, name=name, handle=0)
    peer.claim("detach, then a link of the same name that works")
    peer.detach(link, closed=False)
    again = peer.receiver(address, name=name, handle=1, credit=1)
    return equals(peer, peer.delivery(again).body, b"one", "body")


@case("links.detaching.by-delivery-id", covers=["links/detaching/by-delivery-id"])
def disposition_after_detach(peer: Peer) -> Verdict:
    """The target chooses whether a delivery of a detached link can still be settled by its delivery-id."""
    address = filled(peer, 1)
    link = peer.receiver(address)
    delivery = unsettled(peer, link, 1)[0]
    _detached_open(peer, link)
    peer.disposition(delivery)
    peer.barrier()
    # Ending the session gives up what is still unsettled on it.
    peer.end()
    left = look(peer, address)
    return observed_either_way(peer, "the message is available again" if left else "the message is consumed")


# --- reattaching


@case("links.reattaching.update", covers=["links/reattaching/update"])
def properties_of_a_reattached_link(peer: Peer) -> Verdict:
    """Detach and attach in one write change the properties of the link."""
    address, name = fill(peer, peer.node(), b"one"), peer.name("link")
    link = peer.receiver(address, name=name, target={"address": "before"}, max_message_size=1000)
    peer.claim("detach, then attach with the new target, then messages")
    again = _updated(peer, link, {"address": address})
    target = partners_terminus(again)
    if target is not None and target.get("address") != "after":
        return holds(peer, False, f"attach with the target {target.get('address')!r}")
    peer.credit(again, 1)
    return equals(peer, peer.delivery(again).body, b"one", "body")


@case("links.reattaching.other-source", covers=["links/reattaching/update"])
def source_of_a_reattached_link(peer: Peer) -> Verdict:
    """A link that is attached again with another source continues with the source in the target's answer."""
    one, two = fill(peer, peer.node("one"), b"one"), fill(peer, peer.node("two"), b"two")
    name = peer.name("link")
    link = peer.receiver(one, name=name)
    peer.claim("detach, then attach with one of the sources, then messages of that source")
    again = _updated(peer, link, {"address": two})
    reported = own_terminus(again) and own_terminus(again).get("address")
    if reported not in (one, two):
        return holds(peer, False, f"attach with the source {reported!r}")
    peer.credit(again, 1)
    expected = b"one" if reported == one else b"two"
    body = peer.delivery(again).body
    if body != expected:
        return equals(peer, body, expected, "body")
    return observed_either_way(
        peer, "continues with the other source" if reported == two else "keeps its source"
    )


# --- errors


@case("links.errors.detach-with-error", covers=["links/errors/detach-with-error"])
def error_detaches(peer: Peer) -> Verdict:
    """A transfer that a link endpoint cannot accept detaches the link with an error; the session continues."""
    link = peer.sender()
    # Without a limit on messages, the refusal of an attach shows a detach with an error as well.
    if oversize(link) is not None:
        peer.credit_for(link)
        peer.send_octets(breach(peer, link))
        verdict = judge_reaction(peer, peer.reaction(link=link))
    else:
        link, reaction = refused_attach(peer, SENDER)
        names_condition(link, reaction)
        verdict = judge_reaction(peer, reaction)
    return verdict if verdict.outcome is not Outcome.PASS else allows(peer, link.session.channel)


@case("links.errors.destroyed", covers=["links/errors/destroyed"])
def endpoint_is_destroyed(peer: Peer) -> Verdict:
    """A failed endpoint sends nothing more; a new attach of the name creates a new endpoint."""
    address, name = peer.node(), peer.name("link")
    link = peer.sender(address, name=name)
    failed(peer, link)
    peer.claim("nothing more from the old endpoint, and a new one that accepts messages")
    peer.barrier()
    stray = peer.pending("detach")
    if stray:
        return holds(peer, False, f"a second {stray[0].describe(peer.dialect)}", seen=stray[0])
    # A delivery-count far from the old one: a target that continues with the old endpoint counts
    # credit from the wrong number.
    again = peer.sender(address, name=name, unsettled={}, initial_delivery_count=_LATER_COUNT)
    return equals(peer, peer.outcome(peer.transfer(again, b"x")).result, "accepted", "outcome")


@case("links.errors.errant-link.transfer", covers=["links/errors/errant-link"])
def transfer_for_a_failed_link(peer: Peer) -> Verdict:
    """A transfer for a failed link whose detach is not yet answered ends the session."""
    link = _failed_unanswered(peer)
    peer.send_octets(peer.transfer_octets(link, b"too late"))
    return rejects_violation(peer)


@case("links.errors.errant-link.flow", covers=["links/errors/errant-link"])
def flow_for_a_failed_link(peer: Peer) -> Verdict:
    """A flow for a failed link whose detach is not yet answered ends the session."""
    link = _failed_unanswered(peer)
    peer.flow(link=link)
    return rejects_violation(peer)


@case(
    "links.errors.errant-link.disposition",
    covers=["links/errors/errant-link"],
    needs=["link-stealing"],
)
def disposition_for_a_failed_link(peer: Peer) -> Verdict:
    """A disposition for a delivery of a stolen link whose detach is not yet answered ends the session."""
    peer.polite = False
    # Another link has an unsettled delivery as well, the first one of the session: it has not failed.
    unsettled(peer, peer.receiver(filled(peer, 1)), 1)
    link = peer.receiver(filled(peer, 1))
    delivery = unsettled(peer, link, 1)[0]
    # Stealing is the way for a receiving link to fail while a delivery on it is unsettled.
    asked(twin(peer), RECEIVER, link.address, name=link.name)
    reaction = peer.reaction(link=link)
    if link.detached_by is None or link.detached_by.condition is None:
        raise OutOfReach("the target does not allow stealing a link", reaction)
    peer.disposition(delivery)
    return rejects_violation(peer)


@case("links.errors.errant-link.settlement", covers=["links/errors/errant-link"])
def settlement_for_a_failed_link(peer: Peer) -> Verdict:
    """A settlement of a delivery on a link that failed, before its detach is answered, ends the session."""
    peer.polite = False
    # The first delivery of the session is on a link that has not failed.
    links = [second_mode(peer, peer.node()) for _ in range(2)]
    sent = [peer.outcome(peer.transfer(link, b"unsettled")) for link in links]
    if any(outgoing.settled_by_target for outgoing in sent):
        raise Unmet("unsettled dispositions", "a settled one")
    failed(peer, links[1])
    peer.disposition(sent[1], role="sender")
    return rejects_violation(peer)


@case("links.errors.resume", covers=["links/errors/resume", "links/errors/resume-unsettled"])
def failed_link_without_map(peer: Peer) -> Verdict:
    """A failed link is resumed with an unsettled map; an attach without one ends the session."""
    address, name = peer.node(), peer.name("link")
    failed_open(peer, peer.sender(address, name=name))
    peer.send("attach", **peer.attach_fields(SENDER, address, name=name))
    return rejects_violation(peer)


@case("links.errors.resume-with-map", covers=["links/errors/resume-unsettled", "links/errors/resume"])
def failed_link_with_map(peer: Peer) -> Verdict:
    """A failed link can be resumed with an unsettled map, even an empty one."""
    address, name = peer.node(), peer.name("link")
    failed_open(peer, peer.sender(address, name=name))
    peer.claim("an attached link that accepts messages")
    again = peer.sender(address, name=name, unsettled={})
    return equals(peer, peer.outcome(peer.transfer(again, b"x")).result, "accepted", "outcome")


@case(
    "links.errors.resume-state",
    covers=["links/errors/resume", "links/errors/destroyed"],
    needs=["resume"],
)
def failed_link_keeps_its_terminus(peer: Peer) -> Verdict:
    """The terminus of a failed link still has its unsettled deliveries when the link is resumed."""
    address, name = peer.node(), peer.name("link")
    link = second_mode(peer, address, name=name)
    sent = peer.outcome(peer.transfer(link, b"unsettled"))
    failed_open(peer, link)
    peer.claim("an unsettled map with the delivery")
    again = resuming(peer, SENDER, address, name=name, rcv_settle_mode=SECOND, unsettled=states(sent.tag))
    reported = unsettled_of(again)
    return holds(
        peer, sent.tag in reported, f"unsettled: {', '.join(tag.hex() for tag in reported) or 'nothing'}"
    )


@case("links.errors.pipelined-attach", covers=["links/errors/pipelined-attach"])
def attach_that_was_under_way(peer: Peer) -> Verdict:
    """A reattach sent before the failure of its link is known ends the session."""
    failed_open(other := peer.another(), other.sender())  # whether a failing link is closed
    address, name = peer.node(), peer.name("link")
    link = peer.sender(address, name=name)
    peer.credit_for(link)
    # In one write: detach and attach go out before the failure could be known.
    octets = breach(peer, link) + peer.frame("detach", handle=link)
    octets += peer.frame("attach", **peer.attach_fields(SENDER, address, name=name))
    peer.send_octets(octets)
    peer.reaction(link=link)  # the detach of the link that failed
    return rejects_violation(peer)


@case("links.errors.attach-beside-failed", covers=["links/errors/pipelined-attach"])
def attach_before_detach(peer: Peer) -> Verdict:
    """An attach of the same name under another handle, sent before the failure is known, ends the session."""
    failed_open(other := peer.another(), other.sender())  # whether a failing link is closed
    address, name = peer.node(), peer.name("link")
    link = peer.sender(address, name=name)
    peer.credit_for(link)
    peer.polite = False
    octets = breach(peer, link)
    # Another handle, as the old one is in use until detach.
    octets += peer.frame("attach", **peer.attach_fields(SENDER, address, name=name, handle=link.handle + 1))
    peer.send_octets(octets)
    peer.reaction(link=link)  # the detach of the link that failed
    return rejects_violation(peer)


# --- closing


@case("links.closing.answer", covers=["links/closing/answer"])
def close_is_answered(peer: Peer) -> Verdict:
    """The target answers a closing detach with a closing detach, and the next attach starts from scratch."""
    address, name = filled(peer, 2), peer.name("link")
    link = peer.receiver(address, name=name)
    unsettled(peer, link, 2)
    peer.claim("a closing detach, then a link of that name with nothing unsettled")
    reported = peer.detach(link)
    if not reported["closed"] or reported.error is not None:
        return holds(
            peer, False, "detach that does not close" if reported.error is None else "detach with error"
        )
    again, _ = asked(peer, RECEIVER, address, name=name)
    held = unsettled_of(again)
    return holds(peer, not held, f"unsettled: {', '.join(tag.hex() for tag in held) or 'nothing'}")


@case("links.closing.crossing", covers=["links/closing/crossing"])
def closing_detach_that_crosses(peer: Peer) -> Verdict:
    """A closing detach that crosses a non-closing one ends neither the session nor its other link."""
    other = peer.sender()
    _crossed(peer)
    peer.claim("a message accepted on the other link")
    sent = peer.outcome(peer.transfer(other, b"x"))
    return equals(peer, sent.result, "accepted", "outcome")


@case("links.closing.crossing-answer", covers=["links/closing/crossing-answer"])
def crossing_is_answered(peer: Peer) -> Verdict:
    """The target answers a closing detach that crosses a non-closing one with attach and a closing detach.

    The link is closed then: its name serves for a new one.
    """
    link = _crossed(peer)
    before = link.detached_by
    peer.claim("attach of the same name, then a closing detach")
    peer.until(lambda: link.detached_by is not before, "attach and a closing detach", session=link.session)
    attached = peer.take(lambda a: a.name == "attach" and a.link is link)
    closed = owed(link.detached_by, "detach")["closed"] is True
    if (len(attached), closed) != (1, True):
        return equals(peer, (len(attached), closed), (1, True), "attaches, detach that closes")
    again = peer.sender(link.address, name=link.name, handle=link.handle + 1)
    return equals(peer, peer.outcome(peer.transfer(again, b"x")).result, "accepted", "outcome on a new link")


@case("links.closing.stale-dispositions", covers=["links/closing/stale-dispositions"])
def dispositions_behind_a_close(peer: Peer) -> Verdict:
    """An acceptance after the close of its link has no effect on a message that another receiver has by then."""
    address = filled(peer, 2)
    link = peer.receiver(address)
    held = unsettled(peer, link, 2)
    peer.detach(link)
    other = peer.another()
    try:
        again = other.deliveries(other.receiver(address, credit=2), 2)
    except Unmet as unmet:
        raise OutOfReach("the messages of a closed link stay with its session") from unmet
    if any(delivery.settled for delivery in again):
        raise OutOfReach("the target settles what it sends")
    peer.claim("both messages in the node, as their second receiver released them")
    peer.disposition(held[0], held[-1])
    peer.barrier()
    for delivery in again:
        other.disposition(delivery, state="released")
    other.close()
    other.hang_up()
    return equals(peer, sorted(look(peer, address, bodies(2))), bodies(2), "bodies")


# --- steps of this module


def _crossed(peer: Peer) -> Link:
    """A link that fails while its closing detach is in progress; raises OutOfReach if the target closes it."""
    failed_open(once := peer.another(), once.sender())  # whether a failing link is closed
    peer.polite = False
    link = peer.sender()
    peer.credit_for(link)
    # In one write: the detach goes out before the failure could be known.
    peer.send_octets(breach(peer, link) + peer.frame("detach", handle=link, closed=True))
    peer.until(lambda: link.detached_by is not None, "detach", session=link.session)
    if owed(link.detached_by, "detach")["closed"]:
        raise OutOfReach("the target closes the link", link.detached_by)
    return link


def _detached_open(peer: Peer, link: Link) -> None:
    """Detach a link whose source is to stay; raises OutOfReach if it goes."""
    source = own_terminus(link)
    policy = str(source.get("expiry_policy")) if source is not None else "link-detach"
    if policy == "link-detach":
        raise OutOfReach("the source is deleted with its link", link.attached)
    if (gone := peer.detach(link, closed=False))["closed"]:
        raise OutOfReach("the target closes a link that is detached", gone)


def _updated(peer: Peer, link: Link, source: dict[str, str]) -> Link:
    """The link detached and attached with another source and target in one write."""
    octets = peer.frame("detach", handle=link)
    fields = {"source": source, "target": {"address": "after"}, "max_message_size": 2000}
    octets += peer.frame(
        "attach", **peer.attach_fields(RECEIVER, name=link.name, handle=link.handle, **fields)
    )
    peer.send_octets(octets)
    again = peer.session().every_link[-1]
    peer.until(lambda: link.detached_by is not None, "detach", session=link.session)
    peer.until(lambda: again.attached is not None, "attach", session=link.session)
    return again


def _failed_unanswered(peer: Peer) -> Link:
    """A link that failed at the target, whose detach is not answered."""
    peer.polite = False
    link = peer.sender()
    failed(peer, link)
    return link
