"""The state of the message class for a session: its subscriptions, its outstanding transfers.

Knows: which subscription may receive a message now, the form of a transfer, what returns when the session ends. Must
not know: the command that caused a change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from amqpspec.reference.amqp_0_10 import damage
from amqpspec.reference.amqp_0_10.credit import Credit
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_0_10.work import Held, Work
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry, Message, Queue
from amqpspec.wire.amqp_0_10.instructions import decode_header, encode_header
from amqpspec.wire.amqp_0_10.serial import MODULUS, SerialSet
from amqpspec.wire.amqp_0_10.values import Packed

DELIVERY, FRAGMENT, MESSAGE = (
    "message.delivery-properties",
    "message.fragment-properties",
    "message.message-properties",
)
EXPLICIT, NONE = 0, 1
PRE_ACQUIRED, NOT_ACQUIRED = 0, 1


@dataclass(slots=True, eq=False)
class Subscription:
    """One subscription of a session; ``seen`` are the positions of messages that were shown in mode not-acquired."""

    destination: str
    consumer: Consumer
    accept_mode: int
    acquire_mode: int
    credit: Credit
    seen: set[int] = field(default_factory=set)


class Taker:
    """The session as the taker of the model's queues."""

    def __init__(self, session: Session) -> None:
        self.session, self.key, self.faulty = session, session.key, session.faulty
        self.owner: object = session
        self.subscriptions: dict[str, Subscription] = {}
        self.held: dict[int, Held] = {}
        """Transfers by id that are neither accepted nor released."""
        self.in_windows: dict[int, tuple[Subscription, int]] = {}
        """Transfers by id that are not completed, and their octets."""
        self.flushing = False
        self.work: Work | None = None
        """The transaction of transfers and accepts; None: none."""
        session.at_end.append(self.release)
        session.on_completed.append(self.completed)

    # --- questions of queues

    @property
    def flowing(self) -> bool:
        """Whether transfers can be sent now."""
        return self.session.carrier is not None

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether credit and the socket allow one more message; a subscription that does not acquire never takes
        one.
        """
        subscription = self.subscriptions.get(consumer.tag)
        if subscription is None or not self._open():
            return False
        pre_acquired = subscription.acquire_mode == PRE_ACQUIRED or self.faulty("everything-acquired")
        return pre_acquired and subscription.credit.admits(self._size(message))

    def _open(self) -> bool:
        carrier = self.session.carrier
        if carrier is None:
            return False
        return not carrier.congested or self.flushing or self.faulty("busy-channel-starves-others")

    def _size(self, message: Message) -> int:
        """The size of header and body, which credit in octets counts."""
        header = (
            0 if self.faulty("headers-cost-no-credit") else len(encode_header(decode_header(message.header)))
        )
        return header + len(message.body)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a message that was removed from its queue."""
        subscription = self.subscriptions[consumer.tag]
        number = self._send(subscription, entry, redelivered)
        if self.faulty("transferred-is-accepted"):
            consumer.queue.settle(entry)
        elif subscription.accept_mode == EXPLICIT or self.faulty("mode-none-waits-for-accept"):
            self.held[number] = Held(number, self.held, consumer.queue, entry, redelivered)

    def browse(self, subscription: Subscription) -> None:
        """Show each message of a queue once to a subscription that does not acquire."""
        queue = subscription.consumer.queue
        for entry in tuple(queue.ready()):
            if entry.position in subscription.seen or subscription.acquire_mode == PRE_ACQUIRED:
                continue
            if not (self._open() and subscription.credit.admits(self._size(entry.message))):
                return
            subscription.seen.add(entry.position)
            number = self._send(subscription, entry, entry.redelivered)
            if subscription.accept_mode == EXPLICIT or self.faulty("mode-none-can-be-acquired"):
                self.held[number] = Held(number, self.held, queue, entry, entry.redelivered, acquired=False)

    def _send(self, subscription: Subscription, entry: Entry, redelivered: bool) -> int:
        octets = self._size(entry.message)
        subscription.credit.spend(octets)
        local = self.faulty("destinations-lose-their-names")
        number = self.session.outgoing.next
        self.in_windows[number] = subscription, octets
        header = damage.header(_header(entry.message, redelivered, self), self.faulty)
        body = damage.body(entry.message.body, self.faulty)
        for part, (structs, octets_of) in enumerate(damage.pieces(header, body, self.faulty)):
            sent = self.session.command(
                "message.transfer",
                header=structs,
                body=octets_of,
                destination="" if local else subscription.destination,
                accept_mode=subscription.accept_mode,
                acquire_mode=PRE_ACQUIRED
                if self.faulty("acquire-mode-not-told")
                else subscription.acquire_mode,
            )
            number = number if part == 0 else sent
        return number

    def queues(self) -> list[Queue]:
        """The queues of its subscriptions."""
        return [subscription.consumer.queue for subscription in self.subscriptions.values()]

    def cancelled(self, consumer: Consumer) -> None:
        """A subscription's queue was deleted: the session ends after the current command."""
        self.subscriptions.pop(consumer.tag, None)
        asyncio.get_running_loop().call_soon(self._queue_gone, consumer.queue.name)

    def _queue_gone(self, name: str) -> None:
        carrier = self.session.carrier
        if carrier is not None:
            text = f"queue {name!r} was deleted"
            carrier.refuse_session(self.session, "message/subscribe/queue-deletion", text)
            self.session.core.flush()

    # --- reports of the client

    def completed(self, ids: SerialSet) -> None:
        """Transfers are complete on the client's side: their windows open again."""
        for number in [number for number in self.in_windows if number in ids]:
            subscription, octets = self.in_windows.pop(number)
            self.gives_back(subscription, octets)

    def gives_back(self, subscription: Subscription, octets: int) -> None:
        """A window opens by one message."""
        if subscription.credit.completed(octets):
            subscription.consumer.queue.dispatch()

    def named(self, ranges: Iterable[tuple[int, int]]) -> list[Held]:
        """The outstanding transfers in ranges of ids; other ids are ignored."""
        spans = [(lower, (upper - lower) % MODULUS) for lower, upper in ranges]
        return [
            held
            for number, held in self.held.items()
            if any((number - lower) % MODULUS <= span for lower, span in spans)
        ]

    # --- the end

    def leave(self, subscription: Subscription) -> None:
        """End a subscription; its transfers stay."""
        self.subscriptions.pop(subscription.destination, None)
        subscription.consumer.queue.watchers.pop(id(subscription), None)
        self.session.vhost.remove_consumer(subscription.consumer)

    def release(self) -> None:
        """Release everything: first leave the queues, then return messages that were not accepted."""
        for subscription in tuple(self.subscriptions.values()):
            if not self.faulty("subscriptions-outlive-sessions"):
                self.leave(subscription)
        if self.work is not None and self.work.ends_with_session:
            self.work.give_back()
        held = list(self.held.values())
        self.held.clear()
        for one in held:
            one.give_back(redelivered=not self.faulty("lost-session-leaves-no-trace"))
        if self.faulty("returned-messages-wait-for-a-new-subscription"):
            return
        for queue in {id(one.queue): one.queue for one in held}.values():
            queue.dispatch()


