"""Definitions of error conditions (amqp-1.0 §2.8.15 to §2.8.18): the error that each of them reports."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation
from amqpspec.run.case import case
from amqpspec.run.oracles import best, equals, holds, judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._anonymous import addressed, anonymous
from amqpspec.suites.amqp_1_0._cases import in_session, on_connection
from amqpspec.suites.amqp_1_0._links import (
    LEAST_MESSAGE_OCTETS,
    RECEIVER,
    SENDER,
    asked,
    failed,
    fill,
    filled,
    message_of,
    must_attach,
    names_condition,
    oversize,
    own_terminus,
    refused_attach,
    unsettled,
    unsettled_of,
)
from amqpspec.suites.amqp_1_0._sessions import LARGEST_TRY, unattached
from amqpspec.suites.amqp_1_0._sole import CLOSE_EXISTING, closed_for, replacing, sole, still_there
from amqpspec.wire.amqp_1_0.values import Described, Symbol, Value
from amqpspec.wire.values import Raw

# A string of two octets, c3 28: c3 begins a sequence of two, and 28 cannot continue it. 0x3f is
# a constructor of no type.
_BROKEN_UTF_8 = Raw(bytes.fromhex("a1 02 c3 28"))
_NO_CONSTRUCTOR = Raw(b"\x3f")
_UNHEARD_OF = Described(Symbol("amqpspec:unheard-of:list"), [])
_DELETE_ON_CLOSE = Described(Symbol("amqp:delete-on-close:list"), [])
_MOST_TRANSFERS = 70_000
_CREATE = "links/establishing/create-terminus"

# --- any scope


@case("definitions.condition.not-found", covers=["definitions/condition/not-found", _CREATE])
def node_that_does_not_exist(peer: Peer) -> Verdict:
    """The target rejects attach to a nonexistent node with not-found."""
    link, reaction = refused_attach(peer, RECEIVER)
    names_condition(link, reaction)
    verdict = judge_reaction(peer, reaction)
    # If links create nodes, the tried addresses may be malformed, reserved or forbidden for this target.
    other = verdict if peer.context.nodes.are_made else borne(peer, reaction, _CREATE)
    return best((verdict, other)) if other.outcome is Outcome.OBSERVED else verdict


@case("definitions.condition.not-found.host", covers=["definitions/condition/not-found"])
def host_that_does_not_exist(peer: Peer) -> Verdict:
    """A target that distinguishes hosts rejects an open for an unknown host with not-found."""
    peer.greet()
    peer.send("open", hostname=f"{peer.name('nowhere')}.invalid")
    with suppress(Unmet):
        peer.expect("open")
    reaction = peer.reaction()
    if reaction.refusal is None and reaction.closing is None:
        return observed_either_way(peer, "served for any host")
    return judge_reaction(peer, reaction)


@case(
    "definitions.condition.unauthorized-access",
    covers=["definitions/condition/unauthorized-access"],
    needs=["access-control"],
    hooks=["limited-user"],
)
def node_that_is_barred(peer: Peer) -> Verdict:
    """The target rejects an operation that a user is not permitted with unauthorized-access."""
    address = peer.node()
    peer.detach(peer.sender(address))
    limited = peer.another("limited")
    limited.begin()
    limited.send("attach", **limited.attach_fields(SENDER, address))
    link = limited.session().every_link[-1]
    with suppress(Unmet):
        limited.until(lambda: link.attached is not None, "attach", link=link)
    if limited.over(link) is None and not link.refused:
        limited.transfer(link, b"barred")
    return rejects_violation(limited, link=link, barrier=False)


@case("definitions.condition.decode-error", covers=["definitions/condition/decode-error"])
def frames_that_cannot_be_decoded(peer: Peer) -> Verdict:
    """The target rejects a list with fewer fields than it announces as undecodable."""
    # attach has 14 fields; 30 are announced.
    return _refused(peer, peer.attach_fields(SENDER), list_count=30)


@case("definitions.condition.decode-error.utf-8", covers=["definitions/condition/decode-error"])
def string_that_is_no_utf_8(peer: Peer) -> Verdict:
    """The target rejects a string of invalid UTF-8 as undecodable."""
    return _refused(peer, peer.attach_fields(SENDER), name=_BROKEN_UTF_8)


@case("definitions.condition.decode-error.constructor", covers=["definitions/condition/decode-error"])
def constructor_that_there_is_not(peer: Peer) -> Verdict:
    """The target rejects an undefined constructor as undecodable."""
    return _refused(peer, peer.attach_fields(SENDER), name=_NO_CONSTRUCTOR)


@case("definitions.condition.not-allowed", covers=["definitions/condition/not-allowed"])
def transfer_by_a_receiver(peer: Peer) -> Verdict:
    """The target rejects a transfer on a link that only receives."""
    link = peer.receiver()
    fields: dict[str, Any] = {"handle": link.handle, "delivery_id": 0, "delivery_tag": b"t"}
    # The payload is a whole message, a data section of one octet: nothing is wrong but the direction.
    peer.send_octets(peer.exact("transfer", message_format=0, payload=b"\x00\x53\x75\xa0\x01x", **fields))
    return rejects_violation(peer, link=link)


@case("definitions.condition.invalid-field", covers=["definitions/condition/invalid-field"])
def role_that_is_a_string(peer: Peer) -> Verdict:
    """The target rejects attach with a string as role."""
    return _refused(peer, peer.attach_fields(SENDER), role=Value("string", "sender"))


@case("definitions.condition.invalid-field.handle", covers=["definitions/condition/invalid-field"])
def handle_that_is_a_symbol(peer: Peer) -> Verdict:
    """The target rejects attach with a symbol as handle."""
    return _refused(peer, peer.attach_fields(SENDER), handle=Value("symbol", "handle"))


@case("definitions.condition.invalid-field.choice", covers=["definitions/condition/invalid-field"])
def value_that_is_no_choice(peer: Peer) -> Verdict:
    """The target rejects or tolerates attach with an undefined settle mode."""
    modes: tuple[dict[str, Any], ...] = ({"snd_settle_mode": 7}, {"rcv_settle_mode": 9})
    return worst(_borne(peer.another(), fields) for fields in modes)


@case("definitions.condition.not-implemented", covers=["definitions/condition/not-implemented"])
def target_of_an_unknown_type(peer: Peer) -> Verdict:
    """The target rejects an attach whose target has an unknown type."""
    link, reaction = asked(peer, SENDER, target=_UNHEARD_OF)
    names_condition(link, reaction)
    if reaction.refusal is None and link.is_attached and link.refused:
        reaction = peer.reaction(link=link, barrier=False)
    return judge_reaction(peer, reaction)


@case(
    "definitions.condition.resource-deleted",
    covers=["definitions/condition/resource-deleted", "links/establishing/actual-properties"],
    needs=["dynamic-nodes"],
)
def node_that_is_deleted(peer: Peer) -> Verdict:
    """Links to a dynamic node are detached with resource-deleted when the link that created it is closed.

    A client that attaches to its address afterwards is refused, or uses a node that works.
    """
    maker = _maker(peer)
    address, other = own_terminus(maker)["address"], peer.another()
    link, reaction = asked(other, SENDER, address)
    if reaction.refusal is not None or link.refused:
        raise OutOfReach(
            f"only the connection that created the node may use it: {reaction.describe(peer.dialect)}",
            reaction,
        )
    other.barrier()
    peer.claim("detach with resource-deleted on the other connection, or a node that stays")
    peer.detach(maker)
    verdict = _gone(other, link)
    return verdict if other.over(link) is None else worst((verdict, _gone_or_made(peer.another(), address)))


@case(
    "definitions.condition.resource-deleted.name-free",
    covers=["performatives/detach/closed"],
    needs=["dynamic-nodes"],
)
def name_of_a_link_that_was_closed(peer: Peer) -> Verdict:
    """A link that the target closed with its node is gone: its name can be reused, with nothing unsettled."""
    maker, other, name = _maker(peer), peer.another(), peer.name("link")
    address = fill(peer, own_terminus(maker)["address"], b"unsettled")
    link, reaction = asked(other, RECEIVER, address, name=name)
    if reaction.refusal is not None or link.refused:
        raise OutOfReach(
            f"only the connection that created the node may use it: {reaction.describe(peer.dialect)}",
            reaction,
        )
    unsettled(other, link, 1)
    peer.detach(maker)
    with suppress(Unmet):
        other.until(lambda: link.detached_by is not None, "detach", link=link)
    if link.detached_by is None or not link.detached_by["closed"]:
        raise OutOfReach("the target does not close the links to a deleted node")
    other.barrier()
    peer.claim("a link of that name to another node with nothing unsettled, and its message")
    again = other.receiver(filled(peer, 1), name=name, credit=1)
    found = (len(unsettled_of(again)), other.delivery(again).body)
    return equals(peer, found, (0, b"message 0"), "unsettled, body")


@case("definitions.condition.illegal-state", covers=["definitions/condition/illegal-state"])
def begin_of_what_has_begun(peer: Peer) -> Verdict:
    """The target rejects a begin on a channel whose session has links."""
    peer.sender()
    peer.send("begin")
    return rejects_violation(peer)


# --- connections


@on_connection("definitions.condition.framing-error", covers=["definitions/condition/framing-error"])
def octets_that_are_no_frame(peer: Peer) -> Verdict:
    """The target rejects octets that contain no valid frame header with framing-error."""
    # A size of 5, and octets after it in which no header could be found again.
    peer.send_octets(bytes(3) + b"\x05" + bytes(range(60)))
    return rejects_violation(peer, barrier=False)


# --- sessions


@case("definitions.condition.window-violation", covers=["definitions/condition/window-violation"], heavy=True)
def transfers_beyond_the_window(peer: Peer) -> Verdict:
    """The target accepts transfers beyond its incoming window as it renews the window, or ends the session."""
    link = peer.sender()
    peer.credit_for(link)
    # Twice the window, and two: a target that has renewed it once meanwhile is overrun all the same.
    transfers = max(2 * (link.session.remote_incoming_window + 1), LEAST_MESSAGE_OCTETS)
    if transfers > _MOST_TRANSFERS:
        raise OutOfReach(f"a window of {link.session.remote_incoming_window} is more than the case overruns")
    if 0 < link.max_message_size < transfers:
        raise OutOfReach(f"max-message-size is {link.max_message_size}, the case needs {transfers}")
    # A valid message: only the number of transfers is wrong.
    peer.send_octets(peer.transfer_octets(link, message=message_of(transfers), chunk=1, more=True))
    return borne(peer, peer.reaction())


@case("definitions.condition.errant-link", covers=["definitions/condition/errant-link"])
def transfer_for_a_link_that_failed(peer: Peer) -> Verdict:
    """A transfer for a link that the target detached for an error ends the session with errant-link."""
    peer.polite = False
    link = peer.sender()
    failed(peer, link)
    peer.send_octets(peer.transfer_octets(link, b"too late"))
    return rejects_violation(peer)


@case("definitions.condition.handle-in-use", covers=["definitions/condition/handle-in-use"])
def handle_that_has_a_link(peer: Peer) -> Verdict:
    """The target rejects attach with the handle of another link with handle-in-use."""
    link = peer.receiver()
    peer.send("attach", **peer.attach_fields(RECEIVER, handle=link.handle))
    return rejects_violation(peer)


@case("definitions.condition.unattached-handle.flow", covers=["definitions/condition/unattached-handle"])
def flow_without_link(peer: Peer) -> Verdict:
    """A flow with an unattached handle ends the session with unattached-handle."""
    return _unattached(peer, "flow", delivery_count=0, link_credit=1)


@case("definitions.condition.unattached-handle.transfer", covers=["definitions/condition/unattached-handle"])
def transfer_without_link(peer: Peer) -> Verdict:
    """A transfer with an unattached handle ends the session with unattached-handle."""
    return _unattached(peer, "transfer", payload=b"\x00\x53\x75\xa0\x01x")


@in_session(
    "definitions.condition.unattached-handle.detach", covers=["definitions/condition/unattached-handle"]
)
def detach_without_link(peer: Peer) -> Verdict:
    """A detach with an unattached handle is ignored, or ends the session with unattached-handle."""
    peer.send("detach", handle=unattached(peer), closed=True)
    return borne(peer, peer.reaction())


# --- links


@case(
    "definitions.condition.transfer-limit-exceeded", covers=["definitions/condition/transfer-limit-exceeded"]
)
def messages_beyond_the_credit(peer: Peer) -> Verdict:
    """The target accepts messages beyond its credit as it renews the credit, or detaches the link."""
    link = peer.sender()
    burst = 2 * peer.credit_for(link) + 1
    if burst > min(LARGEST_TRY, link.session.remote_incoming_window):
        raise OutOfReach(f"a credit of {link.credit} is more than the case sends at once")
    peer.send_octets(b"".join(peer.transfer_octets(link, b"x") for _ in range(burst)))
    return borne(peer, peer.reaction(link=link))


@case("definitions.condition.message-size-exceeded", covers=["definitions/condition/message-size-exceeded"])
def message_that_is_too_large(peer: Peer) -> Verdict:
    """A message above the max-message-size of a link detaches the link with message-size-exceeded."""
    link = peer.sender()
    message = oversize(link)
    if message is None:
        raise OutOfReach(f"max-message-size is {link.max_message_size}: none, or too large to be tried")
    peer.credit_for(link)
    octets = peer.transfer_octets(link, message=message)
    if not link.session.remote_incoming_window:
        raise OutOfReach("the session's window is too small for the message")
    peer.send_octets(octets)
    return rejects_violation(peer, link=link)


@case("definitions.condition.stolen", covers=["definitions/condition/stolen"], needs=["link-stealing"])
def link_that_is_attached_elsewhere(peer: Peer) -> Verdict:
    """A link that is attached again on another session is detached from the first one with stolen."""
    address, name = peer.node(), peer.name("link")
    first = peer.sender(address, name=name)
    peer.room_for_channel(1)
    second, reaction = asked(peer, SENDER, address, 1, name=name)
    if reaction.refusal is not None or second.refused:
        raise OutOfReach(f"the target refuses the second attach: {reaction.describe(peer.dialect)}", reaction)
    peer.claim("detach with stolen, or two working links")
    return _gone(peer, first)


@case("definitions.condition.resource-locked", covers=["definitions/condition/resource-locked"])
def held_by_another(peer: Peer) -> Verdict:
    """A connection whose container is taken over at the wish of both connections is closed with resource-locked."""
    beside = peer.another().open_connection()
    sole(peer, CLOSE_EXISTING)
    peer.claim("close with resource-locked, and no other connection closed")
    second = replacing(peer)
    seen = (closed_for(peer), still_there(second), still_there(beside))
    return equals(peer, seen, ("amqp:resource-locked", True, True), "condition, second, beside")


@case("definitions.condition.precondition-failed", covers=["definitions/condition/precondition-failed"])
def message_without_to(peer: Peer) -> Verdict:
    """On a link without address, the target rejects a message without a node and accepts one with a node."""
    link = anonymous(peer)
    address = peer.node()
    outgoing = peer.transfer(link, b"to nobody")
    verdict = judge_reaction(peer, peer.reaction(link=link, delivery=outgoing))
    if not link.is_attached:
        return verdict
    sent = peer.outcome(addressed(peer, link, address, b"to a node"))
    return worst((verdict, equals(peer, sent.result, "accepted", "outcome of the next one")))


# --- steps of this module


def _refused(peer: Peer, attach: dict[str, Any], **fields: Any) -> Verdict:
    """An attach that cannot be taken."""
    peer.begin()
    peer.send("attach", **{**attach, **fields})
    return rejects_violation(peer)


def _borne(peer: Peer, fields: dict[str, Any]) -> Verdict:
    _, reaction = asked(peer, SENDER, **fields)
    return borne(peer, reaction)


def _unattached(peer: Peer, name: str, **fields: Any) -> Verdict:
    peer.begin()
    peer.send(name, handle=unattached(peer), **fields)
    return rejects_violation(peer)


def _gone(peer: Peer, link: Link) -> Verdict:
    """How a link was detached that the target need not detach: the condition says why."""
    with suppress(Unmet):
        peer.until(lambda: link.detached_by is not None, "detach", link=link)
    # To give up a link for this reason is the target's choice; the condition is judged only if it does.
    if peer.over(link) is None:
        return observed_either_way(peer, "still attached")
    return judge_reaction(peer, peer.reaction(link=link))


def _gone_or_made(peer: Peer, address: str) -> Verdict:
    """An address whose node was deleted names nothing any more, or a new node."""
    peer.claim("a refusal, or a node that passes a message on")
    link, reaction = asked(peer, SENDER, address)
    if reaction.refusal is not None or link.refused:
        return holds(peer, True, reaction)
    peer.outcome(peer.transfer(link, b"x"))
    body = peer.delivery(peer.receiver(address, credit=1)).body
    return equals(peer, body, b"x", "body", "links/establishing/actual-properties")


def _maker(peer: Peer) -> Link:
    """A link that made a node which is to go with it."""
    source = {"dynamic": True, "dynamic_node_properties": {Symbol("lifetime-policy"): _DELETE_ON_CLOSE}}
    link, reaction = asked(peer, RECEIVER, source=source)
    must_attach(peer, link, reaction, "no nodes on request")
    return link
