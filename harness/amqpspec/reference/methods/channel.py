"""One channel of a connection: its state, the content on its way in, what it has delivered.

Knows: open, closing, flow, contents frame by frame, current queue, consumers, deliveries, confirms.
Must not know: what a method means; the handlers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.classes import outgoing
from amqpspec.reference.methods.classes.access import shows_good_ticket
from amqpspec.reference.methods.contents import Content, Received, Spoilt
from amqpspec.reference.methods.handlers import CHANNEL_HANDLERS, CONTENT_HANDLERS, is_quiet
from amqpspec.reference.model import Consumer, Deliveries, Delivery, Entry, Message, Queue, VirtualHost
from amqpspec.reference.refusing import RefusedError
from amqpspec.spec.model import Side
from amqpspec.wire.methods.codec import Call

if TYPE_CHECKING:
    from amqpspec.reference.methods.classes.tx import Transaction
    from amqpspec.reference.methods.connection import Connection


class Channel:
    """One channel."""

    def __init__(self, connection: Connection, number: int) -> None:
        self.connection, self.number = connection, number
        self.faulty = connection.faulty
        self.key = next(connection.core.numbers)
        self.owner: object = connection
        self.opened = self.closing = self.released = False
        self.active = True
        self.content: Content | None = None
        self.current_queue = ""
        self.consumers: dict[str, Consumer] = {}
        self.ended_tags: set[str] = set()
        self.deliveries = Deliveries(connection.on, connection.window)
        self.transaction: Transaction | None = None
        self.confirming = False
        self.published = self.confirmed = 0
        self.flow_asked: list[bool] = []
        self.tickets: set[int] = set()

    # --- what handlers use

    @property
    def vhost(self) -> VirtualHost:
        """The virtual host of the connection."""
        assert self.connection.vhost is not None
        return self.connection.vhost

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault lets it pass."""
        self.connection.refuse(rule, text)

    def send(self, name: str, /, **args: Any) -> None:
        """One method to the client."""
        self.connection.send(self.number, name, **args)

    def reply(self, call: Call, name: str, /, **args: Any) -> None:
        """Answer a call, unless it asked for no answer."""
        if not is_quiet(call) or self.faulty("no-wait-answered"):
            self.send(name, **args)

    # --- methods in

    def on_method(self, call: Call) -> None:
        """A method has come."""
        if self.faulty("method-elsewhere-ends-content"):
            for other in self.connection.channels.values():
                other.content = self.content if other is self else None
        if self.content is not None and not self.closing:
            self._abort_content(call.name)
        if not self._permitted(call):
            self.refuse("constant/access-refused", f"{call.name} is not permitted")
        if "ticket" in call.args and not shows_good_ticket(self, call):
            return
        try:
            CHANNEL_HANDLERS[call.name](self, call)
        except RefusedError:
            if not (is_quiet(call) and self.faulty("no-wait-failure-swallowed")):
                raise

    def _abort_content(self, name: str) -> None:
        content, self.content = self.content, None
        assert content is not None
        if not content.begun:
            self.refuse("amq_wlp_content_01", f"{name} where a content header was due")
        else:
            self.refuse("wire/content/aborted-by-method", f"{name} inside a content")
            self._complete(content.cut_short())

    def _permitted(self, call: Call) -> bool:
        user = self.connection.user
        return call.method.class_name == "channel" or (user is not None and user.may_work)

    # --- contents in

    @property
    def content_ids(self) -> tuple[int, int]:
        """The class and method whose content is on its way."""
        if self.content is None:
            return (0, 0)
        method = self.content.call.method
        return (method.class_id, method.method_id)

    def expect_content(self, call: Call) -> None:
        """A content follows a method."""
        if self.faulty("one-content-per-connection"):
            for other in self.connection.channels.values():
                other.content = None
        self.content = Content(self.connection, call)

    def on_content(self, kind: str, payload: bytes) -> None:
        """A frame of a content has come; one that is refused ends the content."""
        content, self.content = self.content, None
        if content is None:
            self._unexpected(kind)
            return
        try:
            received = content.header(payload) if kind == "header" else content.body(payload)
        except Spoilt:
            return
        if received is None:
            self.content = content
        else:
            self._complete(received)

    def _unexpected(self, kind: str) -> None:
        if kind == "header":
            self.refuse("wire/content/unexpected-header", "a content header that no method announced")
        else:
            self.refuse("wire/content/unexpected-body", "a content body that no method announced")

    def _complete(self, received: Received) -> None:
        if self.faulty("lowest-channel-alone-publishes") and self.number != min(self.connection.channels):
            return
        CONTENT_HANDLERS[received.call.name](self, received)

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

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a message to the client."""
        outgoing.deliver(self, consumer, entry, redelivered)

    def cancelled(self, consumer: Consumer) -> None:
        """A consumer's queue is gone: tell the client if it can hear that."""
        self.forget(consumer)
        notify = self.connection.capabilities.get("consumer_cancel_notify") is True
        notify = notify and self.connection.codec.dialect.methods["basic.cancel"].sent_by is not Side.CLIENT
        if notify and not self.closing and not self.faulty("cancel-not-notified"):
            self.send("basic.cancel", consumer_tag=consumer.tag, no_wait=True)

    def forget(self, consumer: Consumer) -> None:
        """A consumer has ended; its tag stays known to this channel."""
        self.consumers.pop(consumer.tag, None)
        self.ended_tags.add(consumer.tag)

    def pump(self) -> None:
        """Let the queues that this channel consumes from look again."""
        for queue in {id(c.queue): c.queue for c in self.consumers.values()}.values():
            queue.dispatch()

    def give_back(self, deliveries: list[Delivery], *, refused: bool = False) -> None:
        """Return messages to their queues, in one go for each queue."""
        queues: dict[Queue, list[Entry]] = {}
        for delivery in deliveries:
            self.deliveries.release(delivery)
            if refused:
                delivery.entry.refused_by.add(self.key)
            queues.setdefault(delivery.queue, []).append(delivery.entry)
        for queue, entries in queues.items():
            queue.requeue(entries)
            queue.dispatch()

    # --- confirms

    def handled(self) -> None:
        """A published message has found its place: confirm it with the next write."""
        self.published += 1
        if self.faulty("confirm-count-shared-by-channels"):
            self.published = 1 + sum(channel.confirmed for channel in self.connection.channels.values())
        self.connection.unconfirmed[self.number] = self
        self.connection.core.with_output.add(self.connection)

    def confirm(self) -> None:
        """Acknowledge what was published since the last time."""
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
        """Give back everything that this channel holds."""
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
channel-works-on-after-close: methods are executed after channel.close was sent
    [channel/close/stability-discard]
