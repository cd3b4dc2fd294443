"""The flow performative (amqp-1.0 §2.7.4): what it has to say of sessions and links, and what it may not; echo."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link, ahead, serial
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne, rejects_violation, well_formed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._cases import in_session
from amqpspec.suites.amqp_1_0._links import arrived, bodies, exactly, fill, filled, windowed
from amqpspec.suites.amqp_1_0._sessions import (
    begun_and_attached,
    flows_of_session,
    send_many,
    state_of,
)

_MANDATORY = ("incoming_window", "next_outgoing_id", "outgoing_window")
_INITIAL_COUNT = 7
_FEW, _MANY_CREDITS = 5, 300
_ECHOES = 5
_CREDIT = 2

# --- what there has to be


@case("flow.mandatory.missing", covers=["performatives/flow/mandatory"])
def flow_without_what_it_has_to_carry(peer: Peer) -> Verdict:
    """The target rejects flow without incoming-window, next-outgoing-id or outgoing-window."""
    return worst(_refused_without(peer.another(), field) for field in _MANDATORY)


@in_session("flow.mandatory.empty", covers=["performatives/flow/mandatory"])
def empty_flow(peer: Peer) -> Verdict:
    """The target rejects flow with an empty list."""
    peer.send_octets(peer.exact("flow"))
    return rejects_violation(peer)


@in_session("flow.mandatory.own", covers=["performatives/flow/mandatory"])
def flow_of_the_target(peer: Peer) -> Verdict:
    """The target's flow contains all mandatory fields, with valid values."""
    return well_formed(peer, state_of(peer))


@case("flow.next-incoming-id.set", covers=["performatives/flow/next-incoming-id/set"])
def flow_tells_the_next_incoming_id(peer: Peer) -> Verdict:
    """The target's flows contain next-incoming-id, because it received a begin before it sends any."""
    peer.begin(next_outgoing_id=50)
    peer.claim("flow with next-incoming-id 50")
    flow = state_of(peer)
    return equals(peer, flow["next_incoming_id"], 50, "next-incoming-id")


@case("flow.next-incoming-id.unset", covers=["performatives/flow/next-incoming-id/unset"])
def flow_before_begin_was_seen(peer: Peer) -> Verdict:
    """The target accepts flow without next-incoming-id before its begin is known; its begin comes first."""
    address = filled(peer, 6)
    peer.open_connection()
    peer.claim("begin, then attach, then 4 transfers for windows of 2 and of 4 from the first transfer on")
    peer.send_octets(begun_and_attached(peer, address, 6, 2, 4))
    first = peer.read(peer.now() + peer.patience_s)
    if not isinstance(first, FrameArrived) or first.name != "begin":
        return holds(peer, False, first)
    link = peer.session().every_link[-1]
    peer.until(lambda: link.attached is not None, "attach", session=link.session)
    return windowed(peer, 4, link)


# --- of a session, of a link


