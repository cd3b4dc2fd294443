"""Flow control of sessions (amqp-1.0 §2.5.6): windows, transfer-ids, and the formulas between them."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import Link, serial
from amqpspec.peer.amqp_1_0.frames import OMIT
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import owed
from amqpspec.record.rows import Outcome
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import bodies, filled, windowed
from amqpspec.suites.amqp_1_0._sessions import begun_and_attached, state_of, transfers_of
from amqpspec.suites.amqp_1_0._transfers import credit_at_once
from amqpspec.wire.amqp_1_0.message import encode_message

# Zero, one, below the sign bit, all bits: where arithmetic goes wrong. Not the sign bit alone: it is neither ahead of
# zero nor after it (RFC 1982), so that a target may take it for either.
_INITIAL_IDS = (0, 1, (1 << 31) - 1, (1 << 32) - 1)
_JUST_BEFORE_ZERO = (1 << 32) - 2

# --- the partner's window


@case("sessions.flow.incoming-window", covers=["sessions/flow/incoming-window"])
def window_bounds_transfers(peer: Peer) -> Verdict:
    """The target sends no more transfers than the incoming window allows, whatever the credit, until flow widens it."""
    link = _receiver(peer, 10, incoming_window=2)
    peer.claim("2 transfers, 5 with a window of 3 more, then all 10")
    peer.credit(link, 10)
    return _step_by_step(peer, link, (2, {}), (5, {"incoming_window": 3}), (10, {"incoming_window": 100}))


@case("sessions.flow.incoming-window.zero", covers=["sessions/flow/incoming-window"])
def window_of_zero(peer: Peer) -> Verdict:
    """The target sends no transfer at an incoming window of zero, although there is credit."""
    link = _receiver(peer, 3, incoming_window=0)
    peer.claim("no transfer, then all 3")
    peer.credit(link, 3)
    return _step_by_step(peer, link, (0, {}), (3, {"incoming_window": 3}))


@case("sessions.flow.incoming-window.links", covers=["sessions/flow/incoming-window"])
def window_of_all_links(peer: Peer) -> Verdict:
    """The incoming window counts the transfers of all links together."""
    addresses = [filled(peer, 3) for _ in range(2)]
    peer.begin(incoming_window=4)
    links = [peer.receiver(address, credit=3) for address in addresses]
    peer.claim("4 transfers on both links together")
    # Three on each link would be six; the window lets four through, whichever they are.
    return windowed(peer, 4, *links)


@case("sessions.flow.remote-incoming-window", covers=["sessions/flow/remote-incoming-window"])
def window_is_computed_anew(peer: Peer) -> Verdict:
    """Each flow resets the window; a flow that is one transfer behind leaves room for one transfer less."""
    link = _receiver(peer, 10, incoming_window=3)
    peer.claim("3 transfers, 4 for a window of 2 from one transfer before, none for none, then all 10")
    peer.credit(link, 10)
    # next-incoming-id one lower than it is: a flow that was sent before the last transfer came.
    behind = {"incoming_window": 2, "behind": 1}
    again = {"incoming_window": 0, "behind": 0}
    return _step_by_step(peer, link, (3, {}), (4, behind), (4, again), (10, {"incoming_window": 6}))


@case("sessions.flow.window-formula", covers=["sessions/flow/window-formula"])
def window_by_the_formula(peer: Peer) -> Verdict:
    """A window counts from the next-incoming-id of its flow, not from the latest transfer."""
    link = _receiver(peer, 12, incoming_window=5)
    peer.claim("5 transfers, 7 for a window of 5 from 3 transfers before, 8 for one of 6 from 5 before")
    peer.credit(link, 12)
    # Three behind leave 5 - 3 = 2, five behind leave 6 - 5 = 1 (amqp-1.0 §2.5.6).
    behind = {"incoming_window": 5, "behind": 3}
    far_behind = {"incoming_window": 6, "behind": 5}
    return _step_by_step(peer, link, (5, {}), (7, behind), (8, far_behind))


@case("sessions.flow.window-formula.below-zero", covers=["sessions/flow/window-formula"])
def window_below_zero(peer: Peer) -> Verdict:
    """A window below the number of transfers in flight lets no further transfer through."""
    link = _receiver(peer, 12, incoming_window=5)
    peer.claim("5 transfers, no more for a window of 2 from 4 transfers before, 6 for one of 1")
    peer.credit(link, 12)
    # 2 - 4 is below zero: an unsigned number would make a huge window of it.
    below = {"incoming_window": 2, "behind": 4}
    return _step_by_step(peer, link, (5, {}), (5, below), (6, {"incoming_window": 1}))


@case(
    "sessions.flow.window-without-next-incoming-id",
    covers=["sessions/flow/window-without-next-incoming-id"],
)
def window_before_begin_was_seen(peer: Peer) -> Verdict:
    """A window without next-incoming-id counts from the target's first transfer while its begin is unknown."""
    address = filled(peer, 10)
    peer.open_connection()
    peer.claim("5 transfers for windows of 3 and of 5, 7 for one of 7, all counted from the first transfer")
    # The second flow comes when three transfers may be out. Counted from the first one, 5 are
    # allowed in all, not 3 + 5.
    peer.send_octets(begun_and_attached(peer, address, 10, 3, 5))
    link = peer.session().every_link[-1]
    peer.until(lambda: link.attached is not None, "attach", session=link.session)
    verdict = windowed(peer, 5, link)
    if verdict.outcome is not Outcome.PASS:
        return verdict
    # After the five: for the target, a flow that was in flight when they were sent.
    peer.flow(next_incoming_id=OMIT, incoming_window=7)
    return windowed(peer, 7, link)


