"""Incoming commands: calls their handlers, completes them; and the execution class: sync, results, exceptions.

Knows: the common parts of all commands; sync waits for incomplete ones. Must not know: the effects of other classes.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10 import classes  # noqa: F401  (registers the handlers)
from amqpspec.reference.amqp_0_10.handlers import COMMANDS, executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.spec.assemblies import Command


def execute(session: Session, order: Order) -> None:
    """Carry out one readable command; its result is sent before its completion."""
    if not (session.user.may_work or order.row.class_name == "execution"):
        session.refuse("execution/error-code/unauthorized-access", f"{session.user.name} may not work here")
    handler = COMMANDS.get(order.name)
    if handler is None:
        session.refuse("execution/error-code/not-implemented", f"{order.name} is not served here")
        session.complete(order)
        return
    result = handler(session, order)
    if order.name == "message.transfer" and session.faulty("transfers-executed-twice"):
        handler(session, order)
    if result is not None and session.faulty("results-behind-completion"):
        session.complete(order)
    if result is not None:
        number = order.id + session.faulty("results-of-the-next-command")
        session.command("execution.result", command_id=number, value=result)
    assert isinstance(order.row, Command)
    if order.id not in session.deferred:
        session.complete(order)


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


FAULTS = fault_table("""
transfers-executed-twice: a transfer is executed twice [encoding/command/exactly-once]
results-behind-completion: a command is completed before its result is sent [session-layer/result/always]
results-of-the-next-command: a result carries the id of the command after its own [execution/result]
""")
