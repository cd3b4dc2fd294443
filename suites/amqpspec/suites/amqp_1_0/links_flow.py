"""Flow control of links (amqp-1.0 §2.6.7 to §2.6.10): delivery-count, credit, drain; getting and stopping."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from amqpspec.peer.amqp_1_0.books import FrameArrived, Link, serial
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.record.rows import Outcome
from amqpspec.run.amqp_1_0.oracles import borne
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import RECEIVER, arrived, bodies, exactly, fill, filled
from amqpspec.suites.amqp_1_0._transfers import credit_at_once

# Zero, any number, below the sign bit, all bits; the sign bit alone is neither ahead of zero nor after it (RFC 1982).
_INITIAL_COUNTS = (0, 12345, (1 << 31) - 1, (1 << 32) - 1)
_BURST = 2500
_WIDE = 100

# --- delivery-count and credit


@case("links.flow.delivery-count", covers=["links/flow/delivery-count"])
def delivery_count_grows(peer: Peer) -> Verdict:
    """The delivery-count of a sender grows by one for each delivery that it sends."""
    link = peer.receiver(filled(peer, 4), credit=5)
    arrived(peer, link, 4)
    flow, sent = _reported(peer, link), 4
    if flow is None:  # drained, the last credit counts, too
        flow, sent = _drained(peer, link, 1), 5
    peer.claim(f"the initial delivery-count and {sent}")
    return equals(peer, flow["delivery_count"], serial(_initial(link) + sent), "delivery-count")


@case("links.flow.delivery-count.sender-only", covers=["links/flow/delivery-count-sender-only"])
def receiver_with_another_count(peer: Peer) -> Verdict:
    """A sender keeps its delivery-count, whatever its receiver says, and computes its credit from it."""
    link = peer.receiver(filled(peer, 6), credit=4)
    arrived(peer, link, 4)
    # Two behind with a credit of 2: by the formula, all of it has been used.
    behind = serial(_initial(link) + 2)
    flow = _reported(peer, link, delivery_count=behind, link_credit=2)
    peer.barrier()
    peer.claim("the sender's own delivery-count, no credit, no transfer")
    verdict = exactly(peer, 4, link)
    if flow is None or verdict.outcome is not Outcome.PASS:
        return verdict
    actual = (flow["delivery_count"], flow["link_credit"])
    return equals(peer, actual, (serial(_initial(link) + 4), 0), "delivery-count, credit")


@case("links.flow.link-credit.receiver-only", covers=["links/flow/link-credit-receiver-only"])
def credit_is_the_receivers(peer: Peer) -> Verdict:
    """A sender's credit is the granted credit less the deliveries sent, and never grows by itself."""
    link = peer.receiver(filled(peer, 2), credit=5)
    arrived(peer, link, 2)
    flow = _reported(peer, link)
    other = peer.receiver(filled(peer, 12), credit=3)
    arrived(peer, other, 3)
    peer.claim("credit 3 of 5 after two messages; three messages for a credit of 3")
    verdict = exactly(peer, 3, other)
    if flow is None or verdict.outcome is not Outcome.PASS:
        return verdict
    return equals(peer, flow["link_credit"], 3, "credit")


@case("links.flow.delivery-limit", covers=["links/flow/delivery-limit"])
def delivery_limit_is_kept(peer: Peer) -> Verdict:
    """A sender sends up to the delivery-limit that its receiver sets, and not beyond it."""
    link = peer.receiver(filled(peer, 12), credit=5)
    arrived(peer, link, 5)
    peer.claim("two messages more, up to the delivery-limit")
    # delivery-count 4 and credit 3 make the limit 7; five are out, so two are left.
    peer.credit(link, 3, delivery_count=serial(_initial(link) + 4))
    return exactly(peer, 7, link)


@case("links.flow.credit-formula", covers=["links/flow/credit-formula"])
def credit_by_the_formula(peer: Peer) -> Verdict:
    """Credit granted with an older delivery-count is reduced by the deliveries sent since."""
    link = peer.receiver(filled(peer, 12), credit=4)
    arrived(peer, link, 4)
    peer.claim("three messages more")
    # 2 + 5 = 7 in all, of which four are out (amqp-1.0 §2.6.7).
    peer.credit(link, 5, delivery_count=serial(_initial(link) + 2))
    return exactly(peer, 7, link)


