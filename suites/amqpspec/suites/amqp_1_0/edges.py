"""The edges of rules of Part 2: numbers that jump, empty payloads, one tag on two links, credit to the last of it."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach
from amqpspec.run.case import case
from amqpspec.run.oracles import borne, equals, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import about
from amqpspec.suites.amqp_1_0._links import bodies
from amqpspec.suites.amqp_1_0._sessions import state_of
from amqpspec.suites.amqp_1_0._transfers import contents, cut, in_mode_second, octets_of, piece, sender

_FIRST_ID, _SENT = 100, 3
_MOST_CREDIT = 2500
_TAG = b"the same"


# --- 2.5.6: numbers that jump


@case("sessions.flow.received.rewound", covers=["sessions/flow/received/rewound"])
def rewound_outgoing_id(peer: Peer) -> Verdict:
    """The target adopts a next-outgoing-id below its count, in this session only."""
    return _jumped(peer, _FIRST_ID)


@case("sessions.flow.received.ahead", covers=["sessions/flow/received/rewound"])
def outgoing_id_ahead(peer: Peer) -> Verdict:
    """The target adopts a next-outgoing-id ahead of its count, in this session only."""
    return _jumped(peer, _FIRST_ID + 1000)


# --- 2.6.14: transfers without payload


@case("transfers.large.empty-fragments", covers=["transfers/large/empty-fragments"])
def transfers_without_payload(peer: Peer) -> Verdict:
    """A message with an empty first, middle and last transfer arrives complete, and so does the next one."""
    link = sender(peer, peer.node())
    peer.claim("two messages, whole")
    head, tail = cut(octets_of(b"in two pieces"), 2)
    _in_pieces(peer, link, b"", head, b"", b"", tail, b"")
    peer.outcome(_in_pieces(peer, link, octets_of(b"in one piece"), b""))
    return equals(peer, contents(peer, link.address, 2), [b"in two pieces", b"in one piece"], "bodies")


# --- 2.6.12: tags


@case("transfers.delivery-tag.two-links", covers=["transfers/delivery-tag/unique"])
def one_tag_on_two_links(peer: Peer) -> Verdict:
    """A tag belongs to its link: two links can have unsettled deliveries with the same tag."""
    addresses = [peer.node(), peer.node()]
    links = _unsettling(peer, addresses)
    peer.claim("both deliveries accepted, each in its node")
    sent = [
        peer.transfer(link, body, delivery_tag=_TAG)
        for link, body in zip(links, (b"one", b"two"), strict=True)
    ]
    outcomes = [peer.outcome(outgoing).result for outgoing in sent]
    if outcomes != ["accepted", "accepted"]:
        return equals(peer, outcomes, ["accepted", "accepted"], "outcomes")
    for outgoing in sent:
        if not outgoing.settled_by_target:
            peer.disposition(outgoing, role="sender")
    return equals(peer, [contents(peer, address, 1) for address in addresses], [[b"one"], [b"two"]], "bodies")


# --- 2.6.7: credit to the last


@case("links.flow.credit-exact", covers=["links/flow/credit-exact"])
def credit_used_up_at_once(peer: Peer) -> Verdict:
    """The target accepts as many messages at once as it grants credit for, then another one when it grants more."""
    link = sender(peer, peer.node())
    count = link.credit
    if count > min(_MOST_CREDIT, link.session.remote_incoming_window):
        raise OutOfReach(f"a credit of {count} is more than the case sends at once")
    peer.claim(f"{count} messages accepted, and another one after them")
    burst_octets = b"".join(peer.transfer_octets(link, b"x") for _ in range(count))
    peer.send_octets(burst_octets + peer.frame("flow", link.session.channel, handle=link, echo=True))
    burst = list(link.session.outgoing.values())
    for outgoing in burst:
        peer.outcome(outgoing)
    last = peer.outcome(peer.transfer(link, b"behind"))
    refused = [one.outcome for one in (*burst, last) if one.result != "accepted"]
    return equals(peer, refused, [], "outcomes other than accepted")


# --- steps of this module


def _jumped(peer: Peer, told: int) -> Verdict:
    """Messages on two sessions, then another number in a flow of the first: what both count, and what follows."""
    session = _counted(peer, 0)
    _counted(peer, 1)
    peer.claim(f"next-incoming-id {told} after the flow, and one more after a transfer")
    session.session.next_outgoing_id = told
    peer.flow(0, next_outgoing_id=told)
    reaction = peer.reaction()
    if reaction.refusal is not None or reaction.closing is not None:
        return borne(peer, reaction)
    verdict = about(equals(peer, state_of(peer)["next_incoming_id"], told, "next-incoming-id"), "told")
    peer.outcome(peer.transfer(session, b"next"))
    after = equals(peer, state_of(peer)["next_incoming_id"], told + 1, "next-incoming-id")
    other = equals(peer, state_of(peer, 1)["next_incoming_id"], _FIRST_ID + _SENT, "next-incoming-id")
    return worst((verdict, about(after, "one transfer on"), about(other, "the other session")))


def _counted(peer: Peer, channel: int) -> Link:
    """A link whose session has counted some transfers from a number of its own."""
    peer.begin(channel, next_outgoing_id=_FIRST_ID)
    link = peer.sender(peer.node(), channel)
    peer.credit_for(link)
    for body in bodies(_SENT):
        peer.outcome(peer.transfer(link, body))
    return link


def _in_pieces(peer: Peer, link: Link, *octets: bytes) -> Outgoing:
    for number, payload in enumerate(octets):
        outgoing = piece(peer, link, payload, more=number + 1 < len(octets))
    return outgoing


def _unsettling(peer: Peer, addresses: list[str]) -> list[Link]:
    """Links on which the target holds deliveries unsettled until the sender settles, if it offers that."""
    mode: dict[str, Any] = {"rcv_settle_mode": "second"}
    # On a separate connection: a target that has no such mode may end the session for it.
    other = peer.another()
    with suppress(OutOfReach):
        in_mode_second(other, "sender", addresses[0])
        return [sender(peer, address, **mode) for address in addresses]
    return [sender(peer, address) for address in addresses]
