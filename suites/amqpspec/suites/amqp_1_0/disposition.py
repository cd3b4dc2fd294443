"""The disposition performative (amqp-1.0 §2.7.6): what it has to contain, and which deliveries it covers."""

from __future__ import annotations

from functools import partial
from typing import Any

from amqpspec.peer.amqp_1_0.arrivals import RECEIVER
from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.run.amqp_1_0.oracles import rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._transfers import (
    LARGE,
    SMALLEST_FRAME_OCTETS,
    after_leaving,
    contents,
    dispositions,
    in_mode_second,
    octets_of,
    piece,
    put,
    received,
    sender,
    told_by_now,
    unsettled,
)
from amqpspec.suites.amqp_1_0._transfers_resume import suspend

# --- role and first


@case("disposition.role-missing", covers=["performatives/disposition/mandatory"])
def disposition_without_role(peer: Peer) -> Verdict:
    """The target rejects a disposition without role."""
    _, (delivery,) = unsettled(peer, peer.node(), b"message")
    peer.disposition(delivery, role=None)
    return rejects_violation(peer)


@case("disposition.first-missing", covers=["performatives/disposition/mandatory"])
def disposition_without_first(peer: Peer) -> Verdict:
    """The target rejects a disposition without first."""
    unsettled(peer, peer.node(), b"message")
    peer.send("disposition", role="receiver", first=None, settled=True, state="accepted")
    return rejects_violation(peer)


@case("disposition.empty", covers=["performatives/disposition/mandatory"])
def empty_disposition(peer: Peer) -> Verdict:
    """The target rejects a disposition with an empty list."""
    unsettled(peer, peer.node(), b"message")
    peer.send_octets(peer.exact("disposition"))
    return rejects_violation(peer)


@case("disposition.of-target", covers=["performatives/disposition/mandatory"])
def dispositions_of_the_target(peer: Peer) -> Verdict:
    """The target's dispositions contain role and first."""
    link = sender(peer, peer.node())
    sent = piece(peer, link, octets_of(b"message"), settled=False)
    peer.claim(f"a disposition with role and first {sent.id}")
    reported = peer.expect("disposition")
    if {"role", "first"} <= reported.given:
        return equals(peer, reported["first"], sent.id, "first")
    return holds(peer, False, f"a disposition with {', '.join(sorted(reported.given))}")


# --- the deliveries that it covers


@case("disposition.many-links", covers=["performatives/disposition/many-links"])
def one_disposition_for_two_links(peer: Peer) -> Verdict:
    """One disposition can cover the deliveries on two links of a session."""
    addresses = peer.node("one"), peer.node("two")
    received: list[Delivery] = []
    links: list[Link] = []
    for address in addresses:
        link, two = unsettled(peer, address, b"1", b"2")
        links.append(link)
        received += two
    peer.claim("nothing in either node")
    peer.disposition(received[0], received[-1])
    for link in links:
        peer.detach(link)
    return equals(peer, [contents(peer, address) for address in addresses], [[], []], "messages")


@case("disposition.directionality", covers=["performatives/disposition/directionality"])
def disposition_of_the_other_direction(peer: Peer) -> Verdict:
    """A disposition in the role of sender does not affect the target's own delivery with the same number."""
    address = peer.node()
    put(peer.another(), address, b"message")
    _, (delivery,) = received(peer, address, 1, snd_settle_mode="unsettled")
    if delivery.settled or delivery.id < 0:
        raise Unmet("an unsettled delivery with a delivery-id", "another one")
    other = sender(peer, peer.node("other"))
    peer.claim("the target's delivery still unsettled, and its message available after the connection ends")
    # The same delivery-id in both directions: only the role tells whose it is.
    sent = piece(peer, other, octets_of(b"mine"), settled=False, delivery_id=delivery.id)
    peer.disposition(sent, role="sender")
    peer.barrier()
    return equals(peer, after_leaving(peer, address, at_least=1), [b"message"], "messages")


@case("disposition.directionality.of-target", covers=["performatives/disposition/directionality"])
def role_in_dispositions_of_the_target(peer: Peer) -> Verdict:
    """The target's dispositions about received deliveries have the role of receiver."""
    link = sender(peer, peer.node())
    peer.claim("a disposition in the role of receiver")
    piece(peer, link, octets_of(b"message"), settled=False)
    reported = peer.expect("disposition")
    return holds(peer, reported["role"] is RECEIVER, f"role {reported['role']}")


@case("disposition.incomplete", covers=["performatives/disposition/incomplete"])
def no_disposition_in_mid_delivery(peer: Peer) -> Verdict:
    """The target sends no disposition about a delivery between its transfers."""
    peer.open_connection(max_frame_size=SMALLEST_FRAME_OCTETS)
    address = peer.node()
    put(peer, address, LARGE)
    link = peer.receiver(address, snd_settle_mode="unsettled")
    peer.pending("disposition")
    # A window of one: between two transfers the target waits, and has time to say something.
    peer.flow(link=link, link_credit=1, incoming_window=1)
    _one_by_one(peer, link)
    if len(link.inbox[0].transfers) < 2:
        raise Unmet("a delivery in several transfers", "a single transfer")
    arrived = peer.take(lambda a: a.name == "disposition" or (a.name == "transfer" and a.link is link))
    reported = [a for a in _before_the_last_transfer(arrived) if _is_of_sender(a)]
    observed = reported[0].describe(peer.dialect) if reported else "no disposition"
    return holds(peer, not reported, observed, "no disposition before the last transfer")


