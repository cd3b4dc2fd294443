"""attach and detach (amqp-1.0 §2.7.3, §2.7.7): handles, settle modes, termini, counts and sizes, closing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, owed
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation, well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session
from amqpspec.suites.amqp_1_0._links import (
    RECEIVER,
    SECOND,
    SENDER,
    asked,
    exactly,
    fill,
    filled,
    message_of,
    must_attach,
    oversize,
    own_terminus,
    refused_attach,
    refused_bare,
    unsettled,
    unsettled_of,
)

_UNSETTLED, _SETTLED, _MIXED = 0, 1, 2
_LARGE_OCTETS = 300_000
_HANDLES = (5, 6, 7)

# --- what there has to be


@case("attach.mandatory.missing", covers=["performatives/attach/mandatory"])
def attach_without_what_it_has_to_carry(peer: Peer) -> Verdict:
    """The target rejects attach without name, handle or role."""
    missing: Sequence[dict[str, Any]] = ({"name": None}, {"handle": None}, {"role": None})
    return worst(_refused_without(peer.another(), fields) for fields in missing)


@in_session("attach.mandatory.empty", covers=["performatives/attach/mandatory"])
def empty_attach(peer: Peer) -> Verdict:
    """The target rejects attach with an empty list."""
    peer.send_octets(peer.exact("attach"))
    return rejects_violation(peer)


@case("attach.mandatory.own", covers=["performatives/attach/mandatory"])
def attach_of_the_target(peer: Peer) -> Verdict:
    """The target's attach contains name, handle and role, with valid values."""
    address = peer.node()
    links = [peer.attach(role, address) for role in (SENDER, RECEIVER)]
    return well_formed(peer, *(link.attached for link in links if link.attached is not None))


# --- handles


@case("attach.handle.free", covers=["performatives/attach/handle/free"])
def handles_of_the_target(peer: Peer) -> Verdict:
    """The target uses a different handle for each link of a session."""
    links = _three_links(peer)
    peer.claim("three handles")
    handles = [link.remote_handle for link in links]
    return holds(peer, len(set(handles)) == len(links), f"handles {handles}")


@case(
    "attach.handle.in-use",
    covers=["performatives/attach/handle/in-use", "performatives/attach/handle/free"],
)
def handle_that_has_a_link(peer: Peer) -> Verdict:
    """The target rejects attach of another link with a handle that is in use."""
    link = peer.sender()
    peer.send("attach", **peer.attach_fields(RECEIVER, link.address, handle=link.handle))
    return rejects_violation(peer)


@case("attach.handle.lowest", covers=["performatives/attach/handle/lowest"])
def lowest_handle(peer: Peer) -> Verdict:
    """The target uses the lowest free handle."""
    links = _three_links(peer)
    peer.detach(links[1])
    again = peer.receiver(links[1].address, handle=_HANDLES[1])
    peer.claim("handles 0, 1, 2, and 1 again")
    handles = [link.remote_handle for link in (*links, again)]
    return equals(peer, handles, [0, 1, 2, 1], "handles")


# --- settle modes


@case("attach.snd-settle-mode.respected", covers=["performatives/attach/snd-settle-mode/respected"])
def sender_settles_as_it_says(peer: Peer) -> Verdict:
    """Parallel links have and keep the sender settle mode that each requests, if the target supports it."""
    modes = (_UNSETTLED, _SETTLED, _MIXED)
    links = [_attached_in(peer, mode) for mode in modes]
    peer.claim(
        "the requested modes if the target supports them, and deliveries settled as its attaches state"
    )
    told = [owed(link.attached, "attach")["snd_settle_mode"] for link in links]
    # A mode that it tells on one of the links it has: on the link that asks for that mode, too (amqp-1.0 §2.7.3).
    if others := [mode for mode, own in zip(modes, told, strict=True) if mode != own and mode in told]:
        return holds(
            peer, False, f"asked for {list(modes)}, attached with {told}: {others[0]} on another link only"
        )
    return worst([_sent_as_told(peer, link) for link in links])


@case("attach.rcv-settle-mode.respected", covers=["performatives/attach/rcv-settle-mode/respected"])
def receiver_settles_as_it_says(peer: Peer) -> Verdict:
    """The target reports the receiver settle mode that it uses, and keeps to it, whichever mode is requested."""
    return worst(_received_as_told(peer.another(), mode) for mode in (0, SECOND))


# --- termini


@case("attach.source.none", covers=["performatives/attach/source/none"])
def link_without_source(peer: Peer) -> Verdict:
    """A link without a source delivers no messages."""
    link, reaction = asked(peer, RECEIVER, source=None)
    if refused_bare(link):
        return holds(peer, True, reaction)
    if link.detached_by is not None or reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    peer.claim("no messages without a source")
    peer.credit(link, 10)
    peer.barrier()
    return holds(peer, own_terminus(link) is None and not link.transfers, f"{link.transfers} transfers")


