"""Controls about commands: where ids begin, what is expected, confirmed, completed.

Knows: sets of command ids. Must not know: what any command does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from amqpspec.reference.amqp_0_10.attaching import request_timeout
from amqpspec.reference.amqp_0_10.connection import Channel
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.wire.amqp_0_10.serial import SerialSet

Handler: TypeAlias = Callable[[Session, Channel, Order], None]


def command_point(session: Session, channel: Channel, order: Order) -> None:
    """The next command has this id."""
    session.next_in = order["command_id"]
    if session.faulty("command-ids-read-backwards"):
        session.next_in = int.from_bytes(session.next_in.to_bytes(4, "little"), "big")
    channel.pointed = True


def flush(session: Session, channel: Channel, order: Order) -> None:
    """Tell the sets that are asked for."""
    if session.faulty("flush-ignored"):
        return
    if order["expected"]:
        session.control("session.expected", commands=_expected(session).ranges)
    if order["confirmed"]:
        session.control("session.confirmed", commands=session.completed.ranges)
    if order["completed"]:
        session.tell_completed()


def _expected(session: Session) -> SerialSet:
    """The id behind the highest one that came; none where none came."""
    if session.next_in is None or not session.received:
        return SerialSet()
    return SerialSet.single(session.next_in)


def completed(session: Session, channel: Channel, order: Order) -> None:
    """Commands of the broker are done."""
    ids = SerialSet.of(order["commands"] or ())
    session.sent = session.sent - ids
    unanswered = session.faulty("timely-reply-ignored") if order["timely_reply"] else False
    if not unanswered:
        session.control("session.known-completed", commands=ids.ranges)
    for listener in session.on_completed:
        listener(ids)


def known_completed(session: Session, channel: Channel, order: Order) -> None:
    """The client knows of completions: they need not be told again."""
    if session.faulty("known-completed-forgotten"):
        return
    ids = SerialSet.of(order["commands"] or ())
    session.completed, session.told = session.completed - ids, session.told - ids


def pass_over(session: Session, channel: Channel, order: Order) -> None:
    """What the client says of commands of ours changes nothing here."""


CONTROLS: dict[str, Handler] = {
    "session.request-timeout": lambda session, _, order: request_timeout(session, order),
    "session.timeout": pass_over,
    "session.command-point": command_point,
    "session.expected": pass_over,
    "session.confirmed": pass_over,
    "session.completed": completed,
    "session.known-completed": known_completed,
    "session.flush": flush,
    "session.gap": pass_over,
}
"""The controls that need a session on their channel."""

FAULTS = fault_table("""
command-ids-read-backwards: the id of a command-point is read with its lowest octet first
    [encoding/byte-order type/sequence-no]
flush-ignored: flush is not answered
    [session/flush/earliest session/expected/response session/confirmed/on-request]
timely-reply-ignored: completed is not answered where a timely reply is asked for
    [session/completed/timely-reply/no-delay]
known-completed-forgotten: completions are told again after they are known
    [session/completed/commands/exclude-known-complete session/confirmed/commands/exclude-known-complete]
""")