@case("disposition.detached-links", covers=["performatives/disposition/detached-links"])
def accepted_behind_the_detach(peer: Peer) -> Verdict:
    """A delivery on a detached, unclosed link can be accepted: its message is removed from the node."""
    return _behind_the_detach(peer, "accepted", [])


@case(
    "disposition.detached-links.applied",
    covers=["performatives/disposition/detached-links/applied", "performatives/disposition/detached-links"],
)
def released_behind_the_detach(peer: Peer) -> Verdict:
    """A delivery on a detached, unclosed link can be released: its message is available again."""
    return _behind_the_detach(peer, "released", [b"message"])


@case("disposition.detached-links.both", covers=["performatives/disposition/detached-links/applied"])
def outcomes_behind_the_detach(peer: Peer) -> Verdict:
    """The target applies a separate outcome to each delivery after the detach."""
    address = peer.node()
    link, (first, second, third) = unsettled(peer, address, b"1", b"2", b"3")
    suspend(peer, link)
    peer.claim("the released message available again, the accepted ones not")
    peer.disposition(first)
    # The released one between two accepted ones: a target that takes them as a range is detected.
    peer.disposition(second, state="released")
    peer.disposition(third)
    return equals(peer, _left(peer, address, 1), [b"2"], "messages")


@case("disposition.last", covers=["performatives/disposition/last"])
def disposition_without_last(peer: Peer) -> Verdict:
    """A disposition without last covers first only."""
    address = peer.node()
    _, (_, second, _) = unsettled(peer, address, b"1", b"2", b"3")
    peer.claim("the first and the third message in the node again")
    # The one in the middle: neither up to it nor from it on.
    peer.disposition(second)
    peer.barrier()
    found = after_leaving(peer, address, at_least=2)
    return equals(peer, sorted(found), [b"1", b"3"], "messages")


@case("disposition.settled", covers=["performatives/disposition/settled"])
def disposition_that_settles(peer: Peer) -> Verdict:
    """The target sends no disposition about deliveries that the receiver has settled, with or without a state."""
    address = peer.node()
    link, (first, second) = unsettled(peer, address, b"no state", b"accepted")
    peer.claim("the accepted message removed")
    # Settled without a state: what happens to the message is left to the target's default outcome.
    peer.disposition(first, state=None)
    peer.disposition(second)
    told_by_now(peer)
    needless = dispositions(peer, by_sender=True)
    peer.detach(link)
    gone = b"accepted" not in contents(peer, address)
    if not gone:
        return holds(peer, False, "the accepted message in the node")
    if needless:
        return observed_either_way(peer, f"removed; an unnecessary {needless[0].describe(peer.dialect)}")
    return holds(peer, True, "removed, and no disposition of the target")


@case("disposition.settled.by-sender", covers=["performatives/disposition/settled"])
def sender_settles(peer: Peer) -> Verdict:
    """A delivery that the sender settles by a disposition is settled: its tag can be used again."""
    link = in_mode_second(peer, "sender", peer.node())
    peer.claim("both messages in the node")
    first = peer.outcome(piece(peer, link, octets_of(b"1"), settled=False))
    peer.disposition(first, role="sender")
    second = peer.outcome(piece(peer, link, octets_of(b"2"), settled=False, delivery_tag=first.tag))
    peer.disposition(second, role="sender")
    return equals(peer, contents(peer, link.address), [b"1", b"2"], "messages")


# --- steps of this module


def _one_by_one(peer: Peer, link: Link) -> None:
    """Receive the transfers of one delivery one at a time, as the session's window is opened."""
    while not link.inbox:
        peer.until(partial(_has_more, link, len(link.partial)), "a transfer", link=link)
        if not link.inbox:
            peer.flow(link.session.channel, incoming_window=1)


def _has_more(link: Link, count: int) -> bool:
    return bool(link.inbox) or len(link.partial) > count


def _before_the_last_transfer(arrived: list[FrameArrived]) -> list[FrameArrived]:
    last = max(number for number, arrival in enumerate(arrived) if arrival.name == "transfer")
    return arrived[:last]


def _is_of_sender(arrival: FrameArrived) -> bool:
    return arrival.name == "disposition" and arrival["role"] is not RECEIVER


def _behind_the_detach(peer: Peer, state: str, wanted: list[Any]) -> Verdict:
    address = peer.node()
    link, (delivery,) = unsettled(peer, address, b"message")
    suspend(peer, link)
    peer.claim(f"{len(wanted)} messages in the node once the delivery is {state}")
    peer.disposition(delivery, state=state)
    return equals(peer, _left(peer, address, len(wanted)), wanted, "messages")


def _left(peer: Peer, address: str, at_least: int) -> list[Any]:
    """What a node holds, now and once the connection is gone: some targets give deliveries back late."""
    return contents(peer, address, at_least) + after_leaving(peer, address)
