"""The queue class: declare, bind, unbind, purge, delete.

Knows: names, what may be declared again, what may be deleted.
Must not know: how a queue keeps its messages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amqpspec.reference.methods.handlers import handles, is_quiet
from amqpspec.reference.methods.naming import RESERVED, check_owner, is_name, named_queue
from amqpspec.reference.model import Binding, Exchange, Queue, canonical
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.session import Session


_FEW_QUEUES = 200


@handles("queue.declare")
def declare(session: Session, call: Call) -> None:
    """Create a queue, or check one."""
    if call["passive"] and is_quiet(call):
        _faulty_silence(session, call)
        return
    name = call["queue"]
    existing = session.vhost.queues.get(name or (session.current_queue if call["passive"] else ""))
    if call["passive"]:
        queue = _check_passive(session, call, existing)
    elif existing is not None:
        queue = _check_again(session, call, existing)
    elif session.faulty("declare-creates-nothing"):
        queue = None
    else:
        queue = _create(session, call)
    _declared(session, call, queue)


def _faulty_silence(session: Session, call: Call) -> None:
    if session.faulty("passive-no-wait-creates"):
        _create(session, call)
    if session.faulty("passive-no-wait-answered"):
        session.send("queue.declare-ok", queue=call["queue"], message_count=0, consumer_count=0)


def _declared(session: Session, call: Call, queue: Queue | None) -> None:
    name = call["queue"] if queue is None else queue.name
    session.current_queue = name
    if session.faulty("declare-ok-without-name"):
        name = call["queue"]
    if session.faulty("declare-ok-never-names"):
        name = ""
    messages = 0 if queue is None else queue.ready_count
    if queue is not None and session.faulty("message-count-includes-unacked"):
        messages += len(queue.unacked)
    if session.transaction is not None and session.faulty("message-count-includes-uncommitted"):
        messages += len(session.transaction.work)
    if session.faulty("message-count-one-too-many"):
        messages += 1
    if session.faulty("integers-low-octet-first"):
        messages = int.from_bytes(messages.to_bytes(4, "little"), "big")
    consumers = 0 if queue is None else queue.active_consumer_count
    if session.faulty("consumer-count-always-zero"):
        consumers = 0
    session.reply(call, "queue.declare-ok", queue=name, message_count=messages, consumer_count=consumers)


def _check_passive(session: Session, call: Call, existing: Queue | None) -> Queue | None:
    if existing is None:
        if session.faulty("passive-declare-creates"):
            return _create(session, call)
        session.refuse("queue/declare/passive/not-found", f"no queue {call['queue']!r}")
    else:
        check_owner(session, existing, "queue/declare/exclusive/passive")
        if session.faulty("passive-declare-purges"):
            existing.purge()
        if session.faulty("shared-queue-not-found") and not existing.exclusive:
            session.refuse("queue/declare/passive/not-found", f"no queue {existing.name!r}")
        if session.faulty("passive-queue-declare-compares") and _differs(session, call, existing):
            session.refuse("queue/declare/passive/equivalent-mismatch", f"queue {existing.name!r} is another")
    return existing


def _check_again(session: Session, call: Call, existing: Queue) -> Queue:
    check_owner(session, existing, "queue/declare/exclusive/exclusive")
    if _differs(session, call, existing):
        session.refuse("queue/declare/passive/equivalent-mismatch", f"queue {existing.name!r} is another")
    if existing.name.startswith(RESERVED) and session.faulty("reserved-queue-not-redeclared"):
        session.refuse("queue/declare/queue/reserved", f"{existing.name!r} is reserved")
    if session.faulty("queue-redeclare-purges"):
        existing.purge()
    if session.faulty("queue-redeclare-takes-auto-delete"):
        existing.auto_delete = call["auto_delete"]
    return existing


def _differs(session: Session, call: Call, existing: Queue) -> bool:
    """Whether a queue is declared again as something else; auto-delete is ignored, as the rule on it says."""
    if session.faulty("queue-durable-not-compared"):
        return False
    if session.faulty("same-queue-refused"):
        return True
    if call["durable"] != existing.durable or call["exclusive"] != existing.exclusive:
        return True
    if session.faulty("queue-arguments-not-compared"):
        return False
    if session.faulty("queue-arguments-in-order"):
        return list(call["arguments"].plain()) != list(existing.arguments)
    return canonical(call["arguments"].plain()) != canonical(existing.arguments)


def _create(session: Session, call: Call) -> Queue:
    name = call["queue"]
    if name and not is_name(name):
        session.refuse("queue/declare/queue/syntax", f"{name!r} is no name for a queue")
    elif name.startswith(RESERVED):
        session.refuse("queue/declare/queue/reserved", f"{name!r} is reserved")
    _faulty_refusals(session, call)
    queue = session.vhost.declare_queue(
        name or session.vhost.new_queue_name(),
        durable=call["durable"],
        auto_delete=call["auto_delete"],
        owner=session.owner if call["exclusive"] or session.faulty("every-queue-exclusive") else None,
        arguments=call["arguments"].plain(),
    )
    session.vhost.collect(queue)
    return queue


def _faulty_refusals(session: Session, call: Call) -> None:
    refused = (
        (not call["queue"] and session.faulty("nameless-queue-refused"))
        or (":" in call["queue"] and session.faulty("colon-in-queue-name-refused"))
        or (call["durable"] and session.faulty("durable-queue-refused"))
        or (not (call["durable"] or call["exclusive"]) and session.faulty("transient-queue-refused"))
        or (len(session.vhost.queues) > _FEW_QUEUES and session.faulty("two-hundred-queues-at-most"))
    )
    if refused:
        session.refuse("constant/precondition-failed", f"queue {call['queue']!r} is not wanted")


@handles("queue.bind")
def bind(session: Session, call: Call) -> None:
    """Bind a queue to an exchange."""
    queue = named_queue(session, call)
    exchange = _find(session, call["exchange"], "queue/bind/exchange/exchange-existence")
    _faulty_bindings(session, call, queue, exchange)
    if queue is not None and exchange is not None and not session.faulty("bind-does-nothing"):
        session.vhost.bind(exchange, Binding(queue, _key(session, call, queue), call["arguments"].plain()))
    session.reply(call, "queue.bind-ok")


def _faulty_bindings(session: Session, call: Call, queue: Queue | None, exchange: Exchange | None) -> None:
    mine = [] if exchange is None else [b for b in exchange.bindings.values() if b.destination is queue]
    again = any(binding.routing_key == call["routing_key"] for binding in mine)
    if again and session.faulty("duplicate-binding-refused"):
        session.refuse("constant/precondition-failed", "the binding is there already")
    uneven = exchange is not None and queue is not None and queue.durable and not exchange.durable
    if uneven and session.faulty("transient-exchange-not-bound-to"):
        session.refuse("constant/precondition-failed", "a durable queue and a transient exchange")


def _key(session: Session, call: Call, queue: Queue) -> str:
    key: str = call["routing_key"]
    blank = not key and (not call["queue"] or session.faulty("blank-key-means-any-queue"))
    return queue.name if blank and not session.faulty("blank-key-stays-blank") else key


@handles("queue.unbind")
def unbind(session: Session, call: Call) -> None:
    """Undo a binding of a queue; one that is not there is undone already."""
    if session.faulty("failed-unbind-confirmed") and call["queue"] not in session.vhost.queues:
        session.reply(call, "queue.unbind-ok")
        return
    queue = named_queue(session, call)
    exchange = _find(session, call["exchange"], "queue/unbind/exchange/must-exist")
    if queue is not None and exchange is not None and not session.faulty("unbind-does-nothing"):
        session.vhost.unbind(exchange, Binding(queue, _key(session, call, queue), call["arguments"].plain()))
    session.reply(call, "queue.unbind-ok")


def _find(session: Session, name: str, rule: str) -> Exchange | None:
    exchange = session.vhost.exchanges.get(name)
    if exchange is None or (not name and session.faulty("blank-exchange-not-understood")):
        session.refuse(rule, f"no exchange {name!r}")
    return exchange


@handles("queue.purge")
def purge(session: Session, call: Call) -> None:
    """Drop the messages that wait."""
    queue = named_queue(session, call)
    if queue is None:
        count = 0
    elif session.faulty("purge-does-nothing"):
        count = queue.ready_count
    else:
        count = queue.purge()
    session.reply(call, "queue.purge-ok", message_count=0 if session.faulty("purge-count-zero") else count)


@handles("queue.delete")
def delete(session: Session, call: Call) -> None:
    """Delete a queue."""
    queue = named_queue(session, call)
    count = 0
    if queue is not None:
        if call["if_unused"] and (queue.consumers or session.faulty("if-unused-always-refused")):
            session.refuse("queue/delete/if-unused/in-use", f"queue {queue.name!r} has consumers")
        consumed = queue.consumers and session.faulty("if-empty-counts-consumers")
        if call["if_empty"] and (queue.ready_count or queue.unacked or consumed):
            session.refuse("queue/delete/if-empty/not-empty", f"queue {queue.name!r} has messages")
        count = queue.ready_count
        if not session.faulty("queue-delete-does-nothing"):
            session.vhost.delete_queue(queue)
    session.reply(call, "queue.delete-ok", message_count=0 if session.faulty("delete-count-zero") else count)
