"""Transactions (amqp-1.0 Part 4), where the target has a coordinator: declared, worked in, committed, rolled back."""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_1_0.books import Delivery, Link
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import OutOfReach, Unmet, owed
from amqpspec.run.case import case
from amqpspec.run.oracles import equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_1_0._connections import about
from amqpspec.suites.amqp_1_0._links import bodies, filled, look, own_terminus
from amqpspec.suites.amqp_1_0._transactions import (
    ACCEPTED,
    LOCAL,
    able,
    acquired_in,
    capabilities,
    control,
    declare,
    declaring,
    discharge,
    discharging,
    must_discharge,
    names_an_id,
    post,
    provisional,
    refusal_of,
    retire,
    settled_early,
    told,
    unknown_id,
    within,
)
from amqpspec.suites.amqp_1_0._transfers import octets_of, piece, sender
from amqpspec.wire.amqp_1_0.performatives import encode_composite
from amqpspec.wire.amqp_1_0.values import Map, Symbol

_ID_OCTETS = 32
_OUTCOMES = (Symbol("amqp:accepted:list"), Symbol("amqp:released:list"))


# --- 4.1: control links


@case("transactions.control.detached", covers=["transactions/control/closed"])
def control_link_is_closed(peer: Peer) -> Verdict:
    """A control link that is closed takes its transaction along: nothing of it is done, and no more work goes in."""
    link, address = control(peer), peer.node()
    work = sender(peer, address)
    txn_id = declare(peer, link)
    post(peer, work, txn_id, b"before")
    peer.claim("nothing of the transaction in the node, and no outcome for what is posted in it afterwards")
    peer.detach(link)
    late = peer.transfer(work, b"after", state=within(txn_id))
    reaction = peer.reaction(link=work, delivery=late)
    accepted = provisional(late)[1] == "accepted"
    left = equals(peer, look(peer, address), [], "messages")
    observed = "accepted for the transaction that is over" if accepted else reaction
    failed = holds(peer, not accepted, observed, "work that fails")
    return worst((left, about(failed, "posted afterwards")))


@case("transactions.control.connection-lost", covers=["transactions/control/closed"])
def control_link_goes_with_its_connection(peer: Peer) -> Verdict:
    """What was posted in a transaction never appears where the connection of its control link is closed."""
    link, address = control(peer), peer.node()
    txn_id = declare(peer, link)
    post(peer, sender(peer, address), txn_id, b"lost")
    peer.claim("nothing of the transaction in the node")
    peer.close()
    peer.hang_up()
    return equals(peer, look(peer, address), [], "messages")


# --- 4.2: declare


@case("transactions.declare.declared", covers=["transactions/declare/declared"])
def declared(peer: Peer) -> Verdict:
    """A declare has the outcome declared with an id, on each of two connections."""
    links = [(peer, control(peer))]
    other = peer.another()
    links.append((other, control(other)))
    peer.claim("declared, with a txn-id")
    outcomes = [told(one, declaring(one, link)) for one, link in links]
    seen = [names_an_id(outgoing.state) for outgoing in outcomes]
    return equals(peer, seen, [("declared", True)] * 2, "outcomes")


@case("transactions.control.settled", covers=["transactions/control/settled"])
def settled_declare(peer: Peer) -> Verdict:
    """A settled declare is answered by detach: its sender would never learn the id."""
    link = control(peer)
    peer.claim("detach with an error")
    outgoing = declaring(peer, link, settled=True)
    return judge_reaction(peer, refusal_of(peer, link, outgoing))


# --- 4.3: discharge


@case("transactions.discharge.rollback", covers=["transactions/discharge/rollback"])
def rollback_succeeds(peer: Peer) -> Verdict:
    """A rollback is accepted, of a transaction in which something was done and of one in which nothing was."""
    link, work = control(peer), sender(peer, peer.node())
    busy = declare(peer, link)
    post(peer, work, busy, b"undone")
    peer.claim("both accepted")
    outcomes = [discharge(peer, link, busy, fail=True)]
    outcomes.append(discharge(peer, link, declare(peer, link), fail=True))
    return equals(peer, [outcome or "accepted" for outcome in outcomes], ["accepted"] * 2, "outcomes")


