"""The output of a channel: methods, and messages with three of them: deliver, get-ok, return.

Knows: the arguments of each. Must not know: why anything is sent, frames.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from amqpspec.reference.connection import BrokerConnection
from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.contents import Children
from amqpspec.reference.methods.damage import damaged_header
from amqpspec.reference.model import Consumer, Deliveries, Entry, Message, Queue, Window
from amqpspec.wire.methods.codec import Call, Codec

_NOT_DELIVERED = 310
"""What early versions say, whatever kept a message from its queue."""


def is_quiet(call: Call) -> bool:
    """Whether a call wants no answer; dialects spell that in two ways."""
    return bool(call.args.get("no_wait") or call.args.get("nowait"))


class Sender(BrokerConnection):
    """A connection, as the output of its channels sees it."""

    codec: Codec
    window: Window

    @abstractmethod
    def send(self, number: int, name: str, /, **args: Any) -> None:
        """Send one method."""

    @abstractmethod
    def send_content(
        self, number: int, name: str, header: bytes, body: bytes, children: Children = (), /, **args: Any
    ) -> None:
        """Send one method with a content."""


class ChannelOutput:
    """The output of one channel, and what of it is not acknowledged yet."""

    def __init__(self, sender: Sender, number: int, deliveries: Deliveries) -> None:
        self._sender, self.number, self.deliveries = sender, number, deliveries
        self.faulty = sender.faulty
        self.consumers: dict[str, Consumer] = {}

    def send(self, name: str, /, **args: Any) -> None:
        """One method to the client."""
        self._sender.send(self.number, name, **args)

    def reply(self, call: Call, name: str, /, **args: Any) -> None:
        """Answer a call, unless it asked for no answer."""
        if not is_quiet(call) or self.faulty("no-wait-answered"):
            self.send(name, **args)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """A message for a consumer.

        One that needs no acknowledgement gets a tag all the same: tags count what a channel was sent (0-9-1 §1.8.3.13).
        """
        hold = self.deliveries.hold
        final = consumer.no_ack and not self._fills_windows
        tag = self.deliveries.next_tag() if final else hold(entry, consumer.queue, consumer)
        consumer_tag = consumer.tag
        if self.faulty("deliver-names-another-consumer") and len(self.consumers) > 1:
            consumer_tag = next(t for t in self.consumers if t != consumer.tag)
        self._send_message(
            "basic.deliver", entry.message,
            consumer_tag=consumer_tag, delivery_tag=tag, redelivered=self._flag(redelivered),
        )  # fmt: skip

    def send_got(self, queue: Queue, entry: Entry, redelivered: bool, no_ack: bool) -> None:
        """A message for a get; it fills no window, as nothing is sent ahead."""
        final = no_ack and not self.faulty("no-ack-waits-for-ack")
        tag = self.deliveries.next_tag() if final else self.deliveries.hold(entry, queue, None)
        count = queue.ready_count + self.faulty("get-ok-counts-itself")
        self._send_message(
            "basic.get-ok", entry.message,
            delivery_tag=tag, redelivered=self._flag(redelivered), message_count=count,
        )  # fmt: skip

    def send_back(self, message: Message, code: int, text: str) -> None:
        """A message that its publisher gets back."""
        if self.faulty("return-code-wrong"):
            code = 404
        if code not in self._sender.codec.dialect.codes:
            code = _NOT_DELIVERED
        self._send_message("basic.return", message, reply_code=code, reply_text=text)

    @property
    def _fills_windows(self) -> bool:
        return self.faulty("no-ack-waits-for-ack") or self.faulty("prefetch-limits-no-ack")

    def _flag(self, redelivered: bool) -> bool:
        if self.faulty("redelivered-never-set"):
            return False
        return redelivered or self.faulty("redelivered-always-set")

    def _send_message(self, name: str, message: Message, **args: Any) -> None:
        exchange, key = message.exchange, message.routing_key
        if self.faulty("origin-forgotten"):
            exchange, key = "", ""
        if self.faulty("routing-key-cut"):
            key = key[:127]
        if self.faulty("strings-of-ascii-only"):
            key = key.encode("ascii", "ignore").decode()
        header = damaged_header(self._sender.codec, self.faulty, message.header)
        body = message.body[::-1] if self.faulty("body-modified") else message.body
        self._sender.send_content(
            self.number, name, header, body, message.children, exchange=exchange, routing_key=key, **args
        )


FAULTS = fault_table("""
body-modified: the body of a message is reversed [wire/content/unmodified]
routing-key-cut: routing keys arrive with 127 octets [wire/strings/shortstr-full-length]
return-code-wrong: a message is returned with another code [basic/return constant/no-route constant/no-consumers]
origin-forgotten: a delivery does not contain its exchange and key [basic/deliver/origin basic/return]
deliver-names-another-consumer: a delivery names another consumer of the channel
    [basic/consume basic/consume/consumer-tag/generated]
redelivered-never-set: redelivered is never set
    [domain/redelivered/implementation-flag basic/recover/redelivered basic/recover-async/redelivered]
redelivered-always-set: redelivered is always set [domain/redelivered/implementation-flag]
get-ok-counts-itself: get-ok counts its own message as still waiting [basic/get-ok domain/message-count]
strings-of-ascii-only: what is not ASCII is lost from short strings
no-wait-answered: a method with no-wait is answered [domain/no-wait queue/declare/no-wait exchange/no-wait]
""")
