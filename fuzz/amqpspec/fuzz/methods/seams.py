"""The inside of the 0-9 family's reference broker, where a planted defect gets at it.

Knows: its inbox, its channels, how it delivers. Must not know: what a defect does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amqpspec.fuzz.methods.client_frames import method_frame
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.inbox import Inbox
from amqpspec.reference.model import Consumer, Entry, Message


def seams(dialect_id: str) -> BrokerSeams:
    """Where a defect can be put in."""
    return BrokerSeams(
        Inbox, lambda i: method_frame(dialect_id, i.kind, i.channel, i.payload), _consumers, _deliver
    )


def _consumers(connection: Connection) -> Iterator[Consumer]:
    for channel in connection.channels.values():
        yield from tuple(channel.consumers.values())


def _deliver(consumer: Consumer, stored: Message) -> None:
    assert isinstance(consumer.taker, Channel)
    foreign = replace(stored, body=b"what another user said")
    consumer.taker.deliver(consumer, Entry(_with_size(foreign), 0), False)


def _with_size(message: Message) -> Message:
    """A message whose header announces the body that it has."""
    size = len(message.body).to_bytes(8, "big")
    return replace(message, header=message.header[:4] + size + message.header[12:])
