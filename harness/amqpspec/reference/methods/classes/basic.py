"""The basic class, first half: qos, consume, cancel, publish, get. The second is in ``settling``.

Knows: consumers and their tags, exclusive consumers, what happens to a message that cannot be routed.
Must not know: how a queue picks a consumer.
"""

from __future__ import annotations

import asyncio
from functools import partial

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.classes import selected
from amqpspec.reference.methods.classes.naming import named_queue
from amqpspec.reference.methods.contents import Received
from amqpspec.reference.methods.handlers import handles, handles_content
from amqpspec.reference.model import Consumer, Exchange, Message, Queue, Routed
from amqpspec.wire.methods.codec import Call

_SUCCESS, _NO_ROUTE, _NO_CONSUMERS = 200, 312, 313


@handles("basic.qos")
def qos(channel: Channel, call: Call) -> None:
    """Set the window of the channel, or of the connection."""
    whole = call["global"] and not channel.faulty("qos-global-means-channel")
    whole = whole or channel.faulty("qos-always-global")
    window = channel.connection.window if whole else channel.deliveries.window
    if not (channel.consumers and channel.faulty("qos-without-effect-on-consumers")):
        window.max_count, window.max_octets = call["prefetch_count"], call["prefetch_size"]
    channel.send("basic.qos-ok")
    channel.later(channel.connection.pump)


# --- consumers


@handles("basic.consume")
def consume(channel: Channel, call: Call) -> None:
    """Start a consumer; it gets nothing before it is confirmed."""
    channels = (
        channel.connection.channels.values() if channel.faulty("consumer-tags-of-connection") else (channel,)
    )
    if any(call["consumer_tag"] in one.consumers for one in channels):
        channel.refuse("basic/consume/consumer-tag/duplicate", f"tag {call['consumer_tag']!r} is in use")
    queue = named_queue(channel, call)
    tag = call["consumer_tag"] or _new_tag(channel)
    if queue is None:
        channel.reply(call, "basic.consume-ok", consumer_tag=tag)
        return
    _check_exclusive(channel, queue, call["exclusive"])
    if channel.faulty("fifteen-consumers-at-most") and len(queue.consumers) >= 15:
        channel.refuse("basic/consume/exclusive/in-use", f"queue {queue.name!r} has too many consumers")
    consumer = Consumer(tag, queue, channel, call["no_ack"], call["no_local"], call["exclusive"])
    channel.consumers[tag] = consumer
    channel.vhost.add_consumer(consumer)
    if channel.faulty("deliveries-before-consume-ok"):
        queue.dispatch()
    channel.reply(call, "basic.consume-ok", consumer_tag=tag)
    queue.wake()


def _new_tag(channel: Channel) -> str:
    if channel.faulty("generated-tags-repeat"):
        return "amq.ctag-1"
    return f"amq.ctag-{next(channel.connection.core.numbers)}"


def _check_exclusive(channel: Channel, queue: Queue, exclusive: bool) -> None:
    """Exclusive works both ways: no one joins an exclusive consumer, and none becomes exclusive while there are
    others.
    """
    if any(consumer.exclusive for consumer in queue.consumers):
        channel.refuse("basic/consume/exclusive/alone", f"queue {queue.name!r} has an exclusive consumer")
    elif exclusive and queue.consumers:
        channel.refuse("basic/consume/exclusive/in-use", f"queue {queue.name!r} has consumers")


@handles("basic.cancel")
def cancel(channel: Channel, call: Call) -> None:
    """End a consumer; one that ended by itself is ended already."""
    tag = call["consumer_tag"]
    if channel.faulty("cancel-on-every-channel"):
        for other in channel.connection.channels.values():
            if other is not channel and tag in other.consumers:
                channel.vhost.remove_consumer(other.consumers.pop(tag))
    consumer = channel.consumers.get(tag)
    if consumer is not None:
        channel.forget(consumer)
        kept = consumer.exclusive and channel.faulty("exclusive-access-never-ends")
        if not kept and not channel.faulty("cancelled-consumer-goes-on"):
            channel.vhost.remove_consumer(consumer)
    elif tag not in channel.ended_tags or channel.faulty("cancel-after-queue-is-gone-refused"):
        channel.refuse("basic/consume/consumer-tag/channel-local", f"no consumer {tag!r} on this channel")
    if consumer is not None and channel.faulty("cancel-requeues-unacked"):
        channel.give_back([d for d in channel.deliveries.outstanding.values() if d.consumer is consumer])
    channel.reply(call, "basic.cancel-ok", consumer_tag=tag)