@case("transactions.discharge.unknown-id", covers=["transactions/discharge/unknown-id"])
def unknown_discharge(peer: Peer) -> Verdict:
    """The discharge of an id that never was, or is no more, is rejected with unknown-id; the link goes on."""
    link = control(peer)
    over = declare(peer, link)
    must_discharge(peer, link, over)
    verdicts = []
    for what, txn_id in (("never declared", unknown_id()), ("discharged before", over)):
        reaction = refusal_of(peer, link, discharging(peer, link, txn_id, fail=False))
        verdicts.append(about(judge_reaction(peer, reaction), what))
        if not link.is_attached:
            break
    return worst(verdicts)


@case("transactions.discharge.without-rejected", covers=["transactions/discharge/without-rejected"])
def unknown_discharge_without_rejected(peer: Peer) -> Verdict:
    """Where the source of the control link does not support rejected, a discharge that fails ends the link."""
    link = control(peer, outcomes=(ACCEPTED,))
    outgoing = discharging(peer, link, unknown_id(), fail=False)
    return judge_reaction(peer, refusal_of(peer, link, outgoing))


# --- 4.4.1: posting


@case("transactions.posting.commit", covers=["transactions/posting/available"])
def posted_and_committed(peer: Peer) -> Verdict:
    """What is posted in a transaction comes with its commit, in order, and not before; what is beside comes at once."""
    link, address, beside = control(peer), peer.node(), peer.node()
    work, plain = sender(peer, address), sender(peer, beside)
    txn_id = declare(peer, link)
    peer.claim("nothing before the commit, both messages after it; the message beside at once")
    for body in bodies(2):
        post(peer, work, txn_id, body)
    peer.outcome(peer.transfer(plain, b"beside"))
    before = equals(peer, (look(peer, address), look(peer, beside)), ([], [b"beside"]), "messages")
    must_discharge(peer, link, txn_id)
    after = equals(peer, look(peer, address, bodies(2)), bodies(2), "messages")
    return worst((about(before, "before the commit"), about(after, "after it")))


@case("transactions.posting.rollback", covers=["transactions/posting/rollback"])
def posted_and_rolled_back(peer: Peer) -> Verdict:
    """What is posted in a transaction that is rolled back never comes; what is posted in the next one does."""
    link, address = control(peer), peer.node()
    work = sender(peer, address)
    txn_id = declare(peer, link)
    peer.claim("of two transactions, what the second one has posted")
    for body in bodies(2):
        post(peer, work, txn_id, body)
    must_discharge(peer, link, txn_id, fail=True)
    txn_id = declare(peer, link)
    post(peer, work, txn_id, b"committed")
    must_discharge(peer, link, txn_id)
    return equals(peer, look(peer, address, [b"committed"]), [b"committed"], "messages")


@case("transactions.posting.outcome", covers=["transactions/posting/outcome"])
def outcome_before_the_commit(peer: Peer) -> Verdict:
    """The state of what is posted names the transaction and a terminal outcome, before the transaction ends."""
    link, work = control(peer), sender(peer, peer.node())
    txn_id = declare(peer, link)
    peer.claim("for both deliveries, the transaction and accepted")
    sent = [peer.transfer(work, body, state=within(txn_id)) for body in bodies(2)]
    seen = [provisional(told(peer, outgoing)) for outgoing in sent]
    must_discharge(peer, link, txn_id)
    return equals(peer, seen, [(txn_id, "accepted")] * 2, "states")


@case("transactions.posting.partial", covers=["transactions/posting/partial"])
def discharge_in_mid_delivery(peer: Peer) -> Verdict:
    """A commit while a delivery of the transaction is not whole ends the control link with rollback."""
    link, work = control(peer), sender(peer, peer.node())
    txn_id = declare(peer, link)
    octets = octets_of(b"in two pieces")
    piece(peer, work, octets[:4], more=True, state=within(txn_id))
    outgoing = discharging(peer, link, txn_id, fail=False)
    return judge_reaction(peer, refusal_of(peer, link, outgoing))


