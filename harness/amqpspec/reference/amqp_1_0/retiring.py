"""Outcomes that a receiver gives within a transaction, and acquisition within one (1.0 §4.4.2 to §4.4.4).

Knows: the effect of commit and rollback on a delivery. Must not know: which deliveries a disposition names.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from amqpspec.reference.amqp_1_0.nodes import SentDelivery
from amqpspec.reference.amqp_1_0.session import Session
from amqpspec.reference.amqp_1_0.transactions import Transaction
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_1_0.performatives import Composed

Apply = Callable[[Session, SentDelivery, Any], None]
_RELEASED = "released"


def retire(
    session: Session,
    numbers: list[int],
    transaction: Transaction,
    frame: Composed,
    apply: Apply,
) -> None:
    """Keep the outcome of deliveries until the transaction is discharged."""
    outcome, settled = frame["state"].get("outcome"), bool(frame["settled"])
    for number in numbers:
        held = session.unsettled[number]
        if settled:
            del session.unsettled[number]
            held.terminus.settle(held)
        if session.faulty("transactional-outcomes-applied-at-once"):
            _commit(session, number, held, outcome, apply, settled=settled)
            continue
        if session.faulty("transactional-outcomes-forgotten"):
            continue
        transaction.on_commit.append(partial(_commit, session, number, held, outcome, apply, settled=settled))
        if settled:
            transaction.on_rollback.append(partial(_fall_back, session, held, apply))
        elif session.faulty("rollback-gives-back-what-is-held"):
            transaction.on_rollback.append(
                partial(_commit, session, number, held, "accepted", apply, settled=False)
            )


def _commit(
    session: Session, number: int, held: SentDelivery, outcome: Any, apply: Apply, *, settled: bool
) -> None:
    """Apply the outcome, and settle what the controller has not: it is done (1.0 §4.4.2)."""
    if held.outcome or not (settled or session.unsettled.get(number) is held):
        return
    held.outcome = outcome.name if isinstance(outcome, Composed) else "accepted"
    apply(session, held, outcome if outcome is not None else "accepted")
    if not settled:
        del session.unsettled[number]
        held.terminus.settle(held)
        disposition = {"role": "sender", "first": number, "settled": True, "state": outcome}
        session.connection.core.later(lambda: session.send("disposition", disposition))


def _fall_back(session: Session, held: SentDelivery, apply: Apply) -> None:
    """The default outcome of the source, because the controller has settled and can no longer report one (1.0
    §4.4.4.2).
    """
    default = held.terminus.source.get("default_outcome")
    if session.faulty("default-outcome-not-applied-on-rollback"):
        default = "accepted"
    held.outcome = default.name if isinstance(default, Composed) else _RELEASED
    apply(session, held, default if default is not None else _RELEASED)


FAULTS = fault_table("""
transactional-outcomes-applied-at-once: an outcome in a transaction is applied before the discharge
    [transactions/retirement/rollback transactions/retirement/settled]
transactional-outcomes-forgotten: an outcome in a transaction is not applied on commit
    [transactions/retirement/commit]
rollback-gives-back-what-is-held: a rollback takes deliveries from their receiver
    [transactions/retirement/rollback]
default-outcome-not-applied-on-rollback: messages settled in a transaction are lost after its rollback
    [transactions/retirement/settled]
""")
