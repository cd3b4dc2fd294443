"""The inside of AMQP 0-10's reference broker, where a planted defect gets at it.

Knows: its inbox, its sessions, how it delivers. Must not know: what a defect does.
"""

from __future__ import annotations

from collections.abc import Iterator

from amqpspec.fuzz.amqp_0_10.client_frames import client_frame
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.reference.amqp_0_10.connection import Connection
from amqpspec.reference.amqp_0_10.inbox import Inbox
from amqpspec.reference.model import Consumer, Entry, Message


def _consumers(connection: Connection) -> Iterator[Consumer]:
    for channel in tuple(connection.channels.values()):
        queues = channel.session.queues() if channel.session is not None else []
        for queue in queues:
            yield from (c for c in tuple(queue.consumers) if c.taker.owner is channel.session)


def _deliver(consumer: Consumer, stored: Message) -> None:
    consumer.taker.deliver(consumer, Entry(stored, 0), False)


SEAMS = BrokerSeams(Inbox, lambda i: client_frame(i.channel, i.segments), _consumers, _deliver)
"""Where a defect can be put in."""