# --- transfer-ids


@case("sessions.flow.initial-outgoing-id", covers=["sessions/flow/initial-outgoing-id"])
def ids_begin_anywhere(peer: Peer) -> Verdict:
    """The target counts transfers from any initial number of its partner."""
    return worst(_counted_from(peer.another(), first, 2) for first in _INITIAL_IDS)


@case("sessions.flow.outgoing-id-arithmetic", covers=["sessions/flow/outgoing-id-arithmetic"])
def ids_wrap_around(peer: Peer) -> Verdict:
    """The target continues at zero after the highest transfer-id of its partner."""
    return _counted_from(peer, _JUST_BEFORE_ZERO, 5)


@case("sessions.flow.outgoing-id-arithmetic.own", covers=["sessions/flow/outgoing-id-arithmetic"])
def own_ids_grow(peer: Peer) -> Verdict:
    """The target's next-outgoing-id grows by one for each transfer that it sends."""
    link = peer.receiver(filled(peer, 5), credit=5)
    session = link.session
    deliveries = peer.deliveries(link, 5)
    flow = state_of(peer)
    wanted = serial(owed(session.begun, "begin")["next_outgoing_id"] + transfers_of(deliveries))
    return equals(peer, flow["next_outgoing_id"], wanted, "next-outgoing-id")


@case("sessions.flow.next-incoming-id", covers=["sessions/flow/next-incoming-id"])
def every_transfer_counts(peer: Peer) -> Verdict:
    """The target's next-incoming-id advances with each transfer, not with each message."""
    session = peer.begin(next_outgoing_id=50)
    link = peer.sender()
    credit_at_once(peer, link, 3)
    message = encode_message(data=b"in two transfers")
    sent = [peer.transfer(link, b"one"), peer.transfer(link, b"two")]
    # One message in two transfers: four transfers for three messages.
    sent.append(peer.transfer(link, message=message, chunk=len(message) - 3))
    for outgoing in sent:
        peer.outcome(outgoing)
    flow = state_of(peer)
    return equals(peer, flow["next_incoming_id"], serial(session.initial_outgoing_id + 4), "next-incoming-id")


# --- policies


@case("sessions.flow.outgoing-window-policy", covers=["sessions/flow/outgoing-window-policy"])
def outgoing_window_of_the_target(peer: Peer) -> Verdict:
    """The target chooses whether its transfers reduce its outgoing window."""
    link = peer.receiver(filled(peer, 5))
    before = link.session.remote_outgoing_window
    peer.credit(link, 5)
    peer.deliveries(link, 5)
    after = state_of(peer)["outgoing_window"]
    return observed_either_way(peer, f"outgoing-window smaller by {before - after} after 5 transfers")


@case("sessions.flow.incoming-window-policy", covers=["sessions/flow/incoming-window-policy"])
def incoming_window_of_the_target(peer: Peer) -> Verdict:
    """The target chooses whether transfers reduce its incoming window."""
    link = peer.sender()
    credit_at_once(peer, link, 5)
    before = owed(link.session.begun, "begin")["incoming_window"]
    for body in bodies(5):
        peer.outcome(peer.transfer(link, body))
    after = state_of(peer)["incoming_window"]
    return observed_either_way(peer, f"incoming-window smaller by {before - after} after 5 transfers")


# --- steps of this module


def _receiver(peer: Peer, messages: int, incoming_window: int) -> Link:
    """A link from a node with messages, without credit, on a session that begins with a window."""
    address = filled(peer, messages)
    peer.begin(incoming_window=incoming_window)
    return peer.receiver(address)


def _step_by_step(peer: Peer, link: Link, *steps: tuple[int, dict[str, int]]) -> Verdict:
    """Flows with windows, counted from some transfers ``behind`` if that is given; then this many transfers in
    total.
    """
    verdict = holds(peer, True, "no step")
    for count, window in steps:
        if window:
            _widen(peer, link, **window)
        verdict = windowed(peer, count, link)
        if verdict.outcome is not Outcome.PASS:
            break
    return verdict


def _widen(peer: Peer, link: Link, incoming_window: int, behind: int = 0) -> None:
    known = serial(owed(link.session.next_incoming_id, "begin") - behind)
    peer.flow(link.session.channel, next_incoming_id=known, incoming_window=incoming_window)


def _counted_from(peer: Peer, first: int, count: int) -> Verdict:
    """Messages on a session whose transfers are numbered from there: accepted, and counted."""
    peer.begin(next_outgoing_id=first)
    link = peer.sender()
    peer.claim(f"{count} messages accepted, next-incoming-id {serial(first + count)}")
    for body in bodies(count):
        outcome = peer.outcome(peer.transfer(link, body)).result
        if outcome != "accepted":
            return equals(peer, outcome, "accepted", f"outcome with a next-outgoing-id of {first}:")
    return equals(peer, state_of(peer)["next_incoming_id"], serial(first + count), "next-incoming-id")
