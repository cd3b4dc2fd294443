"""The execution class: sync, and the client's results and exceptions.

Knows: sync waits for incomplete commands. Must not know: which commands.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session


@executes("execution.sync")
def sync(session: Session, order: Order) -> None:
    """Complete once all commands before it are."""
    if session.deferred:
        session.deferred[order.id] = order


@executes("execution.result")
def result(session: Session, order: Order) -> None:
    """The broker requests nothing, so results are ignored."""


@executes("execution.exception")
def exception(session: Session, order: Order) -> None:
    """A command of the broker failed at the client: the session ends."""
    session.end(0)
