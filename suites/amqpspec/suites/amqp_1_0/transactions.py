"""Transactions (amqp-1.0 Part 4), where the target has a coordinator: declared, worked in, committed, rolled back."""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import owed
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
    told,
    unknown_id,
    within,
)
from amqpspec.suites.amqp_1_0._transfers import octets_of, piece, sender
from amqpspec.wire.amqp_1_0.values import Map, Symbol

_ID_OCTETS = 32
_OUTCOMES = (Symbol("amqp:accepted:list"), Symbol("amqp:released:list"))


# --- 4.1: control links


@case("transactions.control.detached", covers=["transactions/control/closed"])
def control_link_is_closed(peer: Peer) -> Verdict:
    """Closing a control link rolls its transaction back, and the transaction accepts no more work."""
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
    """Messages posted in a transaction never arrive if the connection of its control link is closed."""
    link, address = control(peer), peer.node()
    txn_id = declare(peer, link)
    post(peer, sender(peer, address), txn_id, b"lost")
    peer.claim("nothing of the transaction in the node")
    peer.close()
    peer.hang_up()
    return equals(peer, look(peer, address), [], "messages")


# --- 4.2: declare


@case(
    "transactions.declare.declared",
    covers=["transactions/declare/declared", "definitions/rcv-settle-mode/first"],
)
def declared(peer: Peer) -> Verdict:
    """A declare gets the outcome declared with an id on each of two connections, and is settled in mode first."""
    links = [(peer, control(peer))]
    other = peer.another()
    links.append((other, control(other)))
    peer.claim("declared, with a txn-id")
    outcomes = [told(one, declaring(one, link)) for one, link in links]
    seen = [names_an_id(outgoing.state) for outgoing in outcomes]
    verdict = equals(peer, seen, [("declared", True)] * 2, "outcomes")
    if any(owed(link.attached, "attach")["rcv_settle_mode"] for _, link in links):
        return verdict  # in mode second, the controller settles before
    settled = [outgoing.settled_by_target for outgoing in outcomes]
    row = "definitions/rcv-settle-mode/first"
    return worst((verdict, equals(peer, settled, [True] * 2, "settled by the coordinator", row)))


@case("transactions.control.settled", covers=["transactions/control/settled"])
def settled_declare(peer: Peer) -> Verdict:
    """The target answers a settled declare with detach, because its sender could not receive the id."""
    link = control(peer)
    peer.claim("detach with an error")
    outgoing = declaring(peer, link, settled=True)
    return judge_reaction(peer, refusal_of(peer, link, outgoing))


# --- 4.3: discharge


@case("transactions.discharge.rollback", covers=["transactions/discharge/rollback"])
def rollback_succeeds(peer: Peer) -> Verdict:
    """The target accepts a rollback of a transaction with work and of one without work."""
    link, work = control(peer), sender(peer, peer.node())
    busy = declare(peer, link)
    post(peer, work, busy, b"undone")
    peer.claim("both accepted")
    outcomes = [discharge(peer, link, busy, fail=True)]
    outcomes.append(discharge(peer, link, declare(peer, link), fail=True))
    return equals(peer, [outcome or "accepted" for outcome in outcomes], ["accepted"] * 2, "outcomes")


@case("transactions.discharge.unknown-id", covers=["transactions/discharge/unknown-id"])
def unknown_discharge(peer: Peer) -> Verdict:
    """The target rejects a discharge of an unknown or discharged id with unknown-id; the link continues."""
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
    """A failed discharge ends the link if the source of the control link does not support rejected."""
    link = control(peer, outcomes=(ACCEPTED,))
    outgoing = discharging(peer, link, unknown_id(), fail=False)
    return judge_reaction(peer, refusal_of(peer, link, outgoing))


# --- 4.4.1: posting


@case("transactions.posting.commit", covers=["transactions/posting/available"])
def posted_and_committed(peer: Peer) -> Verdict:
    """Messages posted in a transaction arrive in order after its commit and not before; others arrive at once."""
    link, address, beside = control(peer), peer.node(), peer.node()
    work, plain = sender(peer, address), sender(peer, beside)
    txn_id = declare(peer, link)
    peer.claim(
        "nothing before the commit, both messages after it; the message outside the transaction immediately"
    )
    for body in bodies(2):
        post(peer, work, txn_id, body)
    peer.outcome(peer.transfer(plain, b"beside"))
    before = equals(peer, (look(peer, address), look(peer, beside)), ([], [b"beside"]), "messages")
    must_discharge(peer, link, txn_id)
    after = equals(peer, look(peer, address, bodies(2)), bodies(2), "messages")
    return worst((about(before, "before the commit"), about(after, "after it")))


