"""Local transactions of one session.

Knows: select, commit, rollback. Must not know: what a transfer does.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.taking import EXPLICIT, Taker, taker_of
from amqpspec.reference.amqp_0_10.work import Work
from amqpspec.reference.fault import fault_table


def is_local(taker: Taker) -> bool:
    """Whether the session has selected local transactions."""
    return taker.work is not None and taker.work.ends_with_session


def check_accept_mode(session: Session, accept_mode: int) -> None:
    """With transactions, every subscription must be in explicit mode."""
    if accept_mode != EXPLICIT and is_local(taker_of(session)):
        session.refuse("tx/select/explicit-accepts/subscribe", "the session has transactions", "accept_mode")


@executes("tx.select")
def select(session: Session, order: Order) -> None:
    """Enable transactions."""
    taker = taker_of(session)
    if is_local(taker):
        session.refuse("tx/select/exactly-once", "the session has transactions already")
    elif taker.work is not None:
        session.refuse("tx/select/no-dtx", "the session works on a branch")
    queues = session.vhost.queues.values() if session.faulty("select-looks-at-all-sessions") else ()
    others = any(consumer.no_ack for queue in queues for consumer in queue.consumers)
    if others or any(one.accept_mode != EXPLICIT for one in taker.subscriptions.values()):
        session.refuse("tx/select/explicit-accepts/select", "there is a subscription with accept-mode none")
    if not is_local(taker):
        taker.work = Work()


@executes("tx.commit")
def commit(session: Session, order: Order) -> None:
    """Commit: everything takes effect, and the next transaction begins."""
    taker = taker_of(session)
    if not is_local(taker) or taker.work is None:
        session.refuse("tx/commit/select-required", "no transactions were selected")
        return
    if session.faulty("commit-does-nothing"):
        taker.work.hold_again()
        return
    if session.faulty("commit-forgets-accepts"):
        taker.held.update({held.number: held for held in taker.work.accepted})
        taker.work.accepted.clear()
    if session.faulty("commit-forgets-transfers"):
        taker.work.publishes.clear()
    taker.work.commit()
    if session.faulty("commit-ends-transactions"):
        taker.work = None


@executes("tx.rollback")
def rollback(session: Session, order: Order) -> None:
    """Roll back: everything is discarded, and the next transaction begins; acquired messages stay with the client."""
    taker = taker_of(session)
    if not is_local(taker) or taker.work is None:
        session.refuse("tx/rollback/select-required", "no transactions were selected")
        return
    if session.faulty("rollback-commits"):
        taker.work.commit()
    elif session.faulty("rollback-gives-everything-back"):
        taker.work.give_back()
    else:
        taker.work.hold_again()
    if session.faulty("rollback-ends-transactions"):
        taker.work = None


FAULTS = fault_table("""
select-looks-at-all-sessions: a subscription of another session with accept-mode none blocks select
    [tx/select/explicit-accepts/select]
commit-does-nothing: a commit has the effect of a rollback [tx/commit/effect]
commit-forgets-accepts: a commit does not drop what was accepted in it [tx/commit/effect]
commit-forgets-transfers: a commit does not publish [tx/commit/effect tx/commit/publishing]
commit-ends-transactions: after a commit there are no transactions [tx/commit/effect]
rollback-commits: a rollback has the effect of a commit [tx/rollback/effect]
rollback-gives-everything-back: a rollback puts back what the client had accepted [tx/rollback/still-acquired]
rollback-ends-transactions: after a rollback there are no transactions [tx/rollback/effect]
""")
