"""One channel of a connection: its state, the content on its way in, what it has delivered.

Knows: open, closing, flow, contents frame by frame, current queue, consumers, deliveries, confirms.
Must not know: what a method means; the handlers do.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from harness.reference.amqp_0_9_1 import outgoing, wire
from harness.reference.amqp_0_9_1.handlers import CONTENT_HANDLERS, SESSION_HANDLERS
from harness.reference.model import Consumer, Deliveries, Delivery, Entry, Message, Queue, VirtualHost
from harness.reference.refusing import RefusedError
from harness.wire.errors import WireError
from harness.wire.methods import Call, ContentHeader

if TYPE_CHECKING:
    from harness.reference.amqp_0_9_1.link import Link
    from harness.reference.amqp_0_9_1.tx import Transaction

MAX_BODY_OCTETS = 8 << 30
_CLASS_AND_WEIGHT = struct.Struct(">HH")


@dataclass(slots=True)
class Content:
    """A content on its way in: the method that announced it, then its header, then its body."""

    call: Call
    header: ContentHeader | None = None
    header_octets: bytes = b""
    parts: list[bytes] = field(default_factory=list)
    missing_octets: int = 0


class Session:
    """One channel."""

    def __init__(self, link: Link, number: int) -> None:
        self.link, self.number = link, number
        self.faulty = link.faulty
        self.key = next(link.core.numbers)
        self.owner: object = link
        self.opened = self.closing = self.released = False
        self.active = True
        self.content: Content | None = None
        self.current_queue = ""
        self.consumers: dict[str, Consumer] = {}
        self.ended_tags: set[str] = set()
        self.deliveries = Deliveries(link.on, link.window)
        self.transaction: Transaction | None = None
        self.confirming = False
        self.published = self.confirmed = 0
        self.flow_asked: list[bool] = []

    # --- what handlers use

    @property
    def vhost(self) -> VirtualHost:
        """The virtual host of the connection."""
        assert self.link.vhost is not None
        return self.link.vhost

    def refuse(self, rule: str, text: str) -> None:
        """Raise for a broken rule; return if a fault lets it pass."""
        self.link.refuse(rule, text)

    def send(self, name: str, /, **args: Any) -> None:
        """One method to the client."""
        self.link.send(self.number, name, **args)

    def reply(self, call: Call, name: str, /, **args: Any) -> None:
        """Answer a call, unless it asked for no answer."""
        quiet = call.args.get("no_wait") or call.args.get("nowait")
        if not quiet or self.faulty("no-wait-answered"):
            self.send(name, **args)

    # --- methods in

    def on_method(self, call: Call) -> None:
        """A method has come."""
        if self.content is not None and not self.closing:
            self._abort_content(call.name)
        if not self._permitted(call):
            self.refuse("constant/access-refused", f"{call.name} is not permitted")
        try:
            SESSION_HANDLERS[call.name](self, call)
        except RefusedError:
            if not (call.args.get("no_wait") and self.faulty("no-wait-failure-swallowed")):
                raise

    def _abort_content(self, name: str) -> None:
        content, self.content = self.content, None
        assert content is not None
        if content.header is None:
            self.refuse("amq_wlp_content_01", f"{name} where a content header was due")
        else:
            self.refuse("wire/content/aborted-by-method", f"{name} inside a content")
            content.missing_octets = 0
            self._complete(content)

    def _permitted(self, call: Call) -> bool:
        user = self.link.user
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
            for other in self.link.sessions.values():
                other.content = None
        self.content = Content(call)

    def on_content(self, kind: int, payload: bytes) -> None:
        """A frame of a content has come."""
        if kind == wire.HEADER:
            self._on_header(payload)
        else:
            self._on_body(payload)

    def _on_header(self, payload: bytes) -> None:
        content = self.content
        if content is None:
            self.refuse("wire/content/unexpected-header", "a content header that no method announced")
            return
        if content.header is not None:
            self._on_second_header()
            return
        self.content = None
        content.header = self._read_header(content.call, payload)
        if content.header is None:
            return
        self.content = content
        content.header_octets = payload
        content.missing_octets = content.header.body_size_octets
        self._complete(content)

    def _on_second_header(self) -> None:
        if not self.faulty("contents-within-contents-taken"):
            self.content = None
            self.refuse("amq_wlp_content_01", "a second content header where the body was due")

    def _read_header(self, call: Call, payload: bytes) -> ContentHeader | None:
        if len(payload) >= _CLASS_AND_WEIGHT.size:
            class_id, weight = _CLASS_AND_WEIGHT.unpack_from(payload)
            if class_id != call.method.class_id:
                self.refuse("amq_wlp_content_02", f"content of class {class_id} after {call.name}")
                return None
            if weight and not self.faulty("contents-within-contents-taken"):
                self.refuse("amq_wlp_content_05", f"content with the weight {weight}")
        if self.faulty("continued-flags-not-read") and payload[13] & 1:
            self.refuse("wire/content/malformed-header", "more than one word of flags")
        try:
            header = self.link.codec.decode_header(payload)
        except WireError as error:
            self.refuse("wire/content/malformed-header", str(error))
            return None
        wire.check_values(header.properties, self.refuse)
        if self.faulty("field-names-begin-with-letters-only") and wire.any_field(
            header.properties, lambda name, _: name[:1] in "$#"
        ):
            self.refuse("amq_wlp_table_01", "a field name that begins with a sign")
        if header.body_size_octets > MAX_BODY_OCTETS:
            self.refuse("constant/content-too-large", f"a body of {header.body_size_octets} octets")
        return header

    def _on_body(self, payload: bytes) -> None:
        content = self.content
        if content is None:
            self.refuse("wire/content/unexpected-body", "a content body that no method announced")
            return
        if content.header is None:
            self.content = None
            self.refuse("amq_wlp_content_01", "a content body where its header was due")
            return
        if len(payload) > content.missing_octets:
            self.content = None
            self.refuse(
                "wire/content/body-exceeds-size", f"{len(payload) - content.missing_octets} octets too many"
            )
            return
        content.parts.append(payload)
        content.missing_octets -= len(payload)
        self._complete(content)

    def _complete(self, content: Content) -> None:
        if content.missing_octets or content.header is None:
            return
        self.content = None
        body = b"".join(content.parts)
        CONTENT_HANDLERS[content.call.name](self, content.call, content.header, content.header_octets, body)

    # --- the taker of queues

    @property
    def flowing(self) -> bool:
        """Whether the client takes deliveries just now."""
        return self.active and (not self.closing or self.faulty("consumer-outlives-channel"))

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether the windows and the socket allow one more message."""
        if self.link.congested:
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
        notify = self.link.capabilities.get("consumer_cancel_notify") is True
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
            self.published = 1 + sum(session.confirmed for session in self.link.sessions.values())
        self.link.unconfirmed[self.number] = self
        self.link.core.with_output.add(self.link)

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
        self.link.send(self.number, "channel.close", **self.link.reason(code, text))
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