@case("transactions.posting.rollback", covers=["transactions/posting/rollback"])
def posted_and_rolled_back(peer: Peer) -> Verdict:
    """Messages posted in a rolled-back transaction never arrive; those of the next transaction do."""
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
    """The state of a posted message names the transaction and a terminal outcome, before the transaction ends."""
    link, work = control(peer), sender(peer, peer.node())
    txn_id = declare(peer, link)
    peer.claim("for both deliveries, the transaction and accepted")
    sent = [peer.transfer(work, body, state=within(txn_id)) for body in bodies(2)]
    seen = [provisional(told(peer, outgoing)) for outgoing in sent]
    must_discharge(peer, link, txn_id)
    return equals(peer, seen, [(txn_id, "accepted")] * 2, "states")


@case("transactions.posting.partial", covers=["transactions/posting/partial"])
def discharge_in_mid_delivery(peer: Peer) -> Verdict:
    """A commit while a delivery of the transaction is incomplete ends the control link with rollback."""
    link, work = control(peer), sender(peer, peer.node())
    txn_id = declare(peer, link)
    octets = octets_of(b"in two pieces")
    piece(peer, work, octets[:4], more=True, state=within(txn_id))
    outgoing = discharging(peer, link, txn_id, fail=False)
    return judge_reaction(peer, refusal_of(peer, link, outgoing))


@case("transactions.posting.settled", covers=["transactions/posting/settled"])
def posted_settled(peer: Peer) -> Verdict:
    """Messages posted settled arrive after the commit, and do not arrive after a rollback."""
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


# --- 4.4.3: acquisition


@case("transactions.acquisition", covers=["transactions/acquisition"])
def acquired_in_a_transaction(peer: Peer) -> Verdict:
    """A link with txn-id in its flow acquires in the transaction and reports it, or ends with not-implemented."""
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
    """The attach of a control link has a coordinator whose capabilities include local transactions."""
    link = control(peer)
    peer.claim(f"a coordinator with {LOCAL}, for a local transaction can be declared")
    declare(peer, link)
    terminus = own_terminus(link)
    right = terminus.name == "coordinator" and LOCAL in capabilities(link)
    observed = f"{terminus.name} with {', '.join(capabilities(link)) or 'no capabilities'}"
    return holds(peer, right, observed, seen=link.attached)


@case("transactions.transaction-id.length", covers=["transactions/transaction-id/length"])
def transaction_id_is_short_binary(peer: Peer) -> Verdict:
    """The id of a transaction is binary and has at most 32 octets."""
    txn_id = declare(peer, control(peer))
    peer.claim(f"binary of {_ID_OCTETS} octets at most")
    right = isinstance(txn_id, bytes) and len(txn_id) <= _ID_OCTETS
    observed = f"{len(txn_id)} octets" if isinstance(txn_id, bytes) else type(txn_id).__name__
    return holds(peer, right, observed)


@case("transactions.many", covers=["transactions/many"])
def two_transactions_at_once(peer: Peer) -> Verdict:
    """Two transactions of one session have different ids; one is rolled back and the other is committed."""
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
        peer, seen, (True, [], "accepted", wanted), "two ids, messages between, outcome, messages after"
    )


@case("transactions.sessions", covers=["transactions/sessions"])
def two_sessions_in_one_transaction(peer: Peer) -> Verdict:
    """Two sessions of a connection post in one transaction, and its commit delivers both messages."""
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
    """Work in a nonexistent transaction fails with unknown-id and has no effect."""
    link, address = control(peer), peer.node()
    work = sender(peer, address)
    declare(peer, link)
    outgoing = peer.transfer(work, b"nowhere", state=within(unknown_id()))
    reaction = peer.reaction(link=work, delivery=outgoing)
    found = look(peer, address)
    if found:
        return holds(peer, False, f"messages {found}", "no message, and unknown-id", seen=reaction)
    return judge_reaction(peer, reaction)