@case("transactions.posting.settled", covers=["transactions/posting/settled"])
def posted_settled(peer: Peer) -> Verdict:
    """What is posted settled comes with the commit, and does not come after a rollback."""
    link, address = control(peer), peer.node()
    work = sender(peer, address)
    peer.claim(
        "nothing of the transaction that was rolled back, all of the other one, and nothing before its commit"
    )
    undone = declare(peer, link)
    post(peer, work, undone, b"undone", settled=True)
    must_discharge(peer, link, undone, fail=True)
    done = declare(peer, link)
    for body in bodies(2):
        post(peer, work, done, body, settled=True)
    # A round trip: what was sent settled has arrived.
    peer.barrier(work.session.channel)
    before = equals(peer, look(peer, address), [], "messages")
    must_discharge(peer, link, done)
    after = equals(peer, look(peer, address, bodies(2)), bodies(2), "messages")
    return worst((about(before, "before the commit"), about(after, "after it")))


# --- 4.4.2: retirement


@case("transactions.retirement.commit", covers=["transactions/retirement/commit"])
def retired_and_committed(peer: Peer) -> Verdict:
    """Outcomes given in a transaction are applied by its commit: accepted messages are gone, a released one is back."""
    link, address = control(peer), filled(peer, 3)
    deliveries = _received(peer, address, 3)
    txn_id = declare(peer, link)
    peer.claim("the released message in the node, and no other")
    for delivery, outcome in zip(deliveries, ("accepted", "released", "accepted"), strict=True):
        retire(peer, delivery, txn_id, outcome, settled=True)
    must_discharge(peer, link, txn_id)
    kept = [bodies(3)[1]]
    peer.detach(deliveries[0].link)
    return equals(peer, look(peer, address, kept), kept, "messages")


@case("transactions.retirement.rollback", covers=["transactions/retirement/rollback"])
def retired_and_rolled_back(peer: Peer) -> Verdict:
    """After a rollback, deliveries that were accepted in it are as they were: one is accepted, the other released."""
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
    """What was accepted and settled in a transaction that is rolled back has the default outcome of its source."""
    link, address = control(peer), filled(peer, 2)
    deliveries = _received(peer, address, 2, default="released")
    txn_id = declare(peer, link)
    peer.claim("both messages back in the node")
    for delivery in deliveries:
        retire(peer, delivery, txn_id, "accepted", settled=True)
    must_discharge(peer, link, txn_id, fail=True)
    peer.detach(deliveries[0].link)
    return equals(peer, sorted(look(peer, address, bodies(2))), bodies(2), "messages")


# --- 4.4.3: acquisition


@case("transactions.acquisition", covers=["transactions/acquisition"])
def acquired_in_a_transaction(peer: Peer) -> Verdict:
    """Asked by a flow to acquire in a transaction, a link does so and tells it, or ends with not-implemented."""
    link, address = control(peer), filled(peer, 1)
    txn_id = declare(peer, link)
    taker = peer.receiver(address)
    peer.credit(taker, 1, properties=Map({Symbol("txn-id"): txn_id}))
    peer.until(
        lambda: bool(taker.inbox) or peer.over(taker) is not None,
        "a delivery, or detach",
        session=taker.session,
    )
    if not taker.inbox:
        return judge_reaction(peer, peer.reaction(link=taker))
    (delivery,) = peer.received(taker)
    states = [acquired_in(transfer) for transfer in delivery.transfers]
    named = bool(states) and states[0] == txn_id
    told_as = f"a delivery in the state {delivery.state or 'none'}"
    return holds(peer, named, told_as, "a delivery in the transaction, or detach with not-implemented")


# --- 4.5: coordination


@case("transactions.coordinator.capabilities", covers=["transactions/coordinator/capabilities"])
def coordinator_tells_what_it_can(peer: Peer) -> Verdict:
    """The attach of a control link has a coordinator whose capabilities name what it does: local transactions."""
    link = control(peer)
    peer.claim(f"a coordinator with {LOCAL}, for a local transaction can be declared")
    declare(peer, link)
    terminus = own_terminus(link)
    right = terminus.name == "coordinator" and LOCAL in capabilities(link)
    observed = f"{terminus.name} with {', '.join(capabilities(link)) or 'no capabilities'}"
    return holds(peer, right, observed, seen=link.attached)


