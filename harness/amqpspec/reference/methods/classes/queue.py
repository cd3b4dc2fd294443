"""The queue class: declare, bind, unbind, purge, delete.

Knows: names, what may be declared again, what may be deleted.
Must not know: how a queue keeps its messages.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.classes.exchange import find_exchange
from amqpspec.reference.methods.classes.naming import RESERVED, check_owner, is_name, named_queue
from amqpspec.reference.methods.handlers import handles
from amqpspec.reference.methods.outgoing import is_quiet
from amqpspec.reference.model import Binding, Exchange, Queue, canonical
from amqpspec.wire.methods.codec import Call

_FEW_QUEUES = 200


@handles("queue.declare")
def declare(channel: Channel, call: Call) -> None:
    """Create a queue, or check one."""
    if call["passive"] and is_quiet(call):
        _faulty_silence(channel, call)
        return
    name = call["queue"]
    existing = channel.vhost.queues.get(name or (channel.current_queue if call["passive"] else ""))
    if call["passive"]:
        queue = _check_passive(channel, call, existing)
    elif existing is not None:
        queue = _check_again(channel, call, existing)
    elif channel.faulty("declare-creates-nothing"):
        queue = None
    else:
        queue = _create(channel, call)
    _declared(channel, call, queue)


def _faulty_silence(channel: Channel, call: Call) -> None:
    if channel.faulty("passive-no-wait-creates"):
        _create(channel, call)
    if channel.faulty("passive-no-wait-answered"):
        channel.send("queue.declare-ok", queue=call["queue"], message_count=0, consumer_count=0)


def _declared(channel: Channel, call: Call, queue: Queue | None) -> None:
    name = call["queue"] if queue is None else queue.name
    channel.current_queue = name
    if channel.faulty("declare-ok-without-name"):
        name = call["queue"]
    if channel.faulty("declare-ok-never-names"):
        name = ""
    messages = 0 if queue is None else queue.ready_count
    if queue is not None and channel.faulty("message-count-includes-unacked"):
        messages += len(queue.unacked)
    if channel.transaction is not None and channel.faulty("message-count-includes-uncommitted"):
        messages += len(channel.transaction.work)
    if channel.faulty("message-count-one-too-many"):
        messages += 1
    if channel.faulty("integers-low-octet-first"):
        messages = int.from_bytes(messages.to_bytes(4, "little"), "big")
    consumers = 0 if queue is None else queue.active_consumer_count
    if channel.faulty("consumer-count-always-zero"):
        consumers = 0
    channel.reply(call, "queue.declare-ok", queue=name, message_count=messages, consumer_count=consumers)


def _check_passive(channel: Channel, call: Call, existing: Queue | None) -> Queue | None:
    if existing is None:
        if channel.faulty("passive-declare-creates"):
            return _create(channel, call)
        channel.refuse("queue/declare/passive/not-found", f"no queue {call['queue']!r}")
    else:
        check_owner(channel, existing, "queue/declare/exclusive/passive")
        if channel.faulty("passive-declare-purges"):
            existing.purge()
        if channel.faulty("shared-queue-not-found") and not existing.exclusive:
            channel.refuse("queue/declare/passive/not-found", f"no queue {existing.name!r}")
        if channel.faulty("passive-queue-declare-compares") and _differs(channel, call, existing):
            channel.refuse("queue/declare/passive/equivalent-mismatch", f"queue {existing.name!r} is another")
    return existing


def _check_again(channel: Channel, call: Call, existing: Queue) -> Queue:
    check_owner(channel, existing, "queue/declare/exclusive/exclusive")
    if _differs(channel, call, existing):
        channel.refuse("queue/declare/passive/equivalent-mismatch", f"queue {existing.name!r} is another")
    if existing.name.startswith(RESERVED) and channel.faulty("reserved-queue-not-redeclared"):
        channel.refuse("queue/declare/queue/reserved", f"{existing.name!r} is reserved")
    if channel.faulty("queue-redeclare-purges"):
        existing.purge()
    if channel.faulty("queue-redeclare-takes-auto-delete"):
        existing.auto_delete = call["auto_delete"]
    return existing


def _differs(channel: Channel, call: Call, existing: Queue) -> bool:
    """Whether a queue is declared again as something else; auto-delete is ignored, as the rule on it says."""
    if channel.faulty("queue-durable-not-compared"):
        return False
    if channel.faulty("same-queue-refused"):
        return True
    if call["durable"] != existing.durable or call["exclusive"] != existing.exclusive:
        return True
    if channel.faulty("queue-arguments-not-compared"):
        return False
    if channel.faulty("queue-arguments-in-order"):
        return list(call["arguments"].plain()) != list(existing.arguments)
    return canonical(call["arguments"].plain()) != canonical(existing.arguments)


def _create(channel: Channel, call: Call) -> Queue:
    name = call["queue"]
    if name and not is_name(name):
        channel.refuse("queue/declare/queue/syntax", f"{name!r} is no name for a queue")
    elif name.startswith(RESERVED):
        channel.refuse("queue/declare/queue/reserved", f"{name!r} is reserved")
    _faulty_refusals(channel, call)
    queue = channel.vhost.declare_queue(
        name or channel.vhost.new_queue_name(),
        durable=call["durable"],
        auto_delete=call["auto_delete"],
        owner=channel.owner if call["exclusive"] or channel.faulty("every-queue-exclusive") else None,
        arguments=call["arguments"].plain(),
    )
    channel.vhost.collect(queue)
    return queue


def _faulty_refusals(channel: Channel, call: Call) -> None:
    refused = (
        (not call["queue"] and channel.faulty("nameless-queue-refused"))
        or (":" in call["queue"] and channel.faulty("colon-in-queue-name-refused"))
        or (call["durable"] and channel.faulty("durable-queue-refused"))
        or (not (call["durable"] or call["exclusive"]) and channel.faulty("transient-queue-refused"))
        or (len(channel.vhost.queues) > _FEW_QUEUES and channel.faulty("two-hundred-queues-at-most"))
    )
    if refused:
        channel.refuse("constant/precondition-failed", f"queue {call['queue']!r} is not wanted")


@handles("queue.bind")
def bind(channel: Channel, call: Call) -> None:
    """Bind a queue to an exchange."""
    queue = named_queue(channel, call)
    exchange = find_exchange(channel, call["exchange"], "queue/bind/exchange/exchange-existence")
    _faulty_bindings(channel, call, queue, exchange)
    if queue is not None and exchange is not None and not channel.faulty("bind-does-nothing"):
        channel.vhost.bind(exchange, Binding(queue, _key(channel, call, queue), call["arguments"].plain()))
    channel.reply(call, "queue.bind-ok")


def _faulty_bindings(channel: Channel, call: Call, queue: Queue | None, exchange: Exchange | None) -> None:
    mine = [] if exchange is None else [b for b in exchange.bindings.values() if b.destination is queue]
    again = any(binding.routing_key == call["routing_key"] for binding in mine)
    if again and channel.faulty("duplicate-binding-refused"):
        channel.refuse("constant/precondition-failed", "the binding is there already")
    uneven = exchange is not None and queue is not None and queue.durable and not exchange.durable
    if uneven and channel.faulty("transient-exchange-not-bound-to"):
        channel.refuse("constant/precondition-failed", "a durable queue and a transient exchange")


def _key(channel: Channel, call: Call, queue: Queue) -> str:
    key: str = call["routing_key"]
    blank = not key and (not call["queue"] or channel.faulty("blank-key-means-any-queue"))
    return queue.name if blank and not channel.faulty("blank-key-stays-blank") else key


@handles("queue.unbind")
def unbind(channel: Channel, call: Call) -> None:
    """Undo a binding of a queue; one that is not there is undone already."""
    if channel.faulty("failed-unbind-confirmed") and call["queue"] not in channel.vhost.queues:
        channel.reply(call, "queue.unbind-ok")
        return
    queue = named_queue(channel, call)
    exchange = find_exchange(channel, call["exchange"], "queue/unbind/exchange/must-exist")
    if queue is not None and exchange is not None and not channel.faulty("unbind-does-nothing"):
        if channel.faulty("unbind-takes-every-key"):
            exchange.forget(queue)
        channel.vhost.unbind(exchange, Binding(queue, _key(channel, call, queue), call["arguments"].plain()))
    channel.reply(call, "queue.unbind-ok")


@handles("queue.purge")
def purge(channel: Channel, call: Call) -> None:
    """Drop the messages that wait."""
    queue = named_queue(channel, call)
    if queue is None:
        count = 0
    elif channel.faulty("purge-does-nothing"):
        count = queue.ready_count
    else:
        count = queue.purge()
    channel.reply(call, "queue.purge-ok", message_count=0 if channel.faulty("purge-count-zero") else count)


@handles("queue.delete")
def delete(channel: Channel, call: Call) -> None:
    """Delete a queue."""
    queue = named_queue(channel, call)
    count = 0
    if queue is not None:
        if call["if_unused"] and (queue.consumers or channel.faulty("if-unused-always-refused")):
            channel.refuse("queue/delete/if-unused/in-use", f"queue {queue.name!r} has consumers")
        consumed = queue.consumers and channel.faulty("if-empty-counts-consumers")
        if call["if_empty"] and (queue.ready_count or queue.unacked or consumed):
            channel.refuse("queue/delete/if-empty/not-empty", f"queue {queue.name!r} has messages")
        count = queue.ready_count
        if not channel.faulty("queue-delete-does-nothing"):
            channel.vhost.delete_queue(queue)
    channel.reply(call, "queue.delete-ok", message_count=0 if channel.faulty("delete-count-zero") else count)


FAULTS = fault_table("""
shared-queue-not-found: a passive declare finds no shared queue [wire/channels/visibility]
declare-creates-nothing: declare-ok is sent, but no queue is created [queue/declare]
queue-redeclare-purges: declaring a queue again empties it [queue/declare]
two-hundred-queues-at-most: no more queues after some 200 [queue/declare/minimum-queues]
nameless-queue-refused: a queue has to have a name
    [queue/declare/queue/default-name-empty queue/declare/queue/default-name-generated]
