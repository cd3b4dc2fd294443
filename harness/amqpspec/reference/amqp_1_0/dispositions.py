"""Received dispositions: outcomes of sent deliveries, settlement of received ones.

Knows: ranges of delivery-ids, the effect of each outcome, when each side settles. Must not know: links, except for
their deliveries.
"""

from __future__ import annotations

from typing import Any

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.nodes import SentDelivery
from amqpspec.reference.amqp_1_0.retiring import retire
from amqpspec.reference.amqp_1_0.sending import SendingEndpoint
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed

OUTCOMES = ("accepted", "rejected", "released", "modified")


def on_disposition(session: Session, frame: Composed) -> None:
    """A disposition has arrived."""
    first, last = frame["first"], frame.get("last")
    if first is None:
        return  # refused before, unless a fault tolerates it
    if last is None:
        last = wire.plus(first, 1 << 20) if session.faulty("last-left-out-means-all") else first
    receiver = bool(frame["role"])
    _refuse_errant(session, receiver, first, last)
    if receiver or session.faulty("disposition-role-ignored"):
        _by_receiver(session, first, last, frame)
    if not receiver or session.faulty("disposition-role-ignored"):
        _by_sender(session, first, last, frame)


def _within(session: Session, number: int, first: int, last: int) -> bool:
    if session.faulty("ranges-compared-as-plain-numbers"):
        return first <= number <= last
    return wire.minus(last, first) >= 0 and 0 <= wire.plus(number, -first) <= wire.plus(last, -first)


def _refuse_errant(session: Session, receiver: bool, first: int, last: int) -> None:
    """What concerns a delivery of a link that has failed ends the session, by handle or by delivery-id (1.0 §2.6.5)."""
    if not receiver:
        _refuse_errant_settlement(session, first, last)
        return
    failed = {id(endpoint.terminus) for endpoint in session.failed.values()}
    if session.faulty("errant-link-sought-by-first-delivery"):
        failed &= {id(held.terminus) for held in list(session.unsettled.values())[:1]}
    for number, held in session.unsettled.items():
        if id(held.terminus) in failed and _within(session, number, first, last):
            session.refuse("links/errors/errant-link", f"a disposition of delivery {number} of a failed link")


def _refuse_errant_settlement(session: Session, first: int, last: int) -> None:
    if session.faulty("settlements-for-failed-links-taken"):
        return
    for number, endpoint in session.errant.items():
        if endpoint in session.failed.values() and _within(session, number, first, last):
            session.refuse("links/errors/errant-link", f"a settlement of delivery {number} of a failed link")


def _forget_dead(session: Session) -> None:
    """Deliveries that their terminus has returned belong to no one."""
    if session.faulty("deliveries-of-closed-links-live"):
        return
    dead = [n for n, held in session.unsettled.items() if held.terminus.held.get(held.tag) is not held]
    for number in dead:
        del session.unsettled[number]


def _by_receiver(session: Session, first: int, last: int, frame: Composed) -> None:
    _forget_dead(session)
    if session.faulty("old-delivery-ids-live"):
        _by_old_ids(session, first, last, frame)
    # A range may include settled deliveries, and those of any link: only unsettled ones are affected.
    numbers = [number for number in session.unsettled if _within(session, number, first, last)]
    if session.faulty("disposition-of-one-link-only") and numbers:
        terminus = session.unsettled[numbers[0]].terminus
        numbers = [number for number in numbers if session.unsettled[number].terminus is terminus]
    if session.faulty("disposition-for-detached-link-ignored"):
        numbers = [number for number in numbers if session.unsettled[number].terminus.endpoint is not None]
    if session.faulty("ranges-mean-their-first"):
        numbers = numbers[:1]
    named, transaction = session.connection.transactions.named_by(frame.get("state"))
    if transaction is not None:
        retire(session, numbers, transaction, frame, apply)
        return
    if named:
        session.refuse("transactions/unknown-id", "an outcome in a transaction that is not there")
    settled = bool(frame["settled"]) and not session.faulty("settlement-by-receiver-ignored")
    for number in numbers:
        _dispose(session, number, frame.get("state"), settled=settled)
    # The receiver has reached an outcome and waits: the sender acts on it and is the first to settle (§2.6.12).
    answered = bool(numbers) and not settled and _terminal(frame.get("state"))
    if answered and not session.faulty("terminal-state-not-settled-by-sender"):
        settling = _settling(session, numbers, first, last, frame)
        later = session.connection.core.later
        later(lambda: session.send("disposition", settling))
        if session.faulty("sender-changes-its-mind"):
            later(lambda: session.send("disposition", {**settling, "state": "modified"}))
        for number in numbers:
            held = session.unsettled.pop(number, None)
            if held is not None:
                held.terminus.settle(held)


def _by_old_ids(session: Session, first: int, last: int, frame: Composed) -> None:
    """A fault: deliveries that wait to be resumed are found by the ids that they had before."""
    for endpoint in session.endpoints.values():
        waiting = endpoint.resumed if isinstance(endpoint, SendingEndpoint) else []
        for held in [one for one in waiting if _within(session, one.delivery_id, first, last)]:
            waiting.remove(held)
            apply(session, held, frame.get("state"))
            held.terminus.settle(held)


def _settling(session: Session, numbers: list[int], first: int, last: int, frame: Composed) -> dict[str, Any]:
    state: Any = frame.get("state")
    if session.faulty("sender-settles-in-another-state"):
        state = "released" if state.name == "accepted" else "accepted"
    whole = len(numbers) == wire.plus(last, -first) + 1
    first, last = (first, last) if whole else (numbers[0], numbers[-1])
    return {
        "role": "sender",
        "first": first,
        "last": last if last != first else None,
        "settled": True,
        "state": state,
    }