@case("flow.handle.session-only", covers=["performatives/flow/handle/session-only"])
def flow_of_the_session(peer: Peer) -> Verdict:
    """A flow without handle changes windows, and not the credit of a link."""
    address = filled(peer, 5)
    peer.begin(incoming_window=2)
    link = peer.receiver(address)
    peer.claim("2 transfers in a window of 2, the other 3 of the credit in a wider one, then no more")
    peer.credit(link, 5)
    verdict = windowed(peer, 2, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    peer.flow(incoming_window=100)
    verdict = exactly(peer, 5, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    # One message more than the credit: a flow without handle must not bring it.
    fill(peer, address, b"beyond the credit")
    peer.flow()
    return exactly(peer, 5, link)


@case("flow.handle.session-only.idle", covers=["performatives/flow/handle/session-only"])
def flow_of_the_session_while_a_link_waits(peer: Peer) -> Verdict:
    """A flow without handle does not change the credit of a link that waits for messages."""
    link = peer.receiver(peer.node(), credit=3)
    peer.claim("3 transfers for a credit that was given before")
    peer.flow()
    peer.barrier()
    fill(peer, link.address, *bodies(4))
    return exactly(peer, 3, link)


# --- fields of a link in a flow of the session


def _without_handle(field: str, value: Any) -> None:
    def body(peer: Peer) -> Verdict:
        return _of_no_link(peer, field.replace("-", "_"), value)

    body.__doc__ = f"The target rejects or tolerates flow with {field} and without handle, and sends none."
    row = f"performatives/flow/{field}/without-handle"
    globals()[f"case_{field}"] = case(f"flow.{field}.without-handle", covers=[row])(body)


for _name, _value in {
    "delivery-count": 3,
    "link-credit": 3,
    "available": 3,
    "drain": True,
    "properties": {},
}.items():
    _without_handle(_name, _value)


# --- fields of a link


@case("flow.delivery-count.sender", covers=["performatives/flow/delivery-count/sender"])
def delivery_count_of_a_sender(peer: Peer) -> Verdict:
    """The flow of a sender contains its current delivery-count."""
    link = peer.receiver(filled(peer, 3))
    initial = link.delivery_count
    peer.credit(link, 3)
    arrived(peer, link, 3)
    flow, used = _answer(peer, link, link_credit=1), 3
    if flow is None:
        # Drained, the credit of one counts as used.
        flow, used = _answer(peer, link, drain=True), 4
    if flow is None:
        raise OutOfReach("the target reports no state of an idle link")
    peer.claim(f"the initial delivery-count and {used}")
    return equals(peer, flow["delivery_count"], serial(initial + used), "delivery-count")


@case("flow.delivery-count.receiver", covers=["performatives/flow/delivery-count/receiver"])
def delivery_count_known_to_a_receiver(peer: Peer) -> Verdict:
    """The flow of a receiver contains the latest delivery-count of the sender that it knows, starting at attach."""
    link = peer.sender(initial_delivery_count=_INITIAL_COUNT)
    peer.until(lambda: link.flow is not None, "flow", link=link)
    peer.claim(f"delivery-count {_INITIAL_COUNT} plus the number of messages")
    first = owed(link.flow, "flow")["delivery_count"]
    if first != _INITIAL_COUNT:
        return equals(peer, first, _INITIAL_COUNT, "delivery-count")
    count = _renewed_count(peer, link)
    if count is None or not 0 <= ahead(count, _INITIAL_COUNT) <= link.sent:
        observed = f"delivery-count {count} after {link.sent} messages from {_INITIAL_COUNT}"
        return holds(peer, False, observed)
    flow = _answer(peer, link)
    if flow is None:
        return holds(peer, True, f"delivery-count {count}, then no flow")
    return equals(peer, flow["delivery_count"], _INITIAL_COUNT + link.sent, "delivery-count")


@case("flow.link-credit.sender", covers=["performatives/flow/link-credit/sender"])
def credit_that_a_sender_saw(peer: Peer) -> Verdict:
    """The flow of a sender contains the granted credit less the credit that it has used."""
    link = peer.receiver(peer.node())
    initial = link.delivery_count
    flow = _answered(peer, link, link_credit=5)
    peer.claim("credit 5, and 3 after 2 messages")
    if flow["link_credit"] != 5:
        return equals(peer, flow["link_credit"], 5, "link-credit")
    fill(peer, link.address, *bodies(2))
    arrived(peer, link, 2)
    # The credit of before, counted from if it was given: what was used of it has to be taken off.
    again = _answer(peer, link, link_credit=5, delivery_count=initial)
    if again is None:
        return holds(peer, True, "link-credit 5, then no flow")
    used = serial(again["delivery_count"] - initial)
    return equals(peer, (used, again["link_credit"]), (2, 3), "messages sent, link-credit")


@case("flow.link-credit.sender.used", covers=["performatives/flow/link-credit/sender"])
def credit_that_a_sender_used(peer: Peer) -> Verdict:
    """Delivery-count and credit in a sender's flow add up to the credit limit, however much credit is used."""
    link = peer.receiver(filled(peer, 2))
    initial = link.delivery_count
    flow = _answered(peer, link, link_credit=5)
    peer.claim("delivery-count and credit that make 5 beyond the initial delivery-count")
    # However many were out when a flow was written, count and credit together stay the same; both messages
    # are out before the second one, which gives no credit that would hide what the target reckons.
    arrived(peer, link, 2)
    flows: list[FrameArrived | None] = [flow]
    with suppress(Unmet):  # flow without credit is another matter
        flows.append(_answer(peer, link, link_credit=OMIT))
    limits = {serial(f["delivery_count"] + f["link_credit"] - initial) for f in flows if f is not None}
    return equals(peer, limits, {5}, "delivery-count and credit beyond the initial count")


@case("flow.available.meaning", covers=["performatives/flow/available/meaning"])
def available_counts_what_waits(peer: Peer) -> Verdict:
    """Available is never more than the number of messages that wait for credit."""
    link = peer.receiver(filled(peer, 5))
    reported = []
    for credit, waiting in ((0, 5), (2, 3)):
        flow = _answer(peer, link, link_credit=credit)
        arrived(peer, link, 5 - waiting)
        flow = _answer(peer, link, link_credit=0) if credit else flow
        reported.append(None if flow is None else flow["available"])
    peer.claim("available up to 5 if 5 messages wait, up to 3 if 3 do; or not set")
    # Left out is not wrong, and a smaller number may be all that the target has counted (amqp-1.0 §2.7.4).
    fits = (reported[0] or 0) <= 5 and (reported[1] or 0) <= 3
    return holds(peer, fits, f"available {reported[0]}, then {reported[1]}")


@case("flow.drain.sender", covers=["performatives/flow/drain/sender"])
def drain_mode_of_a_sender(peer: Peer) -> Verdict:
    """The flow of a sender that has drained has drain set, and no longer when the receiver ends drain."""
    link = peer.receiver(peer.node())
    peer.claim("drain, then no drain")
    peer.barrier()
    flow = peer.echo(link=link, link_credit=3, drain=True)
    if flow["drain"] is not True:
        return equals(peer, flow["drain"], True, "drain")
    again = _answer(peer, link, link_credit=2, drain=False)
    if again is None:
        return holds(peer, True, "drain, then no flow")
    return equals(peer, again["drain"], False, "drain")


# --- echo


@in_session("flow.echo.answered", covers=["performatives/flow/echo/answered"])
def echo_of_a_session(peer: Peer) -> Verdict:
    """The target answers a session flow with echo with a flow."""
    peer.claim("flow")
    peer.echo()
    return holds(peer, True, "flow")


@case("flow.echo.answered.sender", covers=["performatives/flow/echo/answered"])
def echo_of_a_link_to_send(peer: Peer) -> Verdict:
    """The target answers a sender's flow with echo with a flow of the link."""
    link = peer.sender()
    peer.credit_for(link)
    peer.claim("flow of the link")
    peer.barrier()
    peer.echo(link=link)
    return holds(peer, True, "flow of the link")


@case("flow.echo.answered.receiver", covers=["performatives/flow/echo/answered"])
def echo_of_a_link_to_receive(peer: Peer) -> Verdict:
    """The target answers a receiver's flow with echo with a flow of the link."""
    link = peer.receiver(peer.node(), credit=3)
    peer.claim("flow of the link")
    peer.barrier()
    peer.echo(link=link)
    return holds(peer, True, "flow of the link")


@case("flow.echo.link-answer", covers=["performatives/flow/echo/link-answer"])
def echo_answered_by_a_link(peer: Peer) -> Verdict:
    """The target may answer a session flow with echo with a flow of any link."""
    link = peer.sender()
    peer.credit_for(link)
    peer.barrier()
    peer.pending("flow")
    peer.flow(echo=True)
    peer.barrier()
    handles = ["a link" if flow["handle"] is not None else "the session" for flow in peer.pending("flow")]
    return observed_either_way(peer, f"flow of {', '.join(handles)}" if handles else "no flow")


@case("flow.echo.one-answer", covers=["performatives/flow/echo/one-answer"])
def one_answer_for_several(peer: Peer) -> Verdict:
    """The target sends at most one answer per flow with echo, and the last one reports the state after all of them."""
    peer.begin(next_outgoing_id=50)
    # Flows that the target sends unasked are none of the answers.
    peer.barrier()
    peer.pending("flow")
    # In one write, so that one answer can serve all.
    peer.send_octets(b"".join(peer.frame("flow", echo=True) for _ in range(_ECHOES)))
    peer.barrier()
    flows = [flow for flow in peer.pending("flow") if flow["handle"] is None]
    peer.claim(f"{_ECHOES} flows at most, next-incoming-id 50")
    if len(flows) > _ECHOES or (flows and flows[-1]["next_incoming_id"] != 50):
        last = flows[-1]["next_incoming_id"]
        return holds(peer, False, f"{len(flows)} flows, the last with next-incoming-id {last}")
    return observed_either_way(peer, f"{len(flows)} flows for {_ECHOES}")


@case("flow.echo.no-loop", covers=["performatives/flow/echo/no-loop"])
def answer_that_asks_for_none(peer: Peer) -> Verdict:
    """The target's answering flow does not set echo itself."""
    link = peer.receiver(peer.node(), credit=1)
    peer.flow(echo=True)
    flow = _answer(peer, link, link_credit=3)
    flows = [f for f in (flow, *peer.pending("flow")) if f is not None]
    if not flows:
        raise OutOfReach("the target does not answer echo")
    asking = sum(flow["echo"] is True for flow in flows)
    return holds(peer, asking == 0, f"{asking} of {len(flows)} flows with echo", "flows without echo")


# --- steps of this module


def _refused_without(peer: Peer, field: str) -> Verdict:
    peer.begin()
    missing: dict[str, Any] = {field: None}
    peer.flow(**missing)
    return rejects_violation(peer)


def _of_no_link(peer: Peer, field: str, value: Any) -> Verdict:
    """The target's own flows of the session do without a field; then a flow of the peer's that has it.

    If that is accepted, the links of the session are as before: one without credit, one that waits with a credit.
    """
    resting, waiting = peer.receiver(filled(peer, 2)), peer.receiver(peer.node(), credit=_CREDIT)
    own = [flow for flow in flows_of_session(peer) if field in flow.given and flow[field] is not False]
    if own:
        return holds(peer, False, f"{field} {own[0][field]!r} in a flow without handle")
    peer.flow(**{field: value})
    reaction = peer.reaction()
    if reaction.refusal is not None or reaction.closing is not None:
        return borne(peer, reaction)
    peer.claim(f"{_CREDIT} transfers on the link that had this credit, none on the other")
    fill(peer, waiting.address, *bodies(_CREDIT + 1))
    found = worst((exactly(peer, _CREDIT, waiting), exactly(peer, 0, resting)))
    return borne(peer, reaction) if found.outcome is Outcome.PASS else found


def _answered(peer: Peer, link: Link, **fields: Any) -> FrameArrived:
    """As ``_answer``; raises OutOfReach for a target that does not answer to echo, which it need not."""
    flow = _answer(peer, link, **fields)
    if flow is None:
        raise OutOfReach("the target reports no state of an idle link")
    return flow


def _renewed_count(peer: Peer, link: Link) -> int | None:
    """The delivery-count of the flow that renews the credit, or of the first one if the credit is large.

    The answer to our own flow shows nothing, because our count corrects the target's. Few messages are sent at a
    time, so that a target that counts twice soon reports more than were sent.
    """
    first = link.flow
    while link.flow is first and link.credit and link.sent < _MANY_CREDITS:
        send_many(peer, link, min(_FEW, link.credit))
    if not link.credit:
        with suppress(Unmet):
            peer.until(lambda: link.flow is not first, "flow", link=link)
    count: int | None = owed(link.flow, "flow")["delivery_count"]
    return count


def _answer(peer: Peer, link: Link, **fields: Any) -> FrameArrived | None:
    """The target's state of a link, if it answers; raises Unmet if link or session are over."""
    # Flows that the target sends unasked arrive before the answer to a barrier.
    peer.barrier(link.session.channel)
    before = link.flow
    peer.flow(link=link, echo=True, **fields)
    with suppress(Unmet):
        peer.until(lambda: link.flow is not before, "flow", link=link)
    if (over := peer.over(link)) is not None:
        raise Unmet("flow", over.describe(peer.dialect), over)
    peer.pending("flow", link=link)
    return link.flow if link.flow is not before else None