declare-ok-without-name: declare-ok repeats the requested name, even a blank one
    [queue/declare-ok/queue queue/declare/queue/default-name-generated]
declare-ok-never-names: the name in declare-ok is blank [queue/declare-ok/queue]
reserved-queue-not-redeclared: a queue with a reserved name cannot be declared again by its owner
    [queue/declare/queue/reserved]
colon-in-queue-name-refused: a queue's name may not have a colon [queue/declare/queue/syntax]
passive-declare-purges: a passive declare empties the queue [queue/declare/passive/exists]
passive-declare-creates: a passive declare creates the queue [queue/declare/passive/not-found]
passive-no-wait-creates: a passive declare without reply creates the queue [queue/declare/passive/no-wait]
passive-no-wait-answered: a passive declare without reply gets one [queue/declare/passive/no-wait]
passive-queue-declare-compares: a passive declare compares the other fields [queue/declare/passive/ignored-fields]
same-queue-refused: no queue can be declared again [queue/declare/passive/equivalent-match queue/declare]
queue-durable-not-compared: a queue may be declared again as anything [queue/declare/passive/equivalent-check]
queue-arguments-not-compared: a queue may be declared again with other arguments
    [queue/declare/passive/equivalent-check]
queue-arguments-in-order: the same arguments in another order do not match [queue/declare/passive/equivalent-match]
queue-redeclare-takes-auto-delete: declaring a queue again changes its auto-delete flag
    [queue/declare/auto-delete/pre-existence]
