"""The tx class: select, commit, rollback.

Knows: that work waits until commit, and that rollback gives acknowledgements back without redelivering.
Must not know: what the work is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from amqpspec.reference.methods.handlers import handles
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session


class Transaction:
    """The work of one channel that waits for its commit."""

    def __init__(self) -> None:
        self.work: list[Callable[[], object]] = []

    def take(self) -> list[Callable[[], object]]:
        """The work so far; the next transaction begins."""
        work, self.work = self.work, []
        return work


@handles("tx.select")
def select(session: Session, call: Call) -> None:
    """From now on, publishes and acknowledgements wait."""
    if session.transaction is None:
        session.transaction = Transaction()
    session.send("tx.select-ok")


@handles("tx.commit")
def commit(session: Session, call: Call) -> None:
    """Do what waits."""
    if session.transaction is None:
        session.refuse("tx/commit/transacted", "the channel is not transacted")
    elif not session.faulty("commit-does-nothing"):
        work = session.transaction.take()
        for action in work[:-1] if session.faulty("commit-in-part") else work:
            action()
        if session.faulty("transaction-ends-with-commit"):
            session.transaction = None
    session.send("tx.commit-ok")


@handles("tx.rollback")
def rollback(session: Session, call: Call) -> None:
    """Forget what waits."""
    if session.transaction is None:
        session.refuse("tx/rollback/transacted", "the channel is not transacted")
    elif session.faulty("rollback-commits"):
        for action in session.transaction.take():
            action()
    else:
        session.transaction.take()
        session.deliveries.give_back()
        if session.faulty("rollback-redelivers"):
            session.give_back(list(session.deliveries.outstanding.values()))
    session.send("tx.rollback-ok")
