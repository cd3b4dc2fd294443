"""One channel of a connection: its state, the incoming content, what it has delivered.

Knows: open, closing, flow, contents frame by frame, current queue, consumers, deliveries, confirms.
Must not know: what a method means; the handlers do.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.contents import Content
from amqpspec.reference.methods.outgoing import ChannelOutput, Sender
from amqpspec.reference.model import Consumer, Deliveries, Delivery, Entry, Message, Queue, VirtualHost
from amqpspec.spec.model import Side
from amqpspec.wire.methods.codec import Call


class Transaction:
    """The work of one channel that waits for its commit."""

    def __init__(self) -> None:
        self.work: list[Callable[[], object]] = []

    def take(self) -> list[Callable[[], object]]:
        """The work so far; the next transaction begins."""
        work, self.work = self.work, []
        return work


class Carrier(Sender):
    """A connection, as its channels see it; those in ``unconfirmed`` have confirms to send with the next write."""

    capabilities: Mapping[str, Any]
    channels: dict[int, Channel]
    channel_max: int
    unconfirmed: dict[int, Channel]

    @abstractmethod
    def reason(self, code: int, text: str) -> dict[str, Any]:
        """The arguments of a close method."""


class Channel(ChannelOutput):
    """One channel; the taker of its consumers' messages."""

    def __init__(self, connection: Carrier, number: int) -> None:
        super().__init__(connection, number, Deliveries(connection.core.on, connection.window))
        self.connection, self.refuse = connection, connection.refuse
        self.key = next(connection.core.numbers)
        self.owner: object = connection
        self.opened = self.closing = self.released = False
        """``closing``: the broker has sent close; until close-ok the number stays taken (0-9-1 §2.3.7)."""
        self.active = True
        """Whether the client wants deliveries, as its last channel.flow says."""
        self.content: Content | None = None
        self.current_queue = ""
        self.ended_tags: set[str] = set()
        """Tags of consumers that ended by themselves: a cancel that crosses their end is no error."""
        self.transaction: Transaction | None = None
        self.confirming = False
        self.published = self.confirmed = 0
        """Confirms count from 1 with the first message after confirm.select, each channel for itself."""
        self.flow_asked: list[bool] = []
        self.tickets: set[int] = set()

    # --- what handlers use

    @property
    def vhost(self) -> VirtualHost:
        """The virtual host of the connection."""
        assert self.connection.vhost is not None
        return self.connection.vhost

    # --- contents in

    @property
    def content_ids(self) -> tuple[int, int]:
        """The class and method whose content is arriving."""
        if self.content is None:
            return (0, 0)
        method = self.content.call.method
        return (method.class_id, method.method_id)

    def expect_content(self, call: Call) -> None:
        """A content follows a method."""
        if self.faulty("one-content-per-connection"):
            for other in self.connection.channels.values():
                other.content = None
        self.content = Content(call, self.connection.codec, self.refuse, self.faulty)

    # --- the taker of queues

    @property
    def flowing(self) -> bool:
        """Whether the client takes deliveries just now."""
        return self.active and (not self.closing or self.faulty("consumer-outlives-channel"))

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether the windows and the socket allow one more message."""
        if self.connection.congested:
            return False
        if consumer.no_ack and not self.faulty("prefetch-limits-no-ack"):
            return True
        if self.faulty("prefetch-counted-by-consumer"):
            return self.deliveries.admits_to(consumer)
        return self.faulty("prefetch-ignored") or self.deliveries.admits(message.size_octets)

    def cancelled(self, consumer: Consumer) -> None:
        """A consumer's queue is gone: tell the client if it can hear that."""
        self.forget(consumer)
        notify = self.connection.capabilities.get("consumer_cancel_notify") is True
        notify = notify and self.connection.codec.dialect.methods["basic.cancel"].sent_by is not Side.CLIENT
        if notify and not self.closing and not self.faulty("cancel-not-notified"):
            self.send("basic.cancel", consumer_tag=consumer.tag, no_wait=True)

    def forget(self, consumer: Consumer) -> None:
        """A consumer has ended; its tag stays known to this channel."""
        if not self.faulty("tags-of-cancelled-consumers-kept"):
            self.consumers.pop(consumer.tag, None)
        self.ended_tags.add(consumer.tag)

    def pump(self) -> None:
        """Let the queues that this channel consumes from look again."""
        if self.faulty("one-queue-of-a-channel-served-again") and self.consumers:
            next(iter(self.consumers.values())).queue.dispatch()
            return
        for queue in {id(c.queue): c.queue for c in self.consumers.values()}.values():
            queue.dispatch()

    def give_back(self, deliveries: list[Delivery], *, refused: bool = False) -> None:
        """Return messages to their queues, in one go for each queue.

        Were each handed out as soon as it is back, one that comes later could be overtaken by one after it (§4.7).
        """
        queues: dict[Queue, list[Entry]] = {}
        for delivery in deliveries:
            self.deliveries.release(delivery)
            if refused:
                delivery.entry.refused_by.add(self.key)
            queues.setdefault(delivery.queue, []).append(delivery.entry)
        if self.faulty("unacked-given-back-to-one-queue"):
            queues = dict(list(queues.items())[:1])
        for queue, entries in queues.items():
            queue.give_back(entries)

    # --- confirms

    def later(self, action: Callable[[], object]) -> None:
        """Do something later, unless the channel has ended by then."""
        self.connection.core.later(lambda: None if self.released else action())

    def handled(self) -> None:
        """A published message has found its place: confirm it."""
        self.later(self._handled)

    def _handled(self) -> None:
        """Confirm one more message with the next write."""
        self.published += 1
        if self.faulty("confirm-count-shared-by-channels"):
            self.published = 1 + sum(channel.confirmed for channel in self.connection.channels.values())
        self.connection.unconfirmed[self.number] = self
        self.connection.core.with_output.add(self.connection)

    def confirm(self) -> None:
        """Acknowledge what was published since the last time: one ack with ``multiple`` covers all up to its tag."""
        if self.faulty("confirms-never-sent") or self.confirmed == self.published:
            return
        multiple = self.published - self.confirmed > 1
        tag = self.published
        if self.faulty("confirms-start-at-zero"):
            tag -= 1
        if self.faulty("confirm-multiple-not-set"):
            multiple = False
        self.confirmed = self.published
        self.send("basic.ack", delivery_tag=tag, multiple=multiple)
        if self.faulty("confirmed-twice"):
            self.send("basic.ack", delivery_tag=tag, multiple=multiple)

    # --- the end

    def close(self, code: int, text: str) -> None:
        """Refuse at the scope of the channel: say why, then wait for close-ok."""
        self.connection.send(self.number, "channel.close", **self.connection.reason(code, text))
        self.closing = True
        if not self.faulty("channel-works-on-after-close"):
            self.release()

    def _forget_current_queue(self) -> None:
        queue = self.vhost.queues.get(self.current_queue)
        if queue is not None and queue.owner is self.owner:
            self.vhost.delete_queue(queue)

    def release(self) -> None:
        """Give back everything that this channel holds.

        Consumers leave their queues before messages go back, or the queue would send them to the same channel again.
        """
        if self.released:
            return
        self.released = True
        self.content = None
        consumers, self.consumers = list(self.consumers.values()), {}
        for consumer in consumers:
            if consumer in consumer.queue.consumers and not self.faulty("consumer-outlives-channel"):
                consumer.queue.consumers.remove(consumer)
        if self.faulty("exclusive-queue-ends-with-channel"):
            self._forget_current_queue()
        if not self.faulty("unacked-lost-with-channel"):
            self.give_back(self.deliveries.release_all())
        for consumer in consumers:
            self.vhost.collect(consumer.queue)


