"""Messages on their way to a client: deliver, get-ok, return.

Knows: which arguments each of the three carries. Must not know: why a message goes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amqpspec.reference.methods.damage import damaged_header
from amqpspec.reference.model import Consumer, Entry, Message, Queue

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session


_NOT_DELIVERED = 310
"""What early versions say, whatever kept a message from its queue."""


def deliver(session: Session, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
    """A message for a consumer."""
    hold = session.deliveries.hold
    final = consumer.no_ack and not _fills_windows(session)
    tag = session.deliveries.next_tag() if final else hold(entry, consumer.queue, consumer)
    consumer_tag = consumer.tag
    if session.faulty("deliver-names-another-consumer") and len(session.consumers) > 1:
        consumer_tag = next(t for t in session.consumers if t != consumer.tag)
    _send(
        session, "basic.deliver", entry.message,
        consumer_tag=consumer_tag, delivery_tag=tag, redelivered=_flag(session, redelivered),
    )  # fmt: skip


def got(session: Session, queue: Queue, entry: Entry, redelivered: bool, no_ack: bool) -> None:
    """A message for a get."""
    final = no_ack and not session.faulty("no-ack-waits-for-ack")
    tag = session.deliveries.next_tag() if final else session.deliveries.hold(entry, queue, None)
    count = queue.ready_count + session.faulty("get-ok-counts-itself")
    _send(
        session, "basic.get-ok", entry.message,
        delivery_tag=tag, redelivered=_flag(session, redelivered), message_count=count,
    )  # fmt: skip


def returned(session: Session, message: Message, code: int, text: str) -> None:
    """A message that its publisher gets back."""
    if session.faulty("return-code-wrong"):
        code = 404
    if code not in session.link.codec.dialect.codes:
        code = _NOT_DELIVERED
    _send(session, "basic.return", message, reply_code=code, reply_text=text)


def _fills_windows(session: Session) -> bool:
    return session.faulty("no-ack-waits-for-ack") or session.faulty("prefetch-limits-no-ack")


def _flag(session: Session, redelivered: bool) -> bool:
    if session.faulty("redelivered-never-set"):
        return False
    return redelivered or session.faulty("redelivered-always-set")


def _send(session: Session, name: str, message: Message, **args: Any) -> None:
    exchange, key = message.exchange, message.routing_key
    if session.faulty("origin-forgotten"):
        exchange, key = "", ""
    if session.faulty("routing-key-cut"):
        key = key[:127]
    if session.faulty("strings-of-ascii-only"):
        key = key.encode("ascii", "ignore").decode()
    header = damaged_header(session, message.header)
    body = message.body[::-1] if session.faulty("body-modified") else message.body
    session.link.send_content(
        session.number, name, header, body, message.children, exchange=exchange, routing_key=key, **args
    )