@handles("basic.cancel-ok")
def cancel_ok(channel: Channel, call: Call) -> None:
    """The client confirms that a consumer ended; it asked nothing, and nothing follows."""


# --- publishing


@handles("basic.publish")
def publish(channel: Channel, call: Call) -> None:
    """A content follows."""
    _exchange(channel, call)
    channel.expect_content(call)


@handles_content("basic.publish")
def published(channel: Channel, received: Received) -> None:
    """A message has arrived: route it, now or at commit."""
    call = received.call
    exchange = _exchange(channel, call)
    message = _message(channel, received)
    if channel.confirming and channel.faulty("confirm-before-return"):
        channel.handled()
        channel.later(channel.confirm)
    if channel.faulty("success-is-signalled"):
        channel.send("channel.alert", reply_code=_SUCCESS, reply_text="the message has come")
    outcome = None
    if exchange is not None:
        channel.connection.core.room.take(message.size_octets)
        outcome = _work(channel, partial(_route, channel, call, exchange, message))
    if channel.confirming and not _kept_quiet(channel, outcome):
        channel.handled()
    elif channel.faulty("confirms-counted-from-open"):
        channel.published += 1
        channel.confirmed += 1


def _work(channel: Channel, action: partial[Routed]) -> Routed | None:
    if channel.confirming and channel.faulty("confirm-before-enqueue"):
        core = channel.connection.core
        asyncio.get_running_loop().call_later(0.2, core.later, partial(_late, channel, action))
        return None
    if channel.transaction is None or channel.faulty("publish-visible-before-commit"):
        return action()
    channel.transaction.work.append(action)
    return None


def _late(channel: Channel, action: partial[Routed]) -> None:
    action()
    channel.connection.core.flush()


def _kept_quiet(channel: Channel, outcome: Routed | None) -> bool:
    """Whether a fault has seen to the confirmation, or wants none."""
    unrouted = outcome is Routed.UNROUTABLE and channel.faulty("unrouted-never-confirmed")
    return unrouted or channel.faulty("confirm-before-return")


def _exchange(channel: Channel, call: Call) -> Exchange | None:
    """The exchange of a publish; asked for at the method and again at its content, between which it may be deleted."""
    name = call["exchange"]
    exchange = channel.vhost.exchanges.get(name)
    if exchange is None or (not name and channel.faulty("blank-exchange-not-published-to")):
        channel.refuse("basic/publish/exchange/must-exist", f"no exchange {name!r}")
    elif exchange.internal and not channel.faulty("internal-exchange-published-to"):
        channel.refuse("basic/publish/exchange/internal", f"exchange {name!r} is internal")
    return exchange


def _message(channel: Channel, received: Received) -> Message:
    call, properties = received.call, received.header.properties
    headers = (
        {} if properties.get("headers") is None else wire.plain_fields(properties["headers"], channel.faulty)
    )
    return Message(
        exchange=call["exchange"],
        routing_key=call["routing_key"],
        header=selected.unseen(channel, received.octets) if selected.BCC in headers else received.octets,
        body=received.body,
        priority=properties.get("priority", 0),
        persistent=properties.get("delivery_mode") == 2,
        headers=headers,
        publisher=channel.owner,
        children=received.children,
        more_keys=selected.more_keys(channel, headers),
    )


def _route(channel: Channel, call: Call, exchange: Exchange, message: Message) -> Routed:
    immediate = call["immediate"] or channel.faulty("immediate-always-meant")
    outcome = channel.vhost.publish(exchange, message, immediate=immediate)
    if outcome is Routed.UNROUTABLE and call["mandatory"] and not channel.faulty("mandatory-ignored"):
        _send_back(channel, message, _NO_ROUTE, "no queue is bound for it")
    elif outcome is not Routed.QUEUED and immediate:
        _send_back(channel, message, _NO_CONSUMERS, "no consumer can take it at once")
    elif outcome is Routed.UNROUTABLE and channel.faulty("everything-unroutable-returned"):
        _send_back(channel, message, _NO_ROUTE, "no queue is bound for it")
    elif (call["mandatory"] or call["immediate"]) and channel.faulty("delivered-message-returned"):
        _send_back(channel, message, _NO_ROUTE, "it was delivered")
    return outcome