@case("transactions.transaction-id.length", covers=["transactions/transaction-id/length"])
def transaction_id_is_short_binary(peer: Peer) -> Verdict:
    """The id of a transaction is binary and has 32 octets at most."""
    txn_id = declare(peer, control(peer))
    peer.claim(f"binary of {_ID_OCTETS} octets at most")
    right = isinstance(txn_id, bytes) and len(txn_id) <= _ID_OCTETS
    observed = f"{len(txn_id)} octets" if isinstance(txn_id, bytes) else type(txn_id).__name__
    return holds(peer, right, observed)


@case("transactions.many", covers=["transactions/many"])
def two_transactions_at_once(peer: Peer) -> Verdict:
    """Of two transactions of one session, with ids of their own, one is rolled back and the other committed."""
    link, address = control(peer), peer.node()
    able(link, "amqp:multi-txns-per-ssn")
    work = sender(peer, address)
    peer.claim("two ids, and what was posted in the transaction that is committed")
    undone, done = declare(peer, link), declare(peer, link)
    for txn_id, body in ((undone, b"undone 1"), (done, b"done 1"), (undone, b"undone 2"), (done, b"done 2")):
        post(peer, work, txn_id, body)
    must_discharge(peer, link, undone, fail=True)
    between = look(peer, address)
    outcome = discharge(peer, link, done)
    wanted = [b"done 1", b"done 2"]
    seen = (undone != done, between, outcome or "accepted", look(peer, address, wanted))
    return equals(
        peer, seen, (True, [], "accepted", wanted), "two ids, messages between, outcome, messages behind"
    )


@case("transactions.sessions", covers=["transactions/sessions"])
def two_sessions_in_one_transaction(peer: Peer) -> Verdict:
    """Two sessions of the connection post in one transaction, and its commit brings both messages."""
    link, address = control(peer), peer.node()
    able(link, "amqp:multi-ssns-per-txn")
    peer.begin(1)
    txn_id = declare(peer, link)
    peer.claim("both messages after the commit, none before")
    for channel, body in enumerate(bodies(2)):
        post(peer, sender(peer, address, channel), txn_id, body)
    before = look(peer, address)
    must_discharge(peer, link, txn_id)
    return equals(
        peer, (before, look(peer, address, bodies(2))), ([], bodies(2)), "messages before and after"
    )


@case("transactions.unknown-id.posting", covers=["transactions/unknown-id"])
def posted_in_no_transaction(peer: Peer) -> Verdict:
    """Work in a transaction that does not exist fails with unknown-id, and nothing comes of it."""
    link, address = control(peer), peer.node()
    work = sender(peer, address)
    declare(peer, link)
    outgoing = peer.transfer(work, b"nowhere", state=within(unknown_id()))
    reaction = peer.reaction(link=work, delivery=outgoing)
    found = look(peer, address)
    if found:
        return holds(peer, False, f"messages {found}", "no message, and unknown-id", seen=reaction)
    return judge_reaction(peer, reaction)


# --- steps of this module


def _received(peer: Peer, address: str, count: int, default: str = "") -> list[Delivery]:
    """So many unsettled deliveries; with a default outcome that the target's attach repeats, else OutOfReach."""
    source: dict[str, Any] = {"address": address}
    if default:
        source |= {"default_outcome": encode_composite(default), "outcomes": _OUTCOMES}
    link: Link = peer.receiver(address, source=source)
    if default:
        kept = owed(link.attached, "attach")["source"]["default_outcome"]
        if getattr(kept, "name", None) != default:
            raise OutOfReach(f"the target does not take the default outcome {default}")
    peer.credit(link, count)
    found = peer.deliveries(link, count)
    if any(delivery.settled for delivery in found):
        raise Unmet("unsettled deliveries", "settled ones")
    return found