@case("links.flow.count-unspecified", covers=["links/flow/count-unspecified"])
def credit_without_delivery_count(peer: Peer) -> Verdict:
    """Credit without delivery-count counts from the sender's initial count, however often it is granted."""
    nodes = [filled(peer, 10) for _ in range(2)]
    peer.begin()
    peer.claim("three messages for a credit of 3, two more for one of 5; five for credits of 3 and 5")
    link = _attached_with_credit(peer, nodes[0], 3)
    verdict = exactly(peer, 3, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    # After the three: for the target, a flow that was in flight when they were sent.
    peer.credit(link, 5, delivery_count=OMIT)
    verdict = exactly(peer, 5, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    return exactly(peer, 5, _attached_with_credit(peer, nodes[1], 3, 5))


@case("links.flow.credit-decreases", covers=["links/flow/credit-decreases"])
def credit_is_used_up(peer: Peer) -> Verdict:
    """Each message uses one credit: the target sends exactly as many more messages as credit remains."""
    address = filled(peer, 3)
    link = peer.receiver(address, credit=5)
    arrived(peer, link, 3)
    fill(peer, address, *bodies(5))
    peer.claim("two messages more, which use up the credit")
    return exactly(peer, 5, link)


@case("links.flow.available-zero", covers=["links/flow/available-zero"])
def message_after_available_zero(peer: Peer) -> Verdict:
    """A sender that announced available zero can send later messages without another flow."""
    link = peer.receiver(peer.node(), credit=2)
    with suppress(Unmet):
        peer.echo(link=link)
    reported = link.available
    fill(peer, link.address, b"later")
    try:
        arrived(peer, link, 1)
    except Unmet as silence:
        # amqp-1.0 §2.6.7: available is a hint, nothing is due by it.
        way = f"available {reported}, then no message"
        return observed_either_way(peer, way, silence.seen, f"available {reported}, then {silence.observed}")
    return observed_either_way(peer, f"available {reported}, then the message")


# --- drain


@case("links.flow.drain.behaviour", covers=["links/flow/drain/behaviour"])
def drain_with_messages(peer: Peer) -> Verdict:
    """A draining sender sends all available messages, then gives up the rest of its credit."""
    link = peer.receiver(filled(peer, 3))
    peer.claim("three messages, then flow with delivery-count advanced by ten and no credit")
    flow = _drained(peer, link, 10)
    observed = (link.begun, flow["delivery_count"])
    return equals(peer, observed, (3, serial(_initial(link) + 10)), "transfers, delivery-count")


@case("links.flow.drain.receiver-only", covers=["links/flow/drain/receiver-only"])
def drain_is_the_receivers(peer: Peer) -> Verdict:
    """A sender's drain mode is the latest one that its receiver set."""
    link = peer.receiver(peer.node())
    flows = [_reported(peer, link, link_credit=2), _drained(peer, link, 2)]
    flows.append(_reported(peer, link, link_credit=1, drain=False))
    peer.claim("drain as the receiver set it last")
    reported = [None if flow is None else flow["drain"] for flow in flows]
    kept = all(drain in (None, said) for drain, said in zip(reported, (False, True, False), strict=True))
    return holds(peer, kept, f"drain {reported}")


@case("links.flow.drain.empty", covers=["links/flow/drain/empty"])
def drain_of_an_empty_node(peer: Peer) -> Verdict:
    """A draining sender without messages advances delivery-count by all of its credit, and reports it."""
    link = peer.receiver(peer.node(), credit=7)
    peer.claim("flow with delivery-count advanced by seven and no credit")
    flow = _drained(peer, link, 7)
    return equals(peer, flow["delivery_count"], serial(_initial(link) + 7), "delivery-count")


@case("links.flow.drain.window", covers=["links/flow/drain/empty", "links/flow/drain/behaviour"])
def drain_behind_a_window(peer: Peer) -> Verdict:
    """A sender that is to drain while a window holds messages back sends them when it opens, then drains.

    Another link of the session, which is not to drain, keeps its credit.
    """
    drained, resting, other = filled(peer, 3), peer.node("resting"), 2
    peer.begin(incoming_window=1)
    link, beside = peer.receiver(drained), peer.receiver(resting, credit=other)
    peer.barrier()
    before = link.flow
    peer.flow(link=link, link_credit=7, drain=True)
    peer.until(lambda: link.transfers > 0, "a transfer", link=link)
    peer.claim(f"three messages, delivery-count advanced by seven; {other} messages on the other link")
    peer.flow(incoming_window=_WIDE)
    flow = _credit_gone(peer, link, before)
    fill(peer, resting, *bodies(other))
    arrived(peer, beside, other)
    if link.begun != 3:  # given up while messages were there
        return equals(peer, link.begun, 3, "transfers", "links/flow/drain/behaviour")
    return equals(peer, flow["delivery_count"], serial(_initial(link) + 7), "delivery-count")


# --- no credit, less credit


@case("links.flow.no-credit", covers=["links/flow/no-credit"])
def nothing_without_credit(peer: Peer) -> Verdict:
    """The target sends nothing without credit: before the first grant, when it is used up, and when it is revoked."""
    address = filled(peer, 3)
    link = peer.receiver(address)
    peer.claim("no transfer without credit")
    verdict = exactly(peer, 0, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    peer.credit(link, 1)
    verdict = exactly(peer, 1, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    peer.credit(link, 0)
    peer.barrier()
    return exactly(peer, 1, link)


@case("links.flow.credit-reduced", covers=["links/flow/credit-reduced"])
def more_than_there_is_credit_for(peer: Peer) -> Verdict:
    """The target accepts messages beyond a reduced credit, or detaches the link."""
    link = peer.sender()
    credit = peer.credit_for(link)
    # Twice the credit, and one: a target that has renewed it once meanwhile is overrun all the same.
    burst = 2 * credit + 1
    if burst > min(_BURST, link.session.remote_incoming_window):
        raise OutOfReach(f"a credit of {credit} is more than the case sends at once")
    peer.send_octets(b"".join(peer.transfer_octets(link, b"x", settled=True) for _ in range(burst)))
    return borne(peer, peer.reaction(link=link))


# --- where the count begins, and how it continues


@case("links.flow.delivery-count.wraps", covers=["links/flow/delivery-count-wraps"])
def delivery_count_wraps(peer: Peer) -> Verdict:
    """The delivery-count wraps around at 2^32, and the link continues."""
    # Two before the end of 32 bits: five messages pass zero (RFC 1982).
    start = (1 << 32) - 2
    link = peer.sender(initial_delivery_count=start)
    credit_at_once(peer, link, 5)
    peer.claim("five messages accepted, and a delivery-count of 3")
    for body in bodies(5):
        peer.outcome(peer.transfer(link, body, wait=False))
    flow = _reported(peer, link)
    if flow is not None and "delivery_count" in flow.given:
        return equals(peer, flow["delivery_count"], serial(start + 5), "delivery-count")
    return holds(peer, True, "five messages accepted")


@case("links.flow.initial-state", covers=["links/flow/initial-state"])
def state_of_a_new_link(peer: Peer) -> Verdict:
    """A new link has no credit and no drain, and sends nothing."""
    link = peer.receiver(filled(peer, 2))
    peer.claim("no credit, no drain, no transfer")
    verdict = exactly(peer, 0, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    flow = _reported(peer, link, link_credit=OMIT)
    if flow is None:
        return holds(peer, True, "no transfer")
    credit = flow["link_credit"] or 0
    return equals(peer, (credit, flow["drain"], link.transfers), (0, False, 0), "credit, drain, transfers")


@case("links.flow.initial-delivery-count", covers=["links/flow/initial-delivery-count"])
def delivery_count_begins_anywhere(peer: Peer) -> Verdict:
    """A sender can start its delivery-count at any number, and its receiver grants credit from there."""
    return worst(_counted_from(peer, count) for count in _INITIAL_COUNTS)


# --- getting and stopping


@case("links.synchronous-get", covers=["links/synchronous-get"])
def one_message_at_a_time(peer: Peer) -> Verdict:
    """A credit of one delivers one message each time."""
    link = peer.receiver(filled(peer, 5))
    peer.claim("one message for a credit of one")
    verdict = holds(peer, True, "one message")
    for count in (1, 2):
        peer.credit(link, 1)
        verdict = exactly(peer, count, link)
        if verdict.outcome is not Outcome.PASS:
            break
    return verdict


@case("links.synchronous-get.timed", covers=["links/synchronous-get/timed"])
def get_that_is_over(peer: Peer) -> Verdict:
    """A get from an empty node ends with drain: the credit is used up and no message arrives."""
    link = peer.receiver(peer.node(), credit=1)
    peer.barrier()
    peer.claim("flow without credit, no message")
    _drained(peer, link, 1)
    return equals(peer, link.transfers, 0, "transfers")


@case("links.stopping.credit-zero", covers=["links/stopping/credit-zero"])
def credit_of_zero_stops(peer: Peer) -> Verdict:
    """A credit of zero stops a link: the target does not send messages that reach the node later."""
    address = filled(peer, 2)
    link = peer.receiver(address, credit=10)
    arrived(peer, link, 2)
    peer.claim("no transfer after a credit of zero")
    peer.credit(link, 0)
    peer.barrier()
    fill(peer, address, *bodies(3))
    return exactly(peer, 2, link)


@case("links.stopping.echo", covers=["links/stopping/echo"])
def echo_tells_that_a_link_rests(peer: Peer) -> Verdict:
    """The target answers a credit of zero with a flow that reports no credit, and sends nothing after it."""
    address = filled(peer, 5)
    link = peer.receiver(address, credit=20)
    arrived(peer, link, 5)
    flow = _reported(peer, link, link_credit=0)
    if flow is None:
        return observed_either_way(peer, "the sender does not answer")
    peer.claim("a flow without credit, and nothing after it")
    if flow["link_credit"] not in (None, 0):
        return equals(peer, flow["link_credit"], 0, "credit")
    fill(peer, address, *bodies(3))
    return exactly(peer, 5, link)


# --- steps of this module


def _initial(link: Link) -> int:
    """The number from which the target counts; another row judges a target that does not report it."""
    count: object = owed(link.attached, "attach")["initial_delivery_count"]
    return owed(count if isinstance(count, int) else None, "an initial-delivery-count")


def _attached_with_credit(peer: Peer, address: str, *credits: int) -> Link:
    """Attach and flows in one write, when the receiver cannot know the delivery-count."""
    octets = peer.frame("attach", **peer.attach_fields(RECEIVER, address))
    link = peer.session().every_link[-1]
    # In one write: the receiver cannot know the sender's delivery-count, and so must leave
    # it out (amqp-1.0 §2.7.4).
    flows = [peer.frame("flow", handle=link, link_credit=credit, delivery_count=OMIT) for credit in credits]
    peer.send_octets(octets + b"".join(flows))
    peer.until(lambda: link.attached is not None, "attach", session=link.session)
    return link


def _drained(peer: Peer, link: Link, credit: int) -> FrameArrived:
    """The flow of the target that tells that all credit is gone."""
    # As in ``_reported``: a flow sent unasked may tell of no credit, too.
    peer.barrier(link.session.channel)
    before = link.flow
    peer.flow(link=link, link_credit=credit, drain=True)
    return _credit_gone(peer, link, before)


def _credit_gone(peer: Peer, link: Link, before: FrameArrived | None) -> FrameArrived:
    """The target's flow after another one that tells that all credit is gone."""

    def done() -> bool:
        flow = link.flow
        return flow is not None and flow is not before and flow["link_credit"] == 0

    peer.until(done, "flow without credit", link=link)
    return owed(link.flow, "flow")


def _reported(peer: Peer, link: Link, **fields: Any) -> FrameArrived | None:
    """The target's state of a link, if it answers to echo."""
    # Flows that the target sends unasked arrive before the answer to a barrier.
    peer.barrier(link.session.channel)
    try:
        return peer.echo(link=link, **fields)
    except Unmet:
        return None


def _counted_from(peer: Peer, count: int) -> Verdict:
    """A message over a separate link that begins to count there."""
    other = peer.another()
    # Getting credit is a prerequisite again on each new connection.
    other.claimed = ""
    link = other.sender(initial_delivery_count=count)
    other.until(lambda: link.flow is not None, "flow", link=link)
    reported = owed(link.flow, "flow")["delivery_count"]
    if reported not in (None, count):
        return equals(peer, reported, count, "delivery-count")
    other.credit_for(link)
    outcome = other.outcome(other.transfer(link, b"counted", wait=False)).result
    return equals(peer, outcome, "accepted", f"outcome of a message counted from {count}:")
