"""Handles: their subscriptions and windows, and how they send messages.

Knows: subscriptions, their windows and selectors, pausing, browsing. Must not know: octets that come in, rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from amqpspec.reference.amqp_fast_0_8.carrier import Carrier
from amqpspec.reference.amqp_fast_0_8.channels import Channel, Delivery, Download
from amqpspec.reference.amqp_fast_0_8.destinations import matches
from amqpspec.reference.amqp_fast_0_8.limits import INDEX_MAX
from amqpspec.reference.amqp_fast_0_8.messages import cut, notifies
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry, Message, Queue
from amqpspec.wire.amqp_fast_0_8.frames import command_frame


class Subscription:
    """What one CONSUME asked for: the taker of its queue's messages."""

    def __init__(self, handle: Handle, prefetch: int, selector: Mapping[str, tuple[str, Any]]) -> None:
        self.handle, self.prefetch, self.selector = handle, prefetch, selector
        self.carrier = handle.carrier
        self.owner: object = handle.carrier
        self.key = next(handle.carrier.core.numbers)
        self.unacked = 0
        self.faulty = handle.faulty

    @property
    def flowing(self) -> bool:
        """Whether its handle is not paused."""
        first = self.handle.consumers[0].taker.key == self.key if self.handle.consumers else True
        if self.handle.paused and self.faulty("flow-pauses-one-destination"):
            return not first
        return not self.handle.paused

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether its window is open, its channel free, and its selector accepts the message."""
        channel = self.handle.channel
        if self.carrier.congested or channel.download is not None:
            return False
        limit = self.prefetch + self.faulty("prefetch-one-more") - self.faulty("prefetch-one-less")
        counted = not consumer.no_ack or self.faulty("no-ack-fills-the-window")
        if counted and self.unacked >= limit and not self.faulty("prefetch-ignored"):
            return False
        return matches(self.selector, message, self.faulty)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a message."""
        channel, handle = self.handle.channel, self.handle
        number = channel.next_number()
        if not consumer.no_ack:
            channel.hold(Delivery(number, entry, consumer.queue, handle.id, self.key, self))
        elif self.faulty("no-ack-fills-the-window"):
            self.unacked += 1
        redelivered = redelivered or self.faulty("everything-is-redelivered")
        handle.notify(entry.message, number, delivered=True, redelivered=redelivered)

    def cancelled(self, consumer: Consumer) -> None:
        """Its queue is gone."""
        if consumer in self.handle.consumers:
            self.handle.consumers.remove(consumer)


class Handle:
    """One handle; ``rights`` are producer, consumer and browser as its OPEN asked for them."""

    def __init__(self, carrier: Carrier, id: int, channel: Channel, args: Mapping[str, Any]) -> None:
        self.carrier, self.id, self.channel, self.faulty = carrier, id, channel, carrier.faulty
        self.rights = {name: bool(args[name]) for name in ("producer", "consumer", "browser")}
        self.consumers: list[Consumer] = []
        self.topics: set[Consumer] = set()
        self.paused = self.faulty("handles-begin-paused")
        self.browsed: Queue | None = None

    # --- messages out

    def notify(self, message: Message, number: int, *, delivered: bool, redelivered: bool) -> None:
        """Send a message, in as many fragments as the client's FRAME_MAX takes."""
        octets = message.header + message.body
        pieces = cut(octets, self.carrier.frame_max_octets, self.faulty)
        flags = {
            "delivered": delivered != self.faulty("delivered-flag-inverted"),
            "redelivered": redelivered,
            "message_nbr": number,
        }
        if self._prepares(pieces):
            self._prepare(message, flags)
        else:
            self._put(pieces, message.routing_key, flags)

    def _put(self, pieces: list[bytes], name: str, flags: Mapping[str, Any]) -> None:
        id = self.id + 1 if self.faulty("notify-names-another-handle") else self.id
        octets = list(notifies(pieces, name, self.faulty, handle_id=id, **flags))
        if len(octets) > 1 and self.faulty("large-message-in-one-go"):
            octets = [b"".join(octets)]
        if len(octets) > 1 and self.faulty("something-between-fragments"):
            octets.insert(1, command_frame("channel.reply", channel_id=self.channel.id, reply_code=200))
        self.channel.put(*octets)

    def _prepares(self, pieces: list[bytes]) -> bool:
        """Whether a message goes out by PREPARE: where the channel is restartable and fragments are several."""
        if not self.channel.restartable and not self.faulty("prepare-unasked"):
            return False
        if self.faulty("no-prepare-for-large-messages"):
            return False
        return len(pieces) > 1 or self.faulty("prepare-for-one-fragment")

    def _prepare(self, message: Message, flags: Mapping[str, Any]) -> None:
        room = max(0, self.carrier.frame_max_octets - len(message.header))
        first = message.body[:room]

        def finish(size: int) -> None:
            size = len(first) if self.faulty("ready-of-client-ignored") else min(size, len(message.body))
            rest = message.body[size:]
            if self.faulty("whole-message-behind-ready"):
                rest = message.header + message.body
            recovery = not self.faulty("recovery-not-marked")
            pieces = cut(rest, self.carrier.frame_max_octets, self.faulty)
            self._put(pieces, message.routing_key, {**flags, "recovery": recovery})

        self.channel.download = Download(self.id, message.header, message.body, len(first), finish)
        head = message.header[:-1] if self.faulty("prepare-with-half-a-head") else message.header
        self.channel.say("handle.prepare", handle_id=self.id, fragment=head + first)
        if self.faulty("prepares-in-batches"):
            self.channel.say("handle.prepare", handle_id=self.id, fragment=head + first)

    def ready(self, size: int) -> None:
        """The client has so much of the message that was prepared."""
        download = self.channel.download
        if download is None or download.handle != self.id:
            return
        self.channel.download = None
        download.finish(size)
        self.carrier.pump()

    # --- browsing

    def index(self, queue: Queue | None, least: int) -> tuple[int, list[int]]:
        """The numbers of what waits in a queue, and the highest of them if there are more."""
        self.browsed = queue
        entries = [] if queue is None else sorted(queue.ready(), key=lambda entry: entry.position)
        least += self.faulty("query-means-greater") and least > 0
        least = 0 if self.faulty("query-number-ignored") else least
        numbers = [entry.position for entry in entries if entry.position >= least]
        if self.faulty("query-zero-means-none") and not least:
            numbers = []
        more = len(numbers) > INDEX_MAX
        numbers = numbers[:INDEX_MAX]
        if self.faulty("index-forgets-what-is-more"):
            more = False
        if self.faulty("index-always-says-more") and numbers:
            more = True
        return (numbers[-1] if more else 0), numbers

    def browse(self, number: int) -> bool:
        """Show a message without delivering it; False if it is gone."""
        entries = [] if self.browsed is None else list(self.browsed.ready())
        entry = next((e for e in entries if e.position == number), None)
        if entry is None or self.browsed is None:
            return False
        self.notify(entry.message, number, delivered=False, redelivered=False)
        if self.faulty("browsing-consumes"):
            self.browsed.take(entry, keep=False)
        if self.faulty("browsing-counts-as-delivery"):
            entry.deliveries += 1
        return True

    # --- the end

    def stop(self) -> None:
        """Read nothing any more."""
        consumers, self.consumers = self.consumers, []
        for consumer in consumers:
            if consumer in consumer.queue.consumers:
                consumer.queue.consumers.remove(consumer)
            if consumer in self.topics:
                self.carrier.destinations.unsubscribe(consumer)
        kept = self.faulty("closed-handle-keeps-its-download")
        if self.channel.download is not None and self.channel.download.handle == self.id and not kept:
            self.channel.download = None


