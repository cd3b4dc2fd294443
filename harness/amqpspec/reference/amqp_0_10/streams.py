"""The stream class: packets without acknowledgements.

Knows: a window counts packets that the client has not reported as completed. Must not know: how queues pick a
consumer.
"""

from __future__ import annotations

from amqpspec.reference.amqp_0_10 import contents
from amqpspec.reference.amqp_0_10.contents import FEEDS, Feed
from amqpspec.reference.amqp_0_10.handlers import executes
from amqpspec.reference.amqp_0_10.orders import Order
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry
from amqpspec.reference.model.deliveries import Delivery
from amqpspec.wire.amqp_0_10.instructions import decode_header
from amqpspec.wire.amqp_0_10.serial import SerialSet

_PROPERTIES = "stream.stream-properties"


class Streams(Feed):
    """One session's consumers of streams."""

    kind = "stream"

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self.sent: dict[int, Delivery] = {}
        """Packets in transit, by the ids of their commands."""
        session.on_completed.append(self.completed)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a packet."""
        message, queue = entry.message, consumer.queue
        tag = self.deliveries.hold(entry, queue, consumer)
        number = self.session.command(
            "stream.deliver",
            header=decode_header(message.header),
            body=message.body[1:] if self.session.faulty("packets-cut") else message.body,
            consumer_tag=consumer.tag,
            delivery_tag=tag,
            exchange=message.exchange,
            queue=queue.name,
        )
        self.sent[number] = self.deliveries.outstanding[tag]

    def completed(self, ids: SerialSet) -> None:
        """The client has completed packets: windows open again."""
        for number in [number for number in self.sent if number in ids]:
            delivery = self.sent.pop(number)
            self.deliveries.release(delivery)
            delivery.queue.wake()


FEEDS["stream"] = Streams


@executes("stream.publish")
def publish(session: Session, order: Order) -> None:
    """Publish a packet."""
    contents.check_exchange(session, order, "stream")
    properties = order.struct(_PROPERTIES)
    contents.publish(
        session,
        order,
        contents.content_of(session, order, "stream", order.header_octets, order.body or b"", properties),
    )


FAULTS = fault_table("""
packets-cut: packets lose their first octet [stream/acknowledgement-support stream/publish/exchange/default]
""")
