"""Names: what they may consist of, and which queue a call means.

Knows: the syntax of names, the current queue of a channel, who may touch an exclusive queue.
Must not know: what is to be done with the queue.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amqpspec.reference.model import Queue
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session

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


def named_queue(session: Session, call: Call) -> Queue | None:
    """The queue that a call means; None where a fault lets pass that there is none."""
    unknown, missing = _UNKNOWN_AND_MISSING[call.name]
    name = call["queue"] or _current(session)
    if not name:
        session.refuse(unknown, "no queue was named, and none was declared on this channel")
        return None
    queue = session.vhost.queues.get(name)
    if queue is None:
        session.refuse(missing, f"no queue {name!r}")
        return None
    check_owner(session, queue, "queue/declare/exclusive/exclusive")
    return queue


def _current(session: Session) -> str:
    return "" if session.faulty("current-queue-forgotten") else session.current_queue


def check_owner(session: Session, queue: Queue, rule: str) -> None:
    """An exclusive queue is for the connection that declared it."""
    elsewhere = session.faulty("exclusive-queue-serves-one-channel") and session.current_queue != queue.name
    if queue.exclusive and (queue.owner is not session.owner or elsewhere):
        session.refuse(rule, f"queue {queue.name!r} is exclusive to another connection")