def listed(numbers: list[int], faulty: Any) -> bytes:
    """Numbers as INDEX lists them: single ones, and ranges with a hyphen."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    if faulty("index-ranges-one-short"):
        ranges = [[low, max(low, high - 1)] for low, high in ranges]
    separator, hyphen = (",", "..") if faulty("index-in-another-syntax") else (" ", "-")
    return separator.join(str(a) if a == b else f"{a}{hyphen}{b}" for a, b in ranges).encode()


FAULTS = fault_table("""
flow-pauses-one-destination: FLOW pauses the first destination of a handle only [handle/flow/all-destinations]
prefetch-one-more: one message more is sent than prefetch allows [handle/consume/prefetch]
prefetch-one-less: one message less is sent than prefetch allows
    [handle/consume/prefetch handle/consume/prefetch-range]
prefetch-ignored: prefetch limits nothing [handle/consume/prefetch]
no-ack-fills-the-window: messages that need no ACK wait for one [handle/consume/no-ack]
everything-is-redelivered: every message is marked as redelivered [handle/notify/redelivered]
handles-begin-paused: a handle has to be started by FLOW [handle/flow/on]
delivered-flag-inverted: consumed messages are marked as browsed, and browsed ones as delivered
    [handle/notify/delivered scenarios/browsing/not-delivered handle/browse/available]
notify-names-another-handle: NOTIFY has the handle-id of another handle [handle/notify/handle ids/never-the-server]
large-message-in-one-go: no other channel gets a word in between the fragments of a message
    [channels/no-starvation channels/fair-sharing]
something-between-fragments: a command is sent between the fragments of a message
    [scenarios/receiving/fragments handle/notify/consecutive]
prepare-unasked: PREPARE is sent on channels without restartable mode [restartable/not-unasked]
no-prepare-for-large-messages: large messages begin with NOTIFY, whatever the mode [restartable/recommended]
prepare-for-one-fragment: PREPARE is sent for messages that fit into one fragment
    [restartable/not-for-one-fragment]
ready-of-client-ignored: the octets that READY reports are sent again, or not at all
    [handle/notify/restarted handle/notify/recovery restartable/rest]
whole-message-behind-ready: after READY, the whole message is sent
    [handle/notify/restarted restartable/rest handle/summary/server/ready]
recovery-not-marked: after READY, NOTIFY is not marked as a recovery [handle/notify/recovery]
prepare-with-half-a-head: the head in PREPARE is cut short [handle/prepare/carries restartable/question]
prepares-in-batches: a second PREPARE follows before the READY to the first [handle/prepare/not-batched]
closed-handle-keeps-its-download: a handle that closes between PREPARE and READY stops its channel
    [handle/close/ended]
query-means-greater: QUERY lists numbers greater than its own [handle/query/from]
query-number-ignored: QUERY lists everything, whatever its number [handle/query/from]
query-zero-means-none: QUERY with number zero lists nothing
    [handle/query/all scenarios/browsing/index handle/index/answer handle/summary/server/query]
index-forgets-what-is-more: a truncated list is not marked as such [handle/index/more]
index-always-says-more: a complete list announces more messages [handle/index/more]
browsing-consumes: a browsed message is removed [scenarios/browsing/untouched]
browsing-counts-as-delivery: a message that was browsed is marked as redelivered [scenarios/browsing/untouched]
index-ranges-one-short: ranges in INDEX end one number too early [handle/index/list handle/index/range]
index-in-another-syntax: INDEX separates numbers with commas [handle/index/list]
""")
