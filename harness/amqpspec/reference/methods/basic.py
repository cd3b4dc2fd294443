"""The basic class, first half: qos, consume, cancel, publish, get. The second is in ``settling``.

Knows: consumers and their tags, exclusive consumers, what happens to a message that cannot be routed.
Must not know: how a queue picks a consumer.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from amqpspec.reference.methods import outgoing, wire
from amqpspec.reference.methods.handlers import handles, handles_content
from amqpspec.reference.methods.naming import named_queue
from amqpspec.reference.model import Consumer, Exchange, Message, Outcome, Queue
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.contents import Received
    from amqpspec.reference.methods.session import Session

_SUCCESS, _NO_ROUTE, _NO_CONSUMERS = 200, 312, 313


@handles("basic.qos")
def qos(session: Session, call: Call) -> None:
    """Set the window of the channel, or of the connection."""
    whole = call["global"] and not session.faulty("qos-global-means-channel")
    whole = whole or session.faulty("qos-always-global")
    window = session.link.window if whole else session.deliveries.window
    if not (session.consumers and session.faulty("qos-without-effect-on-consumers")):
        window.max_count, window.max_octets = call["prefetch_count"], call["prefetch_size"]
    session.send("basic.qos-ok")
    session.link.pump()


# --- consumers


@handles("basic.consume")
def consume(session: Session, call: Call) -> None:
    """Start a consumer; it gets nothing before it is confirmed."""
    sessions = session.link.sessions.values() if session.faulty("consumer-tags-of-connection") else (session,)
    if any(call["consumer_tag"] in one.consumers for one in sessions):
        session.refuse("basic/consume/consumer-tag/duplicate", f"tag {call['consumer_tag']!r} is in use")
    queue = named_queue(session, call)
    tag = call["consumer_tag"] or _new_tag(session)
    if queue is None:
        session.reply(call, "basic.consume-ok", consumer_tag=tag)
        return
    _check_exclusive(session, queue, call["exclusive"])
    if session.faulty("fifteen-consumers-at-most") and len(queue.consumers) >= 15:
        session.refuse("basic/consume/exclusive/in-use", f"queue {queue.name!r} has too many consumers")
    consumer = Consumer(tag, queue, session, call["no_ack"], call["no_local"], call["exclusive"])
    session.consumers[tag] = consumer
    session.vhost.add_consumer(consumer)
    if session.faulty("deliveries-before-consume-ok"):
        queue.dispatch()
    session.reply(call, "basic.consume-ok", consumer_tag=tag)
    queue.dispatch()


def _new_tag(session: Session) -> str:
    if session.faulty("generated-tags-repeat"):
        return "amq.ctag-1"
    return f"amq.ctag-{next(session.link.core.numbers)}"


def _check_exclusive(session: Session, queue: Queue, exclusive: bool) -> None:
    if any(consumer.exclusive for consumer in queue.consumers):
        session.refuse("basic/consume/exclusive/alone", f"queue {queue.name!r} has an exclusive consumer")
    elif exclusive and queue.consumers:
        session.refuse("basic/consume/exclusive/in-use", f"queue {queue.name!r} has consumers")


@handles("basic.cancel")
def cancel(session: Session, call: Call) -> None:
    """End a consumer; one that ended by itself is ended already."""
    tag = call["consumer_tag"]
    if session.faulty("cancel-on-every-channel"):
        for other in session.link.sessions.values():
            if other is not session and tag in other.consumers:
                session.vhost.remove_consumer(other.consumers.pop(tag))
    consumer = session.consumers.get(tag)
    if consumer is not None:
        session.forget(consumer)
        kept = consumer.exclusive and session.faulty("exclusive-access-never-ends")
        if not kept and not session.faulty("cancelled-consumer-goes-on"):
            session.vhost.remove_consumer(consumer)
    elif tag not in session.ended_tags or session.faulty("cancel-after-queue-is-gone-refused"):
        session.refuse("basic/consume/consumer-tag/channel-local", f"no consumer {tag!r} on this channel")
    if consumer is not None and session.faulty("cancel-requeues-unacked"):
        session.give_back([d for d in session.deliveries.outstanding.values() if d.consumer is consumer])
    session.reply(call, "basic.cancel-ok", consumer_tag=tag)


@handles("basic.cancel-ok")
def cancel_ok(session: Session, call: Call) -> None:
    """The client has heard that a consumer ended; nothing was asked, and nothing follows."""


# --- publishing


@handles("basic.publish")
def publish(session: Session, call: Call) -> None:
    """A content follows."""
    _exchange(session, call)
    session.expect_content(call)


@handles_content("basic.publish")
def published(session: Session, received: Received) -> None:
    """A message has come: send it on its way, now or at commit."""
    call = received.call
    exchange = _exchange(session, call)
    message = _message(session, received)
    if session.confirming and session.faulty("confirm-before-return"):
        session.handled()
        session.confirm()
    if session.faulty("success-is-signalled"):
        session.send("channel.alert", reply_code=_SUCCESS, reply_text="the message has come")
    outcome = None
    if exchange is not None:
        outcome = _work(session, partial(_route, session, call, exchange, message))
    if session.confirming and not _kept_quiet(session, outcome):
        session.handled()
    elif session.faulty("confirms-counted-from-open"):
        session.published += 1
        session.confirmed += 1


def _work(session: Session, action: partial[Outcome]) -> Outcome | None:
    if session.confirming and session.faulty("confirm-before-enqueue"):
        asyncio.get_running_loop().call_later(0.2, _late, session, action)
        return None
    if session.transaction is None or session.faulty("publish-visible-before-commit"):
        return action()
    session.transaction.work.append(action)
    return None


def _late(session: Session, action: partial[Outcome]) -> None:
    action()
    session.link.core.flush()


def _kept_quiet(session: Session, outcome: Outcome | None) -> bool:
    """Whether a fault has seen to the confirmation, or wants none."""
    unrouted = outcome is Outcome.UNROUTABLE and session.faulty("unrouted-never-confirmed")
    return unrouted or session.faulty("confirm-before-return")


def _exchange(session: Session, call: Call) -> Exchange | None:
    name = call["exchange"]
    exchange = session.vhost.exchanges.get(name)
    if exchange is None or (not name and session.faulty("blank-exchange-not-published-to")):
        session.refuse("basic/publish/exchange/must-exist", f"no exchange {name!r}")
    elif exchange.internal and not session.faulty("internal-exchange-published-to"):
        session.refuse("basic/publish/exchange/internal", f"exchange {name!r} is internal")
    return exchange


def _message(session: Session, received: Received) -> Message:
    call, properties = received.call, received.header.properties
    headers = properties.get("headers")
    return Message(
        exchange=call["exchange"],
        routing_key=call["routing_key"],
        header=received.octets,
        body=received.body,
        priority=properties.get("priority", 0),
        persistent=properties.get("delivery_mode") == 2,
        headers={} if headers is None else wire.plain_fields(headers, session.faulty),
        publisher=session.owner,
        children=received.children,
    )


def _route(session: Session, call: Call, exchange: Exchange, message: Message) -> Outcome:
    immediate = call["immediate"] or session.faulty("immediate-always-meant")
    outcome = session.vhost.publish(exchange, message, immediate=immediate)
    if outcome is Outcome.UNROUTABLE and call["mandatory"] and not session.faulty("mandatory-ignored"):
        outgoing.returned(session, message, _NO_ROUTE, "no queue is bound for it")
    elif outcome is not Outcome.QUEUED and immediate:
        outgoing.returned(session, message, _NO_CONSUMERS, "no consumer can take it at once")
    elif outcome is Outcome.UNROUTABLE and session.faulty("everything-unroutable-returned"):
        outgoing.returned(session, message, _NO_ROUTE, "no queue is bound for it")
    elif (call["mandatory"] or call["immediate"]) and session.faulty("delivered-message-returned"):
        outgoing.returned(session, message, _NO_ROUTE, "it was delivered")
    return outcome


# --- get


@handles("basic.get")
def get(session: Session, call: Call) -> None:
    """Hand out one message, if there is one for this channel."""
    queue = named_queue(session, call)
    if queue is not None and any(consumer.exclusive for consumer in queue.consumers):
        session.refuse("basic/consume/exclusive/alone", f"queue {queue.name!r} has an exclusive consumer")
    blocked = session.faulty("flow-stops-get") and not session.active
    entry = None if queue is None or blocked else queue.first_for(session.key)
    if entry is not None and session.faulty("messages-of-others-not-got"):
        entry = entry if entry.message.publisher is session.owner else None
    if queue is None or entry is None:
        if not session.faulty("get-empty-not-said"):
            session.send("basic.get-empty")
        return
    redelivered = queue.take(entry, keep=not call["no_ack"])
    outgoing.got(session, queue, entry, redelivered, call["no_ack"])
