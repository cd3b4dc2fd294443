"""Exclusive queues: their owners, refused access, the end of their session.

Knows: owners. Must not know: which command uses the queue.
"""

from __future__ import annotations

from functools import partial

from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Queue


def own(session: Session, queue: Queue) -> None:
    """The session has declared an exclusive queue and owns it until it ends."""
    queue.owner = session
    session.at_end.append(partial(_give_up, session, queue))


def check_owner(session: Session, queue: Queue) -> None:
    """Refuse the exclusive queue of another session."""
    if queue.owner not in (None, session):
        session.refuse("queue/declare/exclusive/in-use", f"{queue.name!r} is another session's", "queue")


def _give_up(session: Session, queue: Queue) -> None:
    deleted = queue.deleted and not session.faulty("names-of-deleted-queues-go-again")
    if deleted or queue.owner is not session:
        return
    if queue.auto_delete and not session.faulty("exclusive-queue-outlives-session"):
        session.vhost.delete_queue(queue)
    elif not session.faulty("exclusive-for-ever"):
        queue.owner = None


FAULTS = fault_table("""
exclusive-queue-outlives-session: an exclusive auto-delete queue stays when its session ends
    [queue/declare/auto-delete/exclusive]
names-of-deleted-queues-go-again: the end of a session deletes the queue that has the name of one it had deleted
    [queue/declare/auto-delete/exclusive]
exclusive-for-ever: an exclusive queue stays locked after its session closed
    [queue/declare/exclusive/one-session]
""")