def _dispose(session: Session, number: int, state: Any, *, settled: bool) -> None:
    held = session.unsettled[number]
    terminal = _terminal(state) or (session.faulty("received-taken-for-accepted") and state is not None)
    if state is not None and not terminal:
        held.state = state
    again = session.faulty("settled-for-ever-is-not")
    if again and held.outcome:
        held.queue.unacked.add(held.entry)
    if terminal and (again or not held.outcome):
        held.outcome = state.name if state.name in OUTCOMES else "accepted"
        apply(session, held, state)
    if not settled:
        if session.faulty("non-terminal-state-settles") and not terminal:
            session.send(
                "disposition", {"role": "sender", "first": number, "settled": True, "state": "accepted"}
            )
        return
    if again:
        return
    del session.unsettled[number]
    default: Any = held.terminus.source.get("default_outcome")
    if not held.outcome and _terminal(default) and not session.faulty("default-outcome-not-applied"):
        held.outcome = default.name
        apply(session, held, default)
    if not held.outcome:
        session.nodes.give_back(held.terminus, [held])
    held.terminus.settle(held)


def apply(session: Session, held: SentDelivery, state: Any) -> None:
    """Apply an outcome to a message."""
    name = state.name if isinstance(state, Composed) else str(state)
    if session.faulty("outcomes-not-applied"):
        name = "released"
    queue, entry = held.queue, held.entry
    if name == "accepted" or (name == "released" and session.faulty("released-taken-for-accepted")):
        queue.settle(entry)
    elif name == "rejected":
        queue.discard(entry)
    else:
        failed = name == "modified" and bool(state.get("delivery_failed"))
        # Released was never delivered; modified counts as a failed attempt only if delivery-failed is set (§3.4.4,
        # §3.4.5).
        counts = failed or session.faulty("redelivery-under-the-old-tag")
        counts = counts or (name == "released" and session.faulty("released-deliveries-count"))
        entry.deliveries -= 0 if counts else 1
        not_here = name == "modified" and bool(state.get("undeliverable_here"))
        if session.faulty("undeliverable-here-not-minded"):
            not_here = False
        if not_here and held.terminus.endpoint is not None:
            entry.refused_by.add(held.terminus.endpoint.key)
        queue.give_back([entry])


def _terminal(state: Any) -> bool:
    return isinstance(state, Composed) and state.name in OUTCOMES


def _by_sender(session: Session, first: int, last: int, frame: Composed) -> None:
    """The partner, as sender, has settled what the broker received."""
    if not frame["settled"]:
        return
    for number in [number for number in session.awaited if _within(session, number, first, last)]:
        endpoint, tag = session.awaited.pop(number)
        endpoint.settled_by_sender(tag)


FAULTS = fault_table("""
settlements-for-failed-links-taken: a settlement by the sender of a delivery on a failed link changes nothing
    [links/errors/errant-link]
errant-link-sought-by-first-delivery: only the first delivery of a session is checked for a failed link
    [links/errors/errant-link]
released-deliveries-count: a released message counts as failed [messaging/released/delivery-count]
undeliverable-here-not-minded: a message is sent again where it could not be delivered
    [messaging/modified/undeliverable-here]
default-outcome-not-applied: a message settled without a state returns to its node, whatever its source's default is
    [messaging/source/default-outcome]
deliveries-of-closed-links-live: dispositions are applied to messages that a closed link has returned
    [links/closing/stale-dispositions]
old-delivery-ids-live: dispositions are applied to ids of a session that has ended [transfers/resuming/delivery-ids]
outcomes-not-applied: with any outcome, messages return to their node
    [performatives/disposition/detached-links/applied links/detaching/by-delivery-id
    performatives/disposition/many-links performatives/disposition/settled performatives/disposition/last
    transfers/receiver-first]
released-taken-for-accepted: released messages are removed
    [performatives/disposition/detached-links/applied performatives/disposition/directionality]
received-taken-for-accepted: a state that is not terminal counts as accepted [transfers/states/non-terminal]
non-terminal-state-settles: the broker settles after a state that is not terminal [transfers/states/non-terminal]
terminal-state-not-settled-by-sender: the broker does not settle what has an outcome [transfers/states/terminal]
sender-settles-in-another-state: the broker settles with another outcome than the reported one
    [performatives/transfer/state/terminal transfers/states/terminal]
sender-changes-its-mind: the broker settles twice, the second time with another outcome
    [performatives/transfer/state/terminal]
settlement-by-receiver-ignored: settlement by the receiver is ignored
    [performatives/disposition/settled transfers/receiver-first]
settled-for-ever-is-not: a delivery that was settled can be released [links/settled-for-ever]
disposition-of-one-link-only: a disposition counts for one link [performatives/disposition/many-links]
disposition-role-ignored: a disposition counts for deliveries of both directions
    [performatives/disposition/directionality]
disposition-for-detached-link-ignored: a disposition does not count for links that are detached
    [performatives/disposition/detached-links performatives/disposition/detached-links/applied
    links/detaching/by-delivery-id]
last-left-out-means-all: a disposition without last counts for all that follows [performatives/disposition/last]
ranges-mean-their-first: a range of deliveries means the first of them
    [performatives/disposition/many-links definitions/sequence-no/arithmetic]
ranges-compared-as-plain-numbers: ranges of delivery-ids do not wrap around [definitions/sequence-no/arithmetic]
""")
