"""The unsettled deliveries of a channel, and its prefetch windows.

Knows: delivery tags from 1 upwards, prefetch by count and by octets, what a transaction holds back. Must not know:
methods, reply codes, what happens to a settled message.
"""

from __future__ import annotations

from dataclasses import dataclass

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model.messages import Entry
from amqpspec.reference.model.queues import Consumer, Queue


class Window:
    """A limit on unacknowledged messages: in number and in octets of their bodies; zero is no limit."""

    __slots__ = ("count", "faulty", "max_count", "max_octets", "octets")

    def __init__(self, on: Deviations) -> None:
        self.max_count = self.max_octets = self.count = self.octets = 0
        self.faulty = on.faulty

    def admits(self, size_octets: int) -> bool:
        """Whether one more message may be sent.

        Octets do not limit who has nothing to do: a message larger than the window would never be sent (basic.qos).
        """
        limit = self.max_count + self.faulty("prefetch-one-too-many") if self.max_count else 0
        limit -= bool(self.faulty("prefetch-one-too-few") and limit > 1)
        if limit and self.count >= limit:
            return False
        zero_limits = bool(self.max_count) and self.faulty("zero-octets-is-a-limit")
        unlimited = not self.max_octets and not zero_limits
        if unlimited or self.faulty("prefetch-size-ignored"):
            return True
        if not self.count and not self.faulty("prefetch-size-limits-first"):
            return True
        return self.octets + size_octets <= self.max_octets

    def take(self, size_octets: int) -> None:
        """Count a message in."""
        self.count += 1
        self.octets += size_octets

    def give_back(self, size_octets: int) -> None:
        """Count a message out."""
        self.count -= 1
        self.octets -= size_octets


@dataclass(slots=True, eq=False)
class Delivery:
    """One message sent under one tag."""

    tag: int
    entry: Entry
    queue: Queue
    consumer: Consumer | None


class Deliveries:
    """One channel's deliveries; ``held_back`` are those that an open transaction has settled."""

    def __init__(self, on: Deviations, shared: Window) -> None:
        self.window, self._shared = Window(on), shared
        self.outstanding: dict[int, Delivery] = {}
        self.held_back: dict[int, Delivery] = {}
        self.faulty = on.faulty
        self.last_tag = -1 if self.faulty("delivery-tags-start-at-zero") else 0

    def admits(self, size_octets: int) -> bool:
        """Whether both windows allow one more message."""
        shared = self._shared.admits(size_octets) or self.faulty("global-prefetch-ignored")
        return shared and self.window.admits(size_octets)

    def admits_to(self, consumer: Consumer) -> bool:
        """Whether a window that a consumer does not share would allow one more message."""
        held = sum(delivery.consumer is consumer for delivery in self.outstanding.values())
        return not self.window.max_count or held < self.window.max_count

    def next_tag(self) -> int:
        """A tag of its own."""
        if self.faulty("delivery-tags-repeat") and self.last_tag == 2:
            return self.last_tag
        self.last_tag += 1
        return self.last_tag

    def hold(self, entry: Entry, queue: Queue, consumer: Consumer | None) -> int:
        """Remember a message until it is settled; what a consumer was sent ahead fills the windows."""
        tag = self.next_tag()
        self.outstanding[tag] = Delivery(tag, entry, queue, consumer)
        if consumer is not None:
            self.window.take(entry.message.size_octets)
            self._shared.take(entry.message.size_octets)
        return tag

    def select(self, tag: int, multiple: bool) -> list[Delivery] | None:
        """The deliveries that a tag means; None if it means none of them."""
        if multiple and tag == 0:
            return [] if self.faulty("tag-zero-means-none") else list(self.outstanding.values())
        if tag not in self.outstanding:
            return None
        if not multiple and not self.faulty("multiple-always-meant"):
            return [self.outstanding[tag]]
        if self.faulty("multiple-leaves-last"):
            return [d for t, d in self.outstanding.items() if t < tag]
        if self.faulty("multiple-takes-one-more"):
            return [d for t, d in self.outstanding.items() if t <= tag + 1]
        if self.faulty("multiple-means-one"):
            return [self.outstanding[tag]]
        return [d for t, d in self.outstanding.items() if t <= tag]

    def hold_back(self, delivery: Delivery) -> None:
        """Settle under a transaction: no one else may, and the windows stay as they are until commit."""
        del self.outstanding[delivery.tag]
        self.held_back[delivery.tag] = delivery

    def give_back(self) -> None:
        """A transaction was rolled back: what it settled is outstanding again."""
        self.outstanding = dict(sorted((self.outstanding | self.held_back).items()))
        if self.faulty("rolled-back-again-each-time"):
            return
        self.held_back = {}

    def release(self, delivery: Delivery) -> None:
        """A delivery is settled: forget its tag, open the windows."""
        if self.faulty("commit-opens-no-window"):
            self.held_back.pop(delivery.tag, None)
        known = self.outstanding.pop(delivery.tag, None) or self.held_back.pop(delivery.tag, None)
        if known is delivery and delivery.consumer is not None and not self.faulty("window-never-reopens"):
            self.window.give_back(delivery.entry.message.size_octets)
            self._shared.give_back(delivery.entry.message.size_octets)

    def release_all(self) -> list[Delivery]:
        """Forget everything, in the order of the tags; returns what it was."""
        self.give_back()
        everything = list(self.outstanding.values())
        for delivery in everything:
            self.release(delivery)
        return everything


FAULTS = fault_table("""
prefetch-one-too-many: one message more is sent than prefetch-count allows [basic/qos/prefetch-count/no-more]
prefetch-size-ignored: prefetch-size limits nothing [basic/qos/prefetch-size]
prefetch-size-limits-first: a message larger than prefetch-size is never sent [basic/qos/prefetch-size/single-message]
window-never-reopens: an acknowledgement does not open the window [basic/qos/prefetch-count]
commit-opens-no-window: a committed acknowledgement does not open the window
    [basic/qos/prefetch-count]
rolled-back-again-each-time: a rollback returns messages that an earlier one returned, wherever they are by now
    [tx/rollback]
prefetch-one-too-few: one message less is sent than allowed [basic/qos/prefetch-count/less]
zero-octets-is-a-limit: with a prefetch-size of zero and a prefetch-count, nothing is delivered
    [basic/qos/prefetch-size]
global-prefetch-ignored: the window of the connection limits nothing [basic/qos/global]
delivery-tags-start-at-zero: the first delivery tag is zero [domain/delivery-tag/non-zero]
delivery-tags-repeat: delivery tags do not exceed 2 [basic/ack/multiple]
multiple-leaves-last: multiple leaves the message that it names [basic/ack/multiple basic/nack/multiple]
multiple-takes-one-more: multiple takes the message after the one that it names
    [basic/ack/multiple basic/nack/multiple]
multiple-means-one: multiple is not understood [basic/ack/multiple basic/nack/multiple]
multiple-always-meant: a single message cannot be meant [basic/ack/multiple basic/nack/multiple]
tag-zero-means-none: multiple with the tag zero does nothing [basic/ack/multiple basic/nack/multiple]
""")