unacked-lost-with-channel: unacknowledged messages vanish with their channel
    [wire/channels/closure basic/explicit-ack domain/redelivered/implementation-flag]
exclusive-queue-ends-with-channel: an exclusive queue goes with the channel on which it was made
    [queue/declare/exclusive/lifetime]
no-wait-failure-swallowed: a method without reply that fails is passed over
    [domain/no-wait queue/declare/no-wait]
no-wait-answered: a method with no-wait is answered [domain/no-wait queue/declare/no-wait exchange/no-wait]
prefetch-ignored: prefetch limits nothing [basic/qos/prefetch-count basic/qos/prefetch-count/no-more]
prefetch-limits-no-ack: prefetch limits consumers that do not acknowledge
    [basic/qos/prefetch-size basic/qos/prefetch-count]
prefetch-counted-by-consumer: each consumer has a window of its own [basic/qos/global]
consumer-outlives-channel: a consumer stays in line when its channel is closed [basic/consume]
cancel-not-notified: a client that wants to hear of cancelled consumers does not [basic/cancel/by-server]
confirms-never-sent: nothing is confirmed
    [confirm/every-message confirm/all-messages-acknowledged confirm/sequence confirm/all-queues
    confirm/unroutable-messages]
confirm-multiple-not-set: several messages are confirmed by the number of the last one alone
    [confirm/all-messages-acknowledged confirm/every-message]
confirmed-twice: each confirmation is sent twice [confirm/all-messages-acknowledged]
confirms-start-at-zero: the first message has the number 0 [confirm/sequence]
confirm-count-shared-by-channels: all channels share one count [confirm/sequence]
method-elsewhere-ends-content: a method on one channel ends the contents on their way in on the others
lowest-channel-alone-publishes: contents are thrown away unless they come on the lowest channel that is open
""")
