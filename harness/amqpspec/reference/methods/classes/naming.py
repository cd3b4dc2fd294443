"""Names: their syntax, and the queue that a call names.

Knows: the syntax of names, the current queue of a channel, the owner of an exclusive queue. Must not know: what the
call does with the queue.
"""

from __future__ import annotations

import re

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.model import Queue
from amqpspec.wire.methods.codec import Call

RESERVED = "amq."
_NAME = re.compile(r"[A-Za-z0-9_.:-]+")
_UNKNOWN_AND_MISSING = {
    "queue.bind": ("queue/bind/queue/queue-known", "queue/bind/queue/must-exist"),
    "queue.unbind": ("queue/unbind/queue/queue-known", "queue/unbind/queue/must-exist"),
    "queue.purge": ("queue/purge/queue/queue-known", "queue/purge/queue/must-exist"),
    "queue.delete": ("queue/delete/queue/queue-known", "queue/delete/queue/must-exist"),
    "basic.consume": ("domain/queue-name/unknown", "constant/not-found"),
    "basic.get": ("domain/queue-name/unknown", "constant/not-found"),
}


def is_name(text: str) -> bool:
    """Whether a text may name an exchange or a queue."""
    return _NAME.fullmatch(text) is not None


def named_queue(channel: Channel, call: Call) -> Queue | None:
    """The queue that a call means; None if there is none and a fault tolerates that."""
    unknown, missing = _UNKNOWN_AND_MISSING[call.name]
    current = "" if channel.faulty("current-queue-forgotten") else channel.current_queue
    name = call["queue"] or current
    if not name:
        channel.refuse(unknown, "no queue was named, and none was declared on this channel")
        return None
    queue = channel.vhost.queues.get(name)
    if queue is None:
        channel.refuse(missing, f"no queue {name!r}")
        return None
    check_owner(channel, queue, "queue/declare/exclusive/exclusive")
    return queue


def check_owner(channel: Channel, queue: Queue, rule: str) -> None:
    """An exclusive queue is for the connection that declared it."""
    elsewhere = channel.faulty("exclusive-queue-serves-one-channel") and channel.current_queue != queue.name
    if queue.exclusive and (queue.owner is not channel.owner or elsewhere):
        channel.refuse(rule, f"queue {queue.name!r} is exclusive to another connection")


FAULTS = fault_table("""
exclusive-queue-serves-one-channel: an exclusive queue is locked for other channels of its connection
    [queue/declare/exclusive/lifetime]
current-queue-forgotten: a blank queue name does not mean the last queue declared [domain/queue-name/current]
""")