def taker_of(session: Session) -> Taker:
    """The state of messages for the session; created on first use."""
    if session.taker is None:
        session.taker = Taker(session)
    assert isinstance(session.taker, Taker)
    return session.taker


def _header(message: Message, redelivered: bool, taker: Taker) -> list[Any]:
    """The stored header segment, with the redelivered flag."""
    entries: list[Any] = []
    for entry in decode_header(message.header):
        if isinstance(entry, Packed) and entry.name == DELIVERY:
            kept = entry.fields.get("redelivered") and not taker.faulty("published-as-redelivered-forgotten")
            flag = bool(redelivered and not taker.faulty("redelivered-never-set")) or bool(kept)
            entry = Packed(entry.name, {**entry.fields, "redelivered": flag})
        entries.append(entry)
    return entries


FAULTS = fault_table("""
everything-acquired: mode not-acquired is treated as pre-acquired
    [message/acquire-mode/not-acquired message/accept/acquisition]
transferred-is-accepted: in explicit mode, a message is removed when it is sent [message/accept-mode/explicit]
mode-none-waits-for-accept: a message sent with accept-mode none returns unless accepted
    [message/accept-mode/none]
mode-none-can-be-acquired: a message delivered with accept-mode none can be acquired [message/accept-mode/none]
busy-channel-starves-others: a channel that delivers continues until everything is sent [transport/channels/fair]
headers-cost-no-credit: credit in octets counts bodies only [message/set-flow-mode/byte-accounting]
destinations-lose-their-names: deliveries have no destination [message/transfer/subscription]
acquire-mode-not-told: every delivery is marked as acquired [message/acquire-mode/not-acquired]
subscriptions-outlive-sessions: a subscription survives the end of its session
    [message/subscribe/lifetime]
lost-session-leaves-no-trace: unaccepted messages of an ended session return without redelivered
    [message/delivery-properties/redelivered/implementation/flag]
returned-messages-wait-for-a-new-subscription: unaccepted messages of an ended session do not reach waiting consumers
    [message/delivery-properties/redelivered/implementation/flag]
redelivered-never-set: redelivered is never set
    [message/delivery-properties/redelivered/implementation/flag message/release/set-redelivered/set]
published-as-redelivered-forgotten: the flag redelivered of a publisher is not passed on
    [message/delivery-properties/redelivered/kept]
""")