def _send_back(channel: Channel, message: Message, code: int, text: str) -> None:
    channel.later(lambda: channel.send_back(message, code, text))


# --- get


@handles("basic.get")
def get(channel: Channel, call: Call) -> None:
    """Hand out one message, if there is one for this channel."""
    queue = named_queue(channel, call)
    if queue is not None and any(consumer.exclusive for consumer in queue.consumers):
        channel.refuse("basic/consume/exclusive/alone", f"queue {queue.name!r} has an exclusive consumer")
    blocked = channel.faulty("flow-stops-get") and not channel.active
    entry = None if queue is None or blocked else queue.first_for(channel.key)
    if entry is not None and channel.faulty("messages-of-others-not-got"):
        entry = entry if entry.message.publisher is channel.owner else None
    if queue is None or entry is None:
        if not channel.faulty("get-empty-not-said"):
            channel.send("basic.get-empty")
        return
    redelivered = queue.take(entry, keep=not call["no_ack"])
    channel.send_got(queue, entry, redelivered, call["no_ack"])


FAULTS = fault_table("""
messages-of-others-not-got: get gives a client its own messages only [wire/channels/visibility]
flow-stops-get: get finds nothing on a paused channel [channel/flow/get]
blank-exchange-not-published-to: a publication without an exchange is refused
    [exchange/required-instances/direct exchange/default-exchange basic/publish/exchange/default-exchange]
internal-exchange-published-to: an internal exchange takes publications
    [exchange/declare/internal basic/publish/exchange/internal]
consumer-tags-of-connection: a tag serves one channel at a time [domain/consumer-tag]
cancel-on-every-channel: cancel ends the tag on other channels as well [domain/consumer-tag]
qos-always-global: qos applies to the whole connection, with or without global [basic/qos/global]
qos-without-effect-on-consumers: qos changes nothing where consumers are at work [basic/qos-ok]
qos-global-means-channel: qos with global set is for one channel [basic/qos/global]
deliveries-before-consume-ok: a consumer is served before it is confirmed [wire/content/synchronisation]
generated-tags-repeat: every generated consumer tag is the same [basic/consume/consumer-tag/generated]
fifteen-consumers-at-most: a sixteenth consumer is refused [basic/consume/minimum-consumers]
exclusive-access-never-ends: an exclusive consumer excludes others after its cancel
    [basic/consume/exclusive/alone]
cancelled-consumer-goes-on: a cancelled consumer still receives messages [wire/content/synchronisation basic/cancel]
cancel-requeues-unacked: cancel takes delivered messages away again [basic/cancel]
cancel-after-queue-is-gone-refused: cancelling a consumer of a deleted queue is refused [basic/cancel/queue-gone]
mandatory-ignored: an unroutable mandatory message is dropped
    [basic/publish/mandatory/return basic/publish/mandatory/implemented constant/no-route]
everything-unroutable-returned: an unroutable message is returned although it is not mandatory
    [basic/publish/mandatory/return]
immediate-always-meant: a message that no consumer is ready for is returned although it is not immediate
    [basic/publish/immediate/return]
delivered-message-returned: a mandatory or immediate message is returned although it found its queue
    [basic/publish/mandatory/return basic/publish/immediate/return]
get-empty-not-said: get on an empty queue is not answered [basic/get-empty]
publish-visible-before-commit: a transacted publication is visible at once
    [tx/atomic tx/rollback basic/publish/transaction]
unrouted-never-confirmed: a message that reached no queue is not confirmed
    [confirm/every-message confirm/all-messages-acknowledged]
confirms-counted-from-open: messages before select are counted [confirm/sequence]
confirm-before-enqueue: a message is confirmed before it is in its queues [confirm/all-queues]
confirm-before-return: a message that cannot be routed is confirmed before it is returned
    [confirm/unroutable-messages]
success-is-signalled: every publish is answered by an alert with 200
""")
