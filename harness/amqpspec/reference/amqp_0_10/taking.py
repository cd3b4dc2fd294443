"""What the message class keeps for a session: its subscriptions, the transfers that it has not answered.

Knows: who may be sent a message now, what a transfer looks like, what returns when the session ends. Must not know:
which command brought it about.
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
    """One subscription of a session; ``seen`` are the places of what it was shown in mode not-acquired."""

    destination: str
    consumer: Consumer
    accept_mode: int
    acquire_mode: int
    credit: Credit
    seen: set[int] = field(default_factory=set)


class Taker:
    """What the queues of the model see of a session."""

    def __init__(self, session: Session) -> None:
        self.session, self.key, self.faulty = session, session.key, session.faulty
        self.owner: object = session
        self.subscriptions: dict[str, Subscription] = {}
        self.held: dict[int, Held] = {}
        """Transfers by id that are neither accepted nor given back."""
        self.in_windows: dict[int, tuple[Subscription, int]] = {}
        """Transfers by id that are not completed, and their octets."""
        self.flushing = False
        self.work: Work | None = None
        """The transaction to which transfers and accepts belong; None: to none."""
        session.at_end.append(self.release)
        session.on_completed.append(self.completed)

    # --- what queues ask

    @property
    def flowing(self) -> bool:
        """Whether transfers can go out just now."""
        return self.session.carrier is not None

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether credit and the socket allow one more message; who does not acquire never takes one."""
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
        """The payloads of header and body, which is what credit in octets counts."""
        header = (
            0 if self.faulty("headers-cost-no-credit") else len(encode_header(decode_header(message.header)))
        )
        return header + len(message.body)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Send a message that was taken out of its queue."""
        subscription = self.subscriptions[consumer.tag]
        number = self._send(subscription, entry, redelivered)
        if self.faulty("transferred-is-accepted"):
            consumer.queue.settle(entry)
        elif subscription.accept_mode == EXPLICIT or self.faulty("mode-none-waits-for-accept"):
            self.held[number] = Held(number, self.held, consumer.queue, entry, redelivered)

    def browse(self, subscription: Subscription) -> None:
        """Show the messages of a queue to who does not acquire, each once."""
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
        number = self.session.next_out
        self.in_windows[number] = subscription, octets
        header, body = (
            damage.header(_header(entry.message, redelivered, self), self.faulty),
            entry.message.body,
        )
        for part, (structs, octets_of) in enumerate(
            damage.pieces(header, damage.body(body, self.faulty), self.faulty)
        ):
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
        """A subscription's queue is gone: so is the session, as soon as the current command is done."""
        self.subscriptions.pop(consumer.tag, None)
        asyncio.get_running_loop().call_soon(self._queue_gone, consumer.queue.name)

    def _queue_gone(self, name: str) -> None:
        carrier = self.session.carrier
        if carrier is not None:
            text = f"queue {name!r} was deleted"
            carrier.refuse_session(self.session, "message/subscribe/queue-deletion", text)
            self.session.core.flush()

    # --- what the client says

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
        """The held transfers that ranges of ids name; ids that mean nothing any more are passed over."""
        spans = [(lower, (upper - lower) % MODULUS) for lower, upper in ranges]
        return [
            held
            for number, held in self.held.items()
            if any((number - lower) % MODULUS <= span for lower, span in spans)
        ]

    # --- the end

    def leave(self, subscription: Subscription) -> None:
        """A subscription ends; what it was sent stays."""
        self.subscriptions.pop(subscription.destination, None)
        subscription.consumer.queue.watchers.pop(id(subscription), None)
        self.session.vhost.remove_consumer(subscription.consumer)

    def release(self) -> None:
        """Give back everything: first leave the queues, then return what was not accepted."""
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
    """What the session holds of messages; made on first use."""
    if session.taker is None:
        session.taker = Taker(session)
    assert isinstance(session.taker, Taker)
    return session.taker


def _header(message: Message, redelivered: bool, taker: Taker) -> list[Any]:
    """The header segment as it was kept, with the flag that says whether someone has had it before."""
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
