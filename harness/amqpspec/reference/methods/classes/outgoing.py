"""Messages on their way to a client: deliver, get-ok, return.

Knows: which arguments each of the three carries. Must not know: why a message goes out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.damage import damaged_header
from amqpspec.reference.model import Consumer, Entry, Message, Queue

if TYPE_CHECKING:
    from amqpspec.reference.methods.channel import Channel


_NOT_DELIVERED = 310
"""What early versions say, whatever kept a message from its queue."""


def deliver(channel: Channel, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
    """A message for a consumer."""
    hold = channel.deliveries.hold
    final = consumer.no_ack and not _fills_windows(channel)
    tag = channel.deliveries.next_tag() if final else hold(entry, consumer.queue, consumer)
    consumer_tag = consumer.tag
    if channel.faulty("deliver-names-another-consumer") and len(channel.consumers) > 1:
        consumer_tag = next(t for t in channel.consumers if t != consumer.tag)
    _send(
        channel, "basic.deliver", entry.message,
        consumer_tag=consumer_tag, delivery_tag=tag, redelivered=_flag(channel, redelivered),
    )  # fmt: skip


def got(channel: Channel, queue: Queue, entry: Entry, redelivered: bool, no_ack: bool) -> None:
    """A message for a get."""
    final = no_ack and not channel.faulty("no-ack-waits-for-ack")
    tag = channel.deliveries.next_tag() if final else channel.deliveries.hold(entry, queue, None)
    count = queue.ready_count + channel.faulty("get-ok-counts-itself")
    _send(
        channel, "basic.get-ok", entry.message,
        delivery_tag=tag, redelivered=_flag(channel, redelivered), message_count=count,
    )  # fmt: skip


def returned(channel: Channel, message: Message, code: int, text: str) -> None:
    """A message that its publisher gets back."""
    if channel.faulty("return-code-wrong"):
        code = 404
    if code not in channel.connection.codec.dialect.codes:
        code = _NOT_DELIVERED
    _send(channel, "basic.return", message, reply_code=code, reply_text=text)


def _fills_windows(channel: Channel) -> bool:
    return channel.faulty("no-ack-waits-for-ack") or channel.faulty("prefetch-limits-no-ack")


def _flag(channel: Channel, redelivered: bool) -> bool:
    if channel.faulty("redelivered-never-set"):
        return False
    return redelivered or channel.faulty("redelivered-always-set")


def _send(channel: Channel, name: str, message: Message, **args: Any) -> None:
    exchange, key = message.exchange, message.routing_key
    if channel.faulty("origin-forgotten"):
        exchange, key = "", ""
    if channel.faulty("routing-key-cut"):
        key = key[:127]
    if channel.faulty("strings-of-ascii-only"):
        key = key.encode("ascii", "ignore").decode()
    header = damaged_header(channel, message.header)
    body = message.body[::-1] if channel.faulty("body-modified") else message.body
    channel.connection.send_content(
        channel.number, name, header, body, message.children, exchange=exchange, routing_key=key, **args
    )


FAULTS = fault_table("""
body-modified: the body of a message is turned round [wire/content/unmodified]
routing-key-cut: routing keys come back with 127 octets [wire/strings/shortstr-full-length]
return-code-wrong: a message is returned with another code
    [basic/return constant/no-route constant/no-consumers]
origin-forgotten: a message does not say its exchange and key [basic/deliver/origin basic/return]
deliver-names-another-consumer: a delivery names another consumer of the channel
    [basic/consume basic/consume/consumer-tag/generated]
redelivered-never-set: redelivered is never set
    [domain/redelivered/implementation-flag basic/recover/redelivered basic/recover-async/redelivered]
redelivered-always-set: redelivered is always set [domain/redelivered/implementation-flag]
get-ok-counts-itself: get-ok counts its own message as still waiting [basic/get-ok domain/message-count]
strings-of-ascii-only: what is not ASCII is lost from short strings
""")
