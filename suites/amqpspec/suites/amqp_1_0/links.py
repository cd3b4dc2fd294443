"""Links (amqp-1.0 §2.6 to §2.6.2): deliveries as termini know them, names, handles."""

from __future__ import annotations

from itertools import pairwise

from amqpspec.peer.amqp_1_0.books import Link, ahead
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.peer.events import Reaction
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import allows, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session
from amqpspec.suites.amqp_1_0._links import (
    RECEIVER,
    SENDER,
    asked,
    bodies,
    fill,
    filled,
    look,
    refused_attach,
    refused_bare,
    twin,
)
from amqpspec.suites.amqp_1_0._sessions import unattached

_NAME_OCTETS = (1, 255, 256, 4000)
_HANDLES = (7, 3, 100)

# --- deliveries


@case("links.settled-for-ever", covers=["links/settled-for-ever"])
def settled_stays_settled(peer: Peer) -> Verdict:
    """A later disposition does not change a settled delivery."""
    address = filled(peer, 1)
    link = peer.receiver(address, credit=1)
    delivery = peer.delivery(link)
    peer.disposition(delivery)
    # The settlement has arrived before the attempt to undo it.
    peer.barrier()
    peer.claim("the message stays consumed")
    peer.disposition(delivery, settled=False, state="released")
    peer.reaction()
    return equals(peer, look(peer, address), [], "in the node")


@case("links.delivery-tag-per-attempt", covers=["links/delivery-tag-per-attempt"])
def tags_of_attempts(peer: Peer) -> Verdict:
    """A redelivered message has a tag that no other unsettled delivery has."""
    link = peer.receiver(filled(peer, 5), credit=5, snd_settle_mode="unsettled")
    held = peer.deliveries(link, 5)
    if any(delivery.settled for delivery in held):
        raise OutOfReach("the target settles what it sends")
    tags = [delivery.tag for delivery in held]
    if len(set(tags)) == 5:
        # Two of five given back: their next attempts need tags that the other three do not have.
        for delivery in held[1:3]:
            peer.disposition(delivery, state="released")
        peer.credit(link, 5)
        again = peer.deliveries(link, 2)
        tags = [delivery.tag for delivery in (held[0], *held[3:], *again)]
    peer.claim("five unsettled deliveries with five tags")
    return holds(peer, len(set(tags)) == 5 and all(tags), f"tags {' '.join(tag.hex() for tag in tags)}")


@case("links.delivery-ids-per-session", covers=["links/delivery-ids-per-session"])
def ids_of_one_sequence(peer: Peer) -> Verdict:
    """Delivery-ids are consecutive within each session, across all of its links."""
    peer.begin(0)
    peer.begin(1)
    one, two = (peer.receiver(filled(peer, 3)) for _ in range(2))
    other = peer.receiver(filled(peer, 2), channel=1)
    ids = {0: _ids(peer, one, 2), 1: _ids(peer, other, 2)}
    ids[0] += _ids(peer, two, 3) + _ids(peer, one, 1)
    peer.claim("delivery-ids that follow each other in each session")
    kept = all(ahead(b, a) == 1 for found in ids.values() for a, b in pairwise(found))
    return holds(peer, kept, f"delivery-ids {ids[0]} in one session, {ids[1]} in the other")


# --- names


@case("links.names.unique", covers=["links/names/unique"])
def one_name_on_two_connections_as_receiver(peer: Peer) -> Verdict:
    """If two connections of a container attach a receiver of the same name, one link remains."""
    return _one_lives(peer, RECEIVER)


@case("links.names.one-connection", covers=["links/names/one-connection"])
def one_name_on_two_connections_as_sender(peer: Peer) -> Verdict:
    """If two connections of a container attach a sender of the same name, one link remains."""
    return _one_lives(peer, SENDER)


@case("links.names.both-directions", covers=["links/names/unique", "links/names/one-connection"])
def one_name_in_both_directions(peer: Peer) -> Verdict:
    """Two links with the same name and different directions are two links."""
    address, name = peer.node(), peer.name("link")
    sender = peer.sender(address, name=name)
    peer.claim("two links of one name, one in each direction")
    receiver = peer.receiver(address, name=name, credit=1)
    peer.barrier()
    if (gone := sender.detached_by or receiver.detached_by) is not None:
        return holds(peer, False, gone)
    peer.transfer(sender, b"through both")
    return equals(peer, peer.delivery(receiver).body, b"through both", "body")


@in_session("links.names.length", covers=["links/names/length"])
def names_of_any_length(peer: Peer) -> Verdict:
    """The target accepts link names of one octet, of more than 255, of thousands, and with non-ASCII characters."""
    address = peer.node()
    peer.claim("attach under the name that was sent")
    names = ["n" * octets for octets in _NAME_OCTETS] + ["Verknüpfung-リンク-🔗"]
    too_long = []
    for name in names:
        fields = peer.attach_fields(SENDER, address, name=name, handle=0, initial_delivery_count=0)
        # A name may be as long as a frame; one that fits none of the target's frames cannot be sent.
        if len(peer.exact("attach", **fields)) > peer.max_frame_octets:
            too_long.append(f"{len(name)} octets")
        else:
            peer.detach(peer.sender(address, name=name, initial_delivery_count=0))
    left_out = f" but {', '.join(too_long)}, above its max-frame-size" if too_long else ""
    return holds(peer, True, f"attached under each name{left_out}")