FAULTS = fault_table("""
one-content-per-connection: a content that begins on one channel ends those of the others
    [wire/content/interleaved-channels]
channel-works-on-after-close: methods are executed after channel.close was sent [channel/close/stability-discard]
unacked-lost-with-channel: unacknowledged messages vanish with their channel
    [wire/channels/closure basic/explicit-ack domain/redelivered/implementation-flag]
unacked-given-back-to-one-queue: the unacknowledged messages of a channel return to one queue only
    [basic/explicit-ack]
one-queue-of-a-channel-served-again: a channel that is started again delivers from one queue only
    [channel/flow/active]
exclusive-queue-ends-with-channel: an exclusive queue is deleted with the channel that declared it
    [queue/declare/exclusive/lifetime]
prefetch-ignored: prefetch limits nothing [basic/qos/prefetch-count basic/qos/prefetch-count/no-more]
prefetch-limits-no-ack: prefetch limits consumers that do not acknowledge
    [basic/qos/prefetch-size basic/qos/prefetch-count]
prefetch-counted-by-consumer: each consumer has a separate window [basic/qos/global]
consumer-outlives-channel: a consumer stays in line when its channel is closed [basic/consume]
tags-of-cancelled-consumers-kept: the tag of a consumer that ended cannot be used again
    [basic/consume/consumer-tag/duplicate basic/cancel]
cancel-not-notified: a client that wants to hear of cancelled consumers does not [basic/cancel/by-server]
confirms-never-sent: nothing is confirmed [confirm/every-message confirm/all-messages-acknowledged confirm/sequence
    confirm/all-queues confirm/unroutable-messages]
confirm-multiple-not-set: several messages are confirmed with the last number, without multiple
    [confirm/all-messages-acknowledged confirm/every-message]
confirmed-twice: each confirmation is sent twice [confirm/all-messages-acknowledged]
confirms-start-at-zero: the first message has the number 0 [confirm/sequence]
confirm-count-shared-by-channels: all channels share one count [confirm/sequence]
""")
