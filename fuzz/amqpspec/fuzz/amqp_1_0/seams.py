"""The inside of AMQP 1.0's reference broker, where a planted defect gets at it.

Knows: its inbox, its sessions and endpoints. Must not know: what a defect does.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from amqpspec.fuzz.amqp_1_0.client_frames import typed_frame
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.reference.amqp_1_0.connection import Connection
from amqpspec.reference.amqp_1_0.inbox import Inbox
from amqpspec.reference.amqp_1_0.sending import SendingEndpoint
from amqpspec.reference.model import Consumer, Entry, Message

_numbers = count(1)


def _consumers(connection: Connection) -> Iterator[Consumer]:
    for session in connection.sessions.values():
        for endpoint in tuple(session.endpoints.values()):
            if isinstance(endpoint, SendingEndpoint) and endpoint.consumer:
                yield endpoint.consumer


def _deliver(consumer: Consumer, stored: Message) -> None:
    assert isinstance(consumer.taker, SendingEndpoint)
    if consumer.taker.credit > 0:
        consumer.taker.deliver(consumer, Entry(stored, next(_numbers)), False)


SEAMS = BrokerSeams(Inbox, lambda i: typed_frame(i.channel, i.body), _consumers, _deliver)
"""Where a defect can be put in."""