@case("attach.target.none", covers=["performatives/attach/target/none"])
def link_without_target(peer: Peer) -> Verdict:
    """The target rejects a link without a target, or its transfers."""
    link, reaction = asked(peer, SENDER, target=None)
    if refused_bare(link):
        return holds(peer, True, reaction)
    if link.detached_by is not None or reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    # Credit is an invitation to send: a link without a node must not give any.
    if link.credit:
        return holds(peer, False, f"an attached link with a credit of {link.credit}")
    peer.transfer(link, b"to nowhere", wait=False)
    return rejects_violation(peer, link=link)


# --- counts and sizes


@case(
    "attach.initial-delivery-count.missing",
    covers=["performatives/attach/initial-delivery-count/set"],
)
def sender_without_initial_delivery_count(peer: Peer) -> Verdict:
    """The target rejects or tolerates attach of a sender without initial-delivery-count."""
    _, reaction = asked(peer, SENDER, initial_delivery_count=OMIT)
    return borne(peer, reaction)


@case("attach.initial-delivery-count.own", covers=["performatives/attach/initial-delivery-count/set"])
def initial_delivery_count_of_the_target(peer: Peer) -> Verdict:
    """The target's attach as a sender contains an initial-delivery-count."""
    link = peer.receiver()
    there = "initial_delivery_count" in owed(link.attached, "attach").given
    return holds(peer, there, "attach with" if there else "attach without initial-delivery-count")


@case(
    "attach.initial-delivery-count.ignored",
    covers=["performatives/attach/initial-delivery-count/ignored"],
)
def initial_delivery_count_of_a_receiver(peer: Peer) -> Verdict:
    """A receiver's initial-delivery-count is ignored: credit without delivery-count counts from the sender's."""
    address = filled(peer, 5)
    peer.begin()
    peer.claim("three messages")
    # 1000 is far away: counted from there, a credit of 3 would allow nothing.
    link = peer.receiver(address, initial_delivery_count=1000)
    peer.credit(link, 3, delivery_count=OMIT)
    return exactly(peer, 3, link)


@case("attach.max-message-size.exceeded", covers=["performatives/attach/max-message-size/exceeded"])
def message_above_the_limit(peer: Peer) -> Verdict:
    """The target rejects a message one octet above the max-message-size of a link."""
    link = peer.sender()
    message = oversize(link)
    if message is None:
        raise OutOfReach(
            f"max-message-size is {link.max_message_size}: no limit, or one too large to be tried"
        )
    _room_in_window(peer, link, len(message))
    peer.credit_for(link)
    peer.send_octets(peer.transfer_octets(link, message=message))
    return rejects_violation(peer, link=link)


@case("attach.max-message-size.none", covers=["performatives/attach/max-message-size/none"])
def message_without_limit(peer: Peer) -> Verdict:
    """A receiver with a max-message-size of zero, or without one, receives large messages complete."""
    address = _one_large(peer)
    peer.begin()
    peer.claim("a large message, whole, for each receiver")
    # Zero and left out mean the same (amqp-1.0 §2.7.3, max-message-size).
    for size in (0, OMIT):
        link = peer.receiver(address, credit=1, max_message_size=size)
        delivery = peer.delivery(link)
        if delivery.body != _large():
            return holds(peer, False, f"a message of {len(delivery.payload)} octets that is another one")
        peer.detach(link)
        address = _one_large(peer)
    return holds(peer, True, "both arrived complete")


# --- detach


@case("detach.handle-freed", covers=["performatives/detach/handle-freed"])
def detach_frees_the_handle(peer: Peer) -> Verdict:
    """The handle of a detached link can be given to another link, of either role."""
    link = peer.sender()
    peer.claim("an attached link with the handle of one that was detached")
    for role, closed in ((SENDER, True), (RECEIVER, False), (SENDER, True)):
        peer.detach(link, closed=closed)
        link = peer.attach(role, link.address, handle=link.handle)
    peer.barrier()
    return holds(peer, link.is_attached, "attached each time" if link.is_attached else "detached")


@case("detach.mandatory.missing", covers=["performatives/detach/mandatory"])
def detach_without_handle(peer: Peer) -> Verdict:
    """The target rejects detach without a handle."""
    peer.sender()
    peer.send_octets(peer.exact("detach"))
    return rejects_violation(peer)


@case("detach.mandatory.own", covers=["performatives/detach/mandatory"])
def detach_of_the_target(peer: Peer) -> Verdict:
    """The target's detach contains the handle of its link."""
    link = peer.sender()
    peer.claim("detach with the handle of the link")
    return well_formed(peer, peer.detach(link))