@case(
    "links.names.stolen", covers=["links/names/stolen", "links/names/one-connection"], needs=["link-stealing"]
)
def stolen_link(peer: Peer) -> Verdict:
    """A link that a second attach takes over is closed with stolen, for either role."""
    verdict = holds(peer, True, "closed with stolen")
    for role in (SENDER, RECEIVER):
        first, link, second, refusal = _same_name_twice(peer, role)
        if not second.is_attached or second.refused:
            raise OutOfReach("the target refuses the second attach of a name", refusal)
        verdict = judge_reaction(peer, first.reaction(link=link))
        if verdict.outcome is not Outcome.PASS:
            return verdict
        if not owed(link.detached_by, "detach")["closed"]:
            return holds(peer, False, "detach with stolen that does not close", "a closing detach")
    return verdict


# --- handles


@case("links.handles.until-detach", covers=["links/handles/until-detach"])
def handle_until_detach(peer: Peer) -> Verdict:
    """A handle identifies its link until detach, and no link after it."""
    link = peer.receiver(filled(peer, 2), handle=4)
    peer.claim("transfers, dispositions and flows for the handle")
    peer.credit(link, 1)
    peer.disposition(peer.delivery(link))
    peer.credit(link, 1)
    peer.disposition(peer.delivery(link))
    # Two messages over it, then the detach: the handle was good, and is none any more.
    used = allows(peer, link=link)
    if used.outcome is not Outcome.PASS:
        return used
    peer.detach(link)
    peer.claim("a refusal of flow for the handle that is free")
    peer.send("flow", handle=4, link_credit=1, delivery_count=link.delivery_count)
    reaction = peer.reaction()
    return holds(peer, reaction.refusal is not None, reaction)


@case("links.handles.after-refusal", covers=["links/handles/until-detach"])
def handle_of_a_refused_link(peer: Peer) -> Verdict:
    """The handle of a rejected link is free for another link as soon as both sides have detached it."""
    # Not the handle that is the default of many fields: zero.
    link, reaction = refused_attach(peer, SENDER, handle=_HANDLES[1])
    channel = link.session.channel
    if link.detached_by is None or not link.session.is_mapped:
        raise OutOfReach("a refused link ends its session, or stays attached", reaction)
    peer.claim("an attached link with the same handle, and its message")
    again = peer.receiver(filled(peer, 1), channel, handle=link.handle, credit=1)
    return equals(peer, peer.delivery(again).body, bodies(1)[0], "body")


@case("links.handles.unattached-flow", covers=["performatives/flow/handle/unattached"])
def flow_for_a_handle_without_link(peer: Peer) -> Verdict:
    """A flow ends the session if its handle never had a link or if the link is detached."""
    # A connection each: the first refusal ends its session.
    never, detached = peer.another(), peer.another()
    never.begin()
    never.send("flow", handle=unattached(never), link_credit=1, delivery_count=0)
    verdict = rejects_violation(never)
    link = detached.receiver()
    detached.detach(link)
    detached.send("flow", handle=link.handle, link_credit=1, delivery_count=link.delivery_count)
    return worst([verdict, rejects_violation(detached)])


@case("links.handles.differ", covers=["links/handles/differ"])
def handles_of_ones_own(peer: Peer) -> Verdict:
    """Each side assigns frames to links by the handles that the other side chose."""
    one, two = peer.node(), filled(peer, 1)
    session = peer.begin()
    if session.remote_handle_max < max(_HANDLES):
        raise OutOfReach(f"handle-max is {session.remote_handle_max}, the case needs {max(_HANDLES)}")
    # Handles far from those that the target takes by itself (0, 1, 2).
    sender = peer.sender(one, handle=_HANDLES[0])
    peer.credit_for(sender)
    peer.claim("links that work with any handles")
    receiver = peer.receiver(one, handle=_HANDLES[1], credit=1)
    other = peer.receiver(two, handle=_HANDLES[2], credit=1)
    peer.transfer(sender, b"by handle 7")
    return equals(
        peer,
        [peer.delivery(receiver).body, peer.delivery(other).body],
        [b"by handle 7", b"message 0"],
        "bodies",
    )


# --- steps of this module


def _ids(peer: Peer, link: Link, count: int) -> list[int]:
    peer.credit(link, count)
    return [delivery.id for delivery in peer.deliveries(link, count)]


def _same_name_twice(peer: Peer, role: str) -> tuple[Peer, Link, Link, Reaction | None]:
    """A link of one name on two connections of a container: the first connection, both links, the refusal if any."""
    first = peer.another()
    address, name = fill(peer, peer.node(), b"one"), peer.name("link")
    link = first.attach(role, address, name=name)
    second = twin(first)
    try:
        other, reaction = asked(second, role, address, name=name)
    except Unmet as silence:
        raise Unmet("an answer to the second attach", silence.observed) from silence
    return first, link, other, reaction if reaction.refusal is not None else None


def _one_lives(peer: Peer, role: str) -> Verdict:
    first, link, second, refusal = _same_name_twice(peer, role)
    if second.detached_by is not None and refused_bare(second):
        return holds(peer, True, second.detached_by)
    if refusal is not None:
        return judge_reaction(peer, refusal)
    return judge_reaction(peer, first.reaction(link=link))
