"""The execution class: sync, and what the client says of the broker's commands.

Knows: that sync waits for what is not complete. Must not know: what that is.
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
    """The broker asks for nothing, so no result means anything to it."""


@executes("execution.exception")
def exception(session: Session, order: Order) -> None:
    """A command of the broker failed over there: the session is over, as on this side."""
    session.end(0)
