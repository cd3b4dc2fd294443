"""Outcomes that a receiver gives within a transaction (amqp-1.0 §4.4.2, §4.4.4.2), committed and rolled back."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._links import bodies, filled, look
from amqpspec.suites.amqp_1_0._transactions import (
    able,
    control,
    declare,
    discharge,
    must_discharge,
    retire,
    settled_early,
    within,
)
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Symbol

_OUTCOMES = tuple(Symbol(f"amqp:{name}:list") for name in ("accepted", "released", "rejected"))


@case("transactions.retirement.commit", covers=["transactions/retirement/commit"])
def retired_and_committed(peer: Peer) -> Verdict:
    """A commit applies the outcomes given in it: accepted messages are removed, released ones are available again."""
    link, address = control(peer), filled(peer, 5)
    held = _received(peer, address, 5)
    txn_id = declare(peer, link)
    peer.claim("the released messages in the node, and no other")
    # Two ranges of two deliveries, and one delivery alone.
    peer.disposition(held[0], held[1], state=within(txn_id, "accepted"), settled=True)
    peer.disposition(held[2], held[3], state=within(txn_id, "released"), settled=True)
    retire(peer, held[4], txn_id, "accepted", settled=True)
    must_discharge(peer, link, txn_id)
    kept = bodies(5)[2:4]
    peer.detach(held[0].link)
    return equals(peer, sorted(look(peer, address, kept)), kept, "messages")


@case("transactions.retirement.rollback", covers=["transactions/retirement/rollback"])
def retired_and_rolled_back(peer: Peer) -> Verdict:
    """A rollback restores the deliveries accepted in it: the client can still accept or release them."""
    link, address = control(peer), filled(peer, 2)
    kept, done = _received(peer, address, 2)
    txn_id = declare(peer, link)
    peer.claim("the first message in the node, and not the second")
    for delivery in (kept, done):
        retire(peer, delivery, txn_id, "accepted", settled=False)
    peer.barrier(kept.link.session.channel)
    if settled_early(kept, done):
        raise OutOfReach("the target settles what has an outcome in a transaction")
    must_discharge(peer, link, txn_id, fail=True)
    settled = settled_early(kept, done)
    peer.disposition(kept, state="released")
    peer.disposition(done, state="accepted")
    peer.detach(kept.link)
    found = look(peer, address, [b"message 0"])
    return equals(peer, (settled, found), (False, [b"message 0"]), "settled by the rollback, messages")


@case("transactions.retirement.settled", covers=["transactions/retirement/settled"])
def settled_and_rolled_back(peer: Peer) -> Verdict:
    """A delivery accepted and settled in a rolled-back transaction gets the default outcome of its source."""
    link, address = control(peer), filled(peer, 2)
    deliveries = _received(peer, address, 2, default="released")
    txn_id = declare(peer, link)
    peer.claim("both messages available in the node again")
    for delivery in deliveries:
        retire(peer, delivery, txn_id, "accepted", settled=True)
    must_discharge(peer, link, txn_id, fail=True)
    peer.detach(deliveries[0].link)
    return equals(peer, sorted(look(peer, address, bodies(2))), bodies(2), "messages")


@case("transactions.discharge.rollback.settled", covers=["transactions/discharge/rollback"])
def rollback_of_what_is_settled(peer: Peer) -> Verdict:
    """A rollback is accepted though messages were settled in it whose source has no default outcome."""
    link = control(peer)
    deliveries = _received(peer, filled(peer, 2), 2)
    txn_id = declare(peer, link)
    for delivery in deliveries:
        retire(peer, delivery, txn_id, "accepted", settled=True)
    peer.claim("accepted")
    return equals(peer, discharge(peer, link, txn_id, fail=True) or "accepted", "accepted", "outcome")


@case("transactions.retirement.settled.other-default", covers=["transactions/retirement/settled"])
def settled_and_rolled_back_to_another_default(peer: Peer) -> Verdict:
    """Of two links, each has its own default outcome: after a rollback one message is released, the other rejected."""
    link, addresses = control(peer), [filled(peer, 1) for _ in range(2)]
    defaults = ("released", "rejected")
    held = [_received(peer, *pair)[0] for pair in zip(addresses, (1, 1), defaults, strict=True)]
    txn_id = declare(peer, link)
    peer.claim("the message of the first link available in its node, the one of the other removed")
    for delivery in held:
        retire(peer, delivery, txn_id, "accepted", settled=True)
    must_discharge(peer, link, txn_id, fail=True)
    for delivery in held:
        peer.detach(delivery.link)
    found = [look(peer, address, wanted) for address, wanted in zip(addresses, (bodies(1), []), strict=True)]
    return equals(peer, found, [bodies(1), []], "messages by node")


@case("transactions.control.detached.both", covers=["transactions/control/closed"])
def control_link_of_two_transactions_is_closed(peer: Peer) -> Verdict:
    """A control link that is closed rolls back each transaction that was declared over it."""
    link, addresses = control(peer), [filled(peer, 1) for _ in range(2)]
    able(link, "amqp:multi-txns-per-ssn")
    held = [_received(peer, address, 1, default="released")[0] for address in addresses]
    peer.claim("both messages available in their nodes again")
    for delivery in held:
        retire(peer, delivery, declare(peer, link), "accepted", settled=True)
    peer.detach(link)
    for delivery in held:
        peer.detach(delivery.link)
    found = [look(peer, address, bodies(1)) for address in addresses]
    return equals(peer, found, [bodies(1)] * 2, "messages by node")


# --- steps of this module


def _received(peer: Peer, address: str, count: int, default: str = "") -> list[Delivery]:
    """This many unsettled deliveries; with a default outcome that the target's attach repeats, else OutOfReach."""
    source: dict[str, Any] = {"address": address}
    if default:
        source |= {"default_outcome": encode_composite(default), "outcomes": _OUTCOMES}
    link: Link = peer.receiver(address, source=source)
    if default:
        kept = owed(link.attached, "attach")["source"]["default_outcome"]
        if getattr(kept, "name", None) != default:
            raise OutOfReach(f"the target does not apply the default outcome {default}")
    peer.credit(link, count)
    found = peer.deliveries(link, count)
    if any(delivery.settled for delivery in found):
        raise Unmet("unsettled deliveries", "settled ones")
    return found
