"""Links over which the broker sends: credit, transfers in as many frames as it takes, drain.

Knows: one node's messages on their way out; what a receiver may ask of their sender.
Must not know: outcomes (``dispositions`` does), how links begin.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from amqpspec.reference.amqp_1_0 import timing, wire
from amqpspec.reference.amqp_1_0.ends import SETTLED, End
from amqpspec.reference.amqp_1_0.nodes import Held, Terminus
from amqpspec.reference.amqp_1_0.selecting import Selector
from amqpspec.reference.model import Consumer, Entry, Message

if TYPE_CHECKING:
    from amqpspec.reference.amqp_1_0.session import Session

_TAG = struct.Struct(">I")
_KEYS = count(1)
_SMALL = 32
_LARGE_OCTETS = 1 << 16
_SELF_CHOSEN = 10


@dataclass(slots=True, eq=False)
class Outgoing:
    """One delivery on its way out; ``at`` is how many octets of it have gone."""

    end: SendingEnd
    held: Held
    octets: bytes
    settled: bool
    resume: bool = False
    at: int = 0
    frames: int = 0
    done: bool = False

    def step(self) -> None:
        """Send the next transfer."""
        session, connection = self.end.session, self.end.session.connection
        room = connection.max_frame_octets - wire.HEAD_OCTETS
        head = wire.performative("transfer", self._fields(more=True))
        if self.end.faulty("small-messages-split"):
            room = len(head) + _SMALL
        chunk = self.octets[self.at : self.at + max(1, room - len(head))]
        self.at += len(chunk)
        self.done = self.at >= len(self.octets)
        if self.done:
            head = wire.performative("transfer", self._fields(more=False))
        if self.end.faulty("payload-before-performative"):
            head, chunk = chunk, head
        connection.write_frame(session.outgoing, head + chunk)
        self.frames += 1
        session.count_outgoing()
        if self.done:
            self.held.complete = True
        elif self.end.faulty("disposition-in-mid-delivery"):
            told = {"role": "sender", "first": self.held.delivery_id, "state": "accepted"}
            session.send("disposition", told)

    def _fields(self, *, more: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {"handle": self.end.own_handle, "more": more or None}
        if self.end.faulty("transfer-without-handle"):
            fields["handle"] = None
        if self.end.faulty("message-ends-with-every-transfer"):
            fields["more"] = None
        if self.frames == 0:
            fields |= self._first_fields()
        else:
            fields |= self._later_fields()
        return fields

    def _later_fields(self) -> dict[str, Any]:
        """What a continuation repeats: nothing."""
        faulty, held = self.end.faulty, self.held
        return {
            "delivery_id": wire.plus(held.delivery_id, 1)
            if faulty("delivery-id-changes-on-the-way")
            else None,
            "delivery_tag": held.tag + b"'" if faulty("delivery-tag-changes-on-the-way") else None,
            "message_format": 1 if faulty("message-format-changes-on-the-way") else None,
        }

    def _first_fields(self) -> dict[str, Any]:
        faulty = self.end.faulty
        tag = self.held.tag + b"\x00" * 40 if faulty("delivery-tag-too-long") else self.held.tag
        fields: dict[str, Any] = {
            "delivery_id": None if faulty("first-transfer-without-delivery-id") else self.held.delivery_id,
            "delivery_tag": None if faulty("first-transfer-without-delivery-tag") else tag,
            "message_format": None if faulty("first-transfer-without-message-format") else 0,
            "settled": True if self.settled else None,
        }
        if faulty("mode-second-on-link-of-mode-first"):
            fields["rcv_settle_mode"] = 1
        if self.resume and not faulty("resumed-without-resume-flag"):
            fields["resume"] = True
        if self.resume and self.held.state is not None:
            fields["state"] = self.held.state
        if not self.resume and faulty("every-delivery-resumed"):
            fields["resume"] = True
        return fields


class SendingEnd(End):
    """One link whose receiver is the partner; the taker of its node's messages."""

    is_sender = True

    def __init__(self, session: Session, handle: int, own_handle: int, terminus: Terminus) -> None:
        super().__init__(session, handle, own_handle, terminus)
        self.key = next(_KEYS)
        self.owner: object = self
        self.drain = False
        self.initial_delivery_count = self.delivery_count
        self.consumer: Consumer | None = None
        self.selector: Selector | None = None
        self.resumed: list[Held] = []
        self.lost: list[Held] = []
        self._sent: set[int] = set()
        self.unlimited = self.told_empty = False

    # --- the taker of a queue

    def begin(self) -> None:
        """Stand in line for the node's messages."""
        queue = self.terminus.queue
        if queue is None:
            return
        settles = self.snd_settle_mode == SETTLED and not self.faulty("mode-settled-kept-until-acknowledged")
        self.consumer = Consumer(self.name, queue, self, no_ack=settles, no_local=self.selector is not None)
        if self.faulty("link-begins-with-credit"):
            self.credit = 1
        self.session.connection.vhost.add_consumer(self.consumer)

    @property
    def flowing(self) -> bool:
        """Whether the link is up."""
        return self.attached

    def has_room(self, consumer: Consumer, message: Message) -> bool:
        """Whether credit and windows take one more message."""
        if self.no_new and not self.faulty("new-deliveries-beside-incomplete-map"):
            return False
        if self.credit <= 0 and not self.faulty("credit-ignored"):
            return False
        if self.unlimited and message.size_octets >= _LARGE_OCTETS and self.faulty("small-messages-only"):
            return False
        if self.told_empty and self.faulty("waits-for-flow-after-available-zero"):
            return False
        if self.session.pending and not self.faulty("deliveries-interleaved-on-a-link"):
            return False
        if not self.session.may_transfer:
            return False
        return self.selector is None or self.faulty("filter-ignored") or self.selector.admits(message.headers)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Take a message out of the node and send it."""
        held = Held(self._new_tag(entry), entry, consumer.queue, self.terminus)
        if not consumer.no_ack:
            self.terminus.held[held.tag] = held
        self._send(held, settled=self._sends_settled(consumer))
        self._ask_for_life(held)

    def _sends_settled(self, consumer: Consumer) -> bool:
        if self.faulty("settled-sent-unsettled") and self.snd_settle_mode == SETTLED:
            return False
        if self.faulty("unsettled-sent-settled") and self.snd_settle_mode != SETTLED:
            return True
        return self.snd_settle_mode == SETTLED

    def _new_tag(self, entry: Entry) -> bytes:
        number = next(self.terminus.numbers)
        if self.faulty("delivery-tags-repeat"):
            number = 1 + number % 2
        if self.faulty("redelivery-under-the-old-tag") and self._went_before(entry):
            number = 1
        return bytes(_TAG.pack(number))

    def _went_before(self, entry: Entry) -> bool:
        before = id(entry) in self._sent
        self._sent.add(id(entry))
        return before

    def cancelled(self, consumer: Consumer) -> None:
        """The node is gone; ``nodes`` tells the link."""
        self.consumer = None

    # --- transfers

    def _send(self, held: Held, *, settled: bool, resume: bool = False, octets: bytes | None = None) -> None:
        session = self.session
        held.delivery_id = session.new_delivery_id(self)
        if held.tag in self.terminus.held:
            session.unsettled[held.delivery_id] = held
        body = held.entry.message.body if octets is None else octets
        if self.faulty("long-messages-cut") and len(body) > 400:
            body = body[:400]
        if not self.faulty("credit-not-used-up"):
            self.credit -= 1
        if self.credit <= 0 and self.faulty("sender-chooses-its-credit"):
            self.credit = _SELF_CHOSEN
        if not self.faulty("delivery-count-stands-still"):
            self.delivery_count = wire.plus(self.delivery_count, 1)
        session.pending.append(Outgoing(self, held, body, settled, resume))
        if not self._waits_for_company(held):
            session.pump_pending()

    def _waits_for_company(self, held: Held) -> bool:
        """A fault: hold a delivery back until the next one can go beside it."""
        beside = self.credit > 0 and held.queue.ready_count > 0
        return beside and self.faulty("deliveries-interleaved-on-a-link")

    def _ask_for_life(self, held: Held) -> None:
        """A fault: settle by itself what has outlived its time."""
        if self.faulty("sender-settles-on-its-own"):
            timing.settle_on_ttl(self.session, held)

    # --- resuming

    def resume(self, held: list[Held]) -> None:
        """Deliveries to be resumed as soon as there is credit."""
        self.resumed = held

    def _send_resumed(self) -> None:
        while self.resumed and self.credit > 0 and self.session.may_transfer and not self.session.pending:
            held = self.resumed.pop(0)
            settled = bool(held.outcome)
            bare = settled or self.faulty("data-left-out-on-resume")
            self._send(held, settled=settled, resume=True, octets=b"" if bare else None)
            if settled:
                self.terminus.settle(held)

    # --- flow

    def on_flow(self, flow: Any) -> None:
        """The receiver has told its credit."""
        self.told_empty = False
        counted = flow.get("delivery_count")
        if counted is None:
            counted = (
                self.delivery_count
                if self.faulty("unset-delivery-count-is-now")
                else self.initial_delivery_count
            )
        credit = flow.get("link_credit")
        if credit == 0 and self.faulty("credit-zero-ignored"):
            credit = None
        if credit is not None:
            ahead = wire.minus(self.delivery_count, counted)
            if self.faulty("credit-added-up"):
                self.credit += credit
            else:
                self.credit = max(0, credit - (0 if self.faulty("credit-without-the-formula") else ahead))
            if self.faulty("credit-one-too-many") and credit:
                self.credit += 1
            if self.faulty("delivery-count-taken-from-receiver"):
                self.delivery_count = counted
        self.drain = bool(flow["drain"])

    def look(self) -> None:
        """Credit or windows have changed: let the node look again."""
        self._send_resumed()
        if self.consumer is not None:
            self.consumer.queue.dispatch()

    def drained(self) -> bool:
        """In drain mode, use up what credit is left; True where there was some."""
        wanted = self.drain and not self.faulty("drain-ignored")
        if not wanted or self.session.pending or not self.session.may_transfer:
            return False
        if self.credit > 0:
            if not self.faulty("drain-leaves-delivery-count"):
                self.delivery_count = wire.plus(self.delivery_count, self.credit)
            if not self.faulty("drain-leaves-credit"):
                self.credit = 0
        if self.faulty("drain-mode-left-at-once"):
            self.drain = False
        return True

    def link_state(self) -> dict[str, Any]:
        """The sender's part of a flow."""
        waiting = self._waiting()
        state: dict[str, Any] = {
            "delivery_count": 0 if self.faulty("sender-tells-no-delivery-count") else self.delivery_count,
            "link_credit": 0 if self.faulty("sender-tells-no-credit") else max(self.credit, 0),
            "available": waiting + 7 if self.faulty("available-made-up") else waiting,
        }
        self.told_empty = waiting == 0
        return {**state, "drain": (self.drain and not self.faulty("drain-mode-not-told")) or None}

    def _waiting(self) -> int:
        queue, selector = self.terminus.queue, self.selector
        if queue is None or selector is None:
            return queue.ready_count if queue is not None else 0
        return sum(selector.admits(entry.message.headers) for entry in queue.ready())

    # --- the end

    def unhook(self) -> None:
        """Leave the line."""
        super().unhook()
        if self.consumer is not None:
            if self.consumer in self.consumer.queue.consumers:
                self.consumer.queue.consumers.remove(self.consumer)
            self.consumer = None
