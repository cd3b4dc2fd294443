"""Channels: their unacknowledged deliveries, their transaction, and their ordered output.

Knows: message numbers, windows by subscription, what commit and rollback do. Must not know: octets that come in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from amqpspec.reference.amqp_fast_0_8.carrier import Carrier
from amqpspec.reference.amqp_fast_0_8.limits import TXN_LIMIT
from amqpspec.reference.amqp_fast_0_8.messages import Head
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Entry, Queue
from amqpspec.wire.amqp_fast_0_8.frames import command_frame


class Window(Protocol):
    """Who counts deliveries that are not acknowledged."""

    unacked: int


@dataclass(slots=True, eq=False)
class Delivery:
    """One message that was delivered; ``acked`` within a transaction that is not over."""

    number: int
    entry: Entry
    queue: Queue
    handle: int
    key: int
    window: Window
    acked: bool = False


@dataclass(slots=True)
class Arriving:
    """A message of which not all fragments have arrived."""

    handle: int
    parts: list[bytes] = field(default_factory=list)


@dataclass(slots=True)
class Download:
    """A restartable message for the client, between PREPARE and READY."""

    handle: int
    head: bytes
    body: bytes
    carried: int
    finish: Callable[[int], None]


class Channel:
    """One channel."""

    def __init__(self, carrier: Carrier, id: int, transacted: bool, restartable: bool) -> None:
        self.carrier, self.id, self.faulty = carrier, id, carrier.faulty
        self.transacted, self.restartable = transacted, restartable
        self.out: deque[bytes] = deque()
        self.arriving: Arriving | None = None
        self.upload: Head | None = None
        self.download: Download | None = None
        self._next_number = 1
        self._held: list[bytes] = []
        self._outstanding: dict[int, Delivery] = {}
        self._sends: list[Callable[[], None]] = []

    # --- output

    def say(self, name: str, **fields: Any) -> None:
        """One command, after what waits on this channel."""
        octets = command_frame(name, **fields)
        if name == "handle.reply" and self.faulty("replies-held-back"):
            self._held.append(octets)
            self.carrier.has_output()
        else:
            self.put(octets)

    def release_held(self) -> bool:
        """Say what a fault held back; whether there was anything."""
        held, self._held = self._held, []
        self.out.extend(held)
        return bool(held)

    def put(self, *octets: bytes) -> None:
        """Octets, after what waits on this channel."""
        self.out.extend(octets)
        self.carrier.has_output()

    # --- deliveries

    @property
    def next_in_line(self) -> int:
        """The number that the next delivery gets."""
        return self._next_number

    def next_number(self) -> int:
        """The number of the next delivery."""
        number = self._next_number
        self._next_number += 2 if self.faulty("message-numbers-skip") else 1
        return number

    def hold(self, delivery: Delivery) -> None:
        """Remember a delivery until it is settled."""
        self._outstanding[delivery.number] = delivery
        delivery.window.unacked += 1

    def ack(self, number: int) -> None:
        """Settle everything up to a number; in a transaction, once that is committed."""
        for delivery in self._covered(number):
            if not delivery.acked:
                delivery.window.unacked -= 1
            delivery.acked = True
            if not self.transacted or self.faulty("acks-outside-transactions"):
                self._settle(delivery)
        self.carrier.pump()

    def _covered(self, number: int) -> list[Delivery]:
        if self.faulty("ack-needs-the-exact-number") and number not in self._outstanding:
            return []
        if self.faulty("ack-means-one-message"):
            return [d for n, d in self._outstanding.items() if n == number]
        if self.faulty("ack-leaves-the-last"):
            return [d for n, d in self._outstanding.items() if n < number]
        found = [d for n, d in self._outstanding.items() if n <= number]
        if self.faulty("ack-covers-one-handle") and found:
            return [d for d in found if d.handle == found[-1].handle]
        return found

    def _settle(self, delivery: Delivery) -> None:
        self._outstanding.pop(delivery.number, None)
        delivery.queue.settle(delivery.entry)

    def unget(self, handle: int, number: int) -> bool:
        """Give one message back, to be passed to others; False if the number is not a message of this handle."""
        delivery = self._outstanding.get(number)
        if delivery is None or delivery.acked or delivery.handle != handle:
            return False
        if not self.faulty("unget-goes-back-to-the-same-reader"):
            delivery.entry.refused_by.add(delivery.key)
        del self._outstanding[number]
        delivery.window.unacked -= 1
        if self.faulty("unget-drops-the-message"):
            delivery.queue.settle(delivery.entry)
        delivery.queue.requeue([delivery.entry])
        delivery.queue.dispatch()
        return True

    def _give_back(self) -> None:
        """Everything that is not settled goes back to its queue."""
        everything, self._outstanding = list(self._outstanding.values()), {}
        for delivery in everything:
            delivery.window.unacked -= not delivery.acked
            if self.faulty("redelivered-not-marked"):
                delivery.entry.deliveries = 0
            delivery.queue.requeue([delivery.entry])
        for queue in {delivery.queue for delivery in everything}:
            queue.dispatch()

    # --- transactions

    def send(self, action: Callable[[], None]) -> None:
        """Do what sends a message, in a transaction once that is committed."""
        if not self.transacted or self.faulty("sends-outside-transactions"):
            action()
            return
        if len(self._sends) >= 10 and self.faulty("transactions-of-ten"):
            self.carrier.refuse("tuning/txn-limit", "more than ten messages in a transaction")
        if len(self._sends) >= TXN_LIMIT - self.faulty("txn-limit-one-less"):
            self.carrier.refuse("tuning/txn-limit", f"more than {TXN_LIMIT} messages in a transaction")
        self._sends.append(action)

    def commit(self) -> None:
        """Make everything of the transaction final; the next one begins."""
        sends, self._sends = self._sends, []
        if self.faulty("commit-keeps-one-send"):
            sends = sends[:1]
        if self.faulty("commit-loses-sends"):
            sends = []
        for delivery in tuple(self._outstanding.values()):
            if not delivery.acked and self.faulty("commit-settles-acked-only"):
                continue
            delivery.window.unacked -= not delivery.acked
            if self.faulty("commit-forgets-acks"):
                delivery.acked = True
                continue
            self._settle(delivery)
        for send in sends:
            send()
        if self.faulty("one-transaction-only"):
            self.transacted = False
        self.carrier.pump()

    def rollback(self) -> None:
        """Cancel everything of the transaction; the next one begins."""
        if not self.faulty("rollback-keeps-sends"):
            self._sends = []
        if self.faulty("rollback-keeps-acks"):
            for delivery in [d for d in self._outstanding.values() if d.acked]:
                self._settle(delivery)
        if not self.faulty("rollback-keeps-deliveries"):
            self._give_back()
        if self.faulty("rollback-ends-transactions"):
            self.transacted = False
        self.carrier.pump()

    # --- the end

    def release(self) -> None:
        """Roll back and give back what is held."""
        self.out.clear()
        self.arriving = self.upload = self.download = None
        if self.faulty("close-commits"):
            for send in self._sends:
                send()
        self._sends = []
        if self.faulty("close-settles-deliveries"):
            for delivery in tuple(self._outstanding.values()):
                self._settle(delivery)
        self._give_back()


FAULTS = fault_table("""
message-numbers-skip: every second message number is left out [channel/ack/numbers]
acks-outside-transactions: an acknowledgement is final although its transaction is rolled back
    [channel/rollback/extent channel/commit/extent]
