"""The inside of AMQP/Fast's reference broker, where a planted defect gets at it.

Knows: its inbox, its handles, how it delivers. Must not know: what a defect does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amqpspec.fuzz.amqp_fast_0_8.client_frames import client_frame
from amqpspec.fuzz.selftest.part import BrokerSeams
from amqpspec.reference.amqp_fast_0_8.connection import Connection
from amqpspec.reference.amqp_fast_0_8.handles import Subscription
from amqpspec.reference.amqp_fast_0_8.inbox import Inbox, Taken
from amqpspec.reference.model import Consumer, Entry, Message

_IDS = ("channel_id", "handle_id")


def _beside(incoming: Taken) -> Taken:
    """A command for the next channel and the next handle."""
    moved = {key: incoming.args[key] + 1 for key in _IDS if key in incoming.args}
    return replace(incoming, args={**incoming.args, **moved})


def _consumers(connection: Connection) -> Iterator[Consumer]:
    for handle in connection.handles.values():
        yield from tuple(handle.consumers)


def _deliver(consumer: Consumer, stored: Message) -> None:
    assert isinstance(consumer.taker, Subscription)
    consumer.taker.deliver(consumer, Entry(stored, 0), False)


SEAMS = BrokerSeams(
    Inbox, lambda i: client_frame(i.command.name, i.args, i.fragment), _consumers, _deliver, _beside
)
"""Where a defect can be put in."""
