"""Messages on their way to a client: deliver, get-ok, return.

Knows: which arguments each of the three carries. Must not know: why a message goes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.reference.amqp_0_9_1 import wire
from harness.reference.model import Consumer, Entry, Message, Queue

if TYPE_CHECKING:
    from harness.reference.amqp_0_9_1.session import Session


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
    header = message.header
    if session.faulty("properties-dropped"):
        header = header[:12] + b"\x00\x00"
    if session.faulty("property-flags-one-place-off"):
        header = header[:12] + (int.from_bytes(header[12:14], "big") >> 1).to_bytes(2, "big") + header[14:]
    if session.faulty("arrays-dropped-from-headers"):
        header = wire.without_arrays(session.link.codec, header)
    if session.faulty("routing-key-cut"):
        key = key[:127]
    body = message.body[::-1] if session.faulty("body-modified") else message.body
    session.link.send_content(session.number, name, header, body, exchange=exchange, routing_key=key, **args)