ack-needs-the-exact-number: an ACK whose number no message has does nothing [channel/ack/unknown-number]
ack-means-one-message: an ACK settles only the message with its number
    [scenarios/acknowledging/up-to channel/ack/all-destinations scenarios/acknowledging/when]
ack-leaves-the-last: an ACK leaves the message of its number
    [scenarios/acknowledging/up-to channel/ack/all-destinations]
ack-covers-one-handle: an ACK settles messages of one handle only
    [scenarios/acknowledging/per-channel channel/ack/all-destinations]
unget-goes-back-to-the-same-reader: a returned message goes to the reader that returned it
    [handle/unget/passed-on]
unget-drops-the-message: a returned message is lost [handle/unget/passed-on]
redelivered-not-marked: messages that are delivered again are not marked [handle/notify/redelivered]
sends-outside-transactions: messages of a transaction are sent at once
    [channel/commit/visible channel/rollback/extent channel/commit/extent transactions/begin]
txn-limit-one-less: the last message that TXN_LIMIT allows is refused [tuning/txn-limit]
transactions-of-ten: a transaction has at most ten messages, regardless of TXN_LIMIT [tuning/txn-limit/none]
replies-held-back: HANDLE REPLY is sent after the effects of later commands [scenarios/confirmations/not-batched]
commit-keeps-one-send: COMMIT sends the first message of a transaction only
    [channel/commit/extent channel/commit/mixture]
commit-loses-sends: COMMIT sends nothing
    [channel/commit/extent channel/commit/visible channel/open/transacted channel/summary/server/commit]
commit-settles-acked-only: COMMIT leaves messages that were not acknowledged [channel/commit/confirms-notify]
commit-forgets-acks: COMMIT does not make acknowledgements final [channel/commit/extent]
one-transaction-only: after the first COMMIT, a channel is no longer transacted [channel/commit/next]
rollback-keeps-sends: messages of a transaction that was rolled back are sent with the next one
    [channel/rollback/extent channel/open/transacted channel/summary/server/rollback]
rollback-keeps-acks: ROLLBACK does not undo acknowledgements [channel/rollback/extent]
rollback-keeps-deliveries: ROLLBACK does not return messages [channel/rollback/extent]
rollback-ends-transactions: after the first ROLLBACK, a channel is no longer transacted [channel/rollback/next]
close-commits: a channel that is closed commits its transaction
    [channel/close/released connection/close/released channel/summary/server/close
    connection/summary/server/physical-close]
close-settles-deliveries: a channel that is closed settles what it delivered
    [channel/close/released connection/close/released connection/summary/server/physical-close]
""")