@case("detach.closed", covers=["performatives/detach/closed"])
def closed_link_is_gone(peer: Peer) -> Verdict:
    """A closed link no longer exists: a new attach has no unsettled deliveries and no credit."""
    address, name = filled(peer, 2), peer.name("link")
    link = peer.receiver(address, name=name)
    unsettled(peer, link, 2)
    peer.credit(link, 5)
    peer.detach(link)
    # A message for the old credit: it must not come on the new link.
    fill(peer, address, b"later")
    peer.claim("a link of that name with nothing unsettled and no credit")
    again = peer.receiver(address, name=name)
    verdict = exactly(peer, 0, again)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    return equals(peer, len(unsettled_of(again)), 0, "unsettled")


@case("detach.error", covers=["performatives/detach/error"])
def error_of_a_detach(peer: Peer) -> Verdict:
    """The error of a detach states more than its condition."""
    link, reaction = refused_attach(peer, SENDER)
    error = link.detached_by.error if link.detached_by is not None else None
    if error is None:
        raise OutOfReach(f"no detach with an error: {reaction.describe(peer.dialect)}", reaction)
    reported = bool(error.get("description") or error.get("info"))
    return holds(peer, reported, "a description or info" if reported else "neither description nor info")


# --- steps of this module


def _refused_without(peer: Peer, missing: dict[str, Any]) -> Verdict:
    # Not the lowest handle, for that is the barrier's, and a target may take what should be refused.
    handle = min(1, peer.begin().remote_handle_max)
    fields = {**peer.attach_fields(SENDER), "handle": handle, "initial_delivery_count": 0, **missing}
    peer.send("attach", **fields)
    verdict = rejects_violation(peer)
    return replace(verdict, observed=f"without {next(iter(missing))}: {verdict.observed}")


def _three_links(peer: Peer) -> list[Link]:
    """Three links under handles of the peer's that the target would not choose by itself."""
    address, session = peer.node(), peer.begin()
    if session.remote_handle_max < max(_HANDLES):
        raise OutOfReach(f"handle-max is {session.remote_handle_max}, the case needs {max(_HANDLES)}")
    return [peer.receiver(address, handle=handle) for handle in _HANDLES]


def _attached_in(peer: Peer, mode: int) -> Link:
    """A link to receive two messages that asks for a sender settle mode."""
    link, reaction = asked(peer, RECEIVER, filled(peer, 2), snd_settle_mode=mode)
    must_attach(peer, link, reaction, f"snd-settle-mode {mode} is refused")
    return link


def _sent_as_told(peer: Peer, link: Link) -> Verdict:
    told = owed(link.attached, "attach")["snd_settle_mode"]
    peer.credit(link, 2)
    settled = [delivery.settled for delivery in peer.deliveries(link, 2)]
    kept = told == _MIXED or settled == [told == _SETTLED] * 2
    return holds(peer, kept, f"attached with {told}, sent settled: {settled}")


def _received_as_told(peer: Peer, mode: int) -> Verdict:
    """A message on a link that asks for a receiver settle mode, and one on a second link of mode first."""
    beside = peer.sender(peer.node())
    peer.credit_for(beside)
    link, reaction = asked(peer, SENDER, peer.node(), rcv_settle_mode=mode)
    if reaction.refusal is not None or link.attached is None:
        return holds(
            peer, True, f"rcv-settle-mode {mode} is refused: {reaction.describe(peer.dialect)}", seen=reaction
        )
    reported = link.attached["rcv_settle_mode"]
    peer.credit_for(link)
    peer.claim("dispositions settled as the target's attaches state")
    sent, other = peer.transfer(link, b"x"), peer.transfer(beside, b"beside")
    for outgoing in (sent, other):
        peer.outcome(outgoing)
    peer.barrier()
    settled = [outgoing.settled_by_target for outgoing in (sent, other)]
    # The peer plays its part as sender, or the delivery would stay open.
    if reported == SECOND and not sent.settled_by_target:
        peer.disposition(sent, role="sender", state=OMIT)
    told = f"asked for {mode}, attached with {reported}, settled by itself: {settled}"
    return equals(peer, settled, [reported != SECOND, True], f"{told};")


def _room_in_window(peer: Peer, link: Link, octets: int) -> None:
    # Reckoned with half a frame for each transfer, as its fields need room as well.
    frames = octets // (peer.max_frame_octets // 2) + 1
    if frames > link.session.remote_incoming_window:
        raise OutOfReach(f"the session's window is too small for {frames} transfers")


def _large() -> bytes:
    return bytes(_LARGE_OCTETS)


def _one_large(peer: Peer) -> str:
    """The address of a node with a message that no usual limit would accept."""
    limit = peer.another().sender().max_message_size
    if 0 < limit < len(message_of(_LARGE_OCTETS + 64)):
        raise OutOfReach(f"the target accepts messages of up to {limit} octets")
    return fill(peer, peer.node("large"), _large())