durable-queue-refused: a queue cannot be durable [queue/declare/durable/types]
transient-queue-refused: a shared queue has to be durable [queue/declare/durable/types]
every-queue-exclusive: no queue is shared [queue/declare/exclusive/types]
consumer-count-always-zero: declare-ok counts no consumers [queue/declare-ok/consumer-count]
message-count-includes-unacked: declare-ok counts messages that await an acknowledgement [domain/message-count]
message-count-includes-uncommitted: declare-ok counts messages that await a commit [domain/message-count]
message-count-one-too-many: declare-ok counts one message that is not there
    [domain/message-count queue/declare-ok/consumer-count]
purge-count-zero: purge-ok counts nothing [queue/purge-ok/message-count]
delete-count-zero: delete-ok counts nothing [queue/delete-ok/message-count]
bind-does-nothing: queue.bind is confirmed and not done
    [wire/content/synchronisation queue/bind/unbound queue/bind/transient-exchange queue/bind/binding-count]
duplicate-binding-refused: a binding cannot be made twice [queue/bind/duplicates]
transient-exchange-not-bound-to: a durable queue cannot be bound to a transient exchange
    [queue/bind/transient-exchange]
blank-key-stays-blank: blank queue and key do not mean the name of the current queue [queue/bind/routing-key/empty]
blank-key-means-any-queue: a blank key means the queue's name even where the queue was named
    [queue/bind/routing-key/empty]
unbind-does-nothing: queue.unbind is confirmed and not done
    [wire/content/synchronisation queue/unattached queue/bind/duplicates]
unbind-takes-every-key: an unbind takes every binding between the queue and the exchange [queue/unbind/failure]
failed-unbind-confirmed: unbinding a missing queue is confirmed [queue/unbind/failure]
purge-does-nothing: purge counts the messages but does not remove them [wire/content/synchronisation queue/purge]
queue-delete-does-nothing: queue.delete is confirmed and not done [wire/channels/visibility queue/delete]
if-unused-always-refused: if-unused refuses unused queues too [queue/delete/if-unused/in-use]
if-empty-counts-consumers: a queue with a consumer counts as not empty [queue/delete/if-empty/not-empty]
""")
