"""Links on which the broker sends: credit, transfers in as many frames as necessary, drain.

Knows: outgoing messages of one node; what a receiver may request from the sender. Must not know: outcomes
(``dispositions`` does), how links begin.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from amqpspec.reference.amqp_1_0 import messages, wire
from amqpspec.reference.amqp_1_0.endpoints import SETTLED, LinkEndpoint, LinkHost
from amqpspec.reference.amqp_1_0.nodes import SentDelivery, Terminus
from amqpspec.reference.amqp_1_0.outgoing import OutgoingDelivery
from amqpspec.reference.amqp_1_0.selecting import Selector
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Consumer, Entry, Message
from amqpspec.wire.amqp_1_0.performatives import Composed

_TAG = struct.Struct(">I")
_LARGE_OCTETS = 1 << 16
_SELF_CHOSEN = 10


class SendingEndpoint(LinkEndpoint):
    """One link whose receiver is the partner; the taker of its node's messages."""

    is_sender = True

    def __init__(self, session: LinkHost, attach: Composed, own_handle: int, terminus: Terminus) -> None:
        super().__init__(session, attach, own_handle, terminus)
        self.owner: object = self
        self.drain = False
        # Two before the end of the range, so that the third delivery of every link wraps around (1.0 §2.6.7, RFC 1982).
        self.initial_delivery_count = self.delivery_count = wire.plus(0, -2)
        self.consumer: Consumer | None = None
        self.selector: Selector | None = None
        self.resumed: list[SentDelivery] = []
        """Deliveries to be resumed as soon as there is credit."""
        self.lost: list[SentDelivery] = []
        self._sent: set[int] = set()
        self.unlimited = self.announced_empty = False

    # --- the taker of a queue

    def begin(self) -> None:
        """Queue for the node's messages."""
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
        """Whether credit and windows take one more message.

        One delivery of a session is sent at a time, which is more than required: on a link they must not mix.
        """
        if self.only_resumes and not self.faulty("new-deliveries-beside-incomplete-map"):
            return False
        if self.credit <= 0 and not self.faulty("credit-ignored"):
            return False
        if self.unlimited and message.size_octets >= _LARGE_OCTETS and self.faulty("small-messages-only"):
            return False
        if self.announced_empty and self.faulty("waits-for-flow-after-available-zero"):
            return False
        if self.session.pending and not self.faulty("deliveries-interleaved-on-a-link"):
            return False
        if not self.session.may_transfer:
            return False
        return self.selector is None or self.faulty("filter-ignored") or self.selector.admits(message.headers)

    def deliver(self, consumer: Consumer, entry: Entry, redelivered: bool) -> None:
        """Take a message out of the node and send it."""
        held = SentDelivery(self._new_tag(entry), entry, consumer.queue, self.terminus)
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

    def _send(
        self, held: SentDelivery, *, settled: bool, resume: bool = False, octets: bytes | None = None
    ) -> None:
        session = self.session
        held.delivery_id = session.new_delivery_id(
            wire.minus(self.delivery_count, self.initial_delivery_count)
        )
        if held.tag in self.terminus.held:
            session.unsettled[held.delivery_id] = held
        body, failures = held.entry.message.body, held.entry.deliveries - 1
        body = messages.counted(body, failures, self.faulty) if octets is None else octets
        if self.faulty("long-messages-cut") and len(body) > 400:
            body = body[:400]
        if not self.faulty("credit-not-used-up"):
            self.credit -= 1
        if self.credit <= 0 and self.faulty("sender-chooses-its-credit"):
            self.credit = _SELF_CHOSEN
        if not self.faulty("delivery-count-stands-still"):
            self.delivery_count = wire.plus(self.delivery_count, 1)
        session.pending.append(OutgoingDelivery(self, held, body, settled, resume))
        # With this fault, a delivery waits until the next one can be sent with it.
        beside = self.credit > 0 and held.queue.ready_count > 0
        if not (beside and self.faulty("deliveries-interleaved-on-a-link")):
            session.pump_pending()

    def _ask_for_life(self, held: SentDelivery) -> None:
        """A fault: settle by itself what has outlived its time."""
        if not self.faulty("sender-settles-on-its-own"):
            return
        ttl_ms = messages.ttl_ms_of(held.entry.message.body)
        if ttl_ms is not None:
            asyncio.get_running_loop().call_later(ttl_ms / 1000, self._let_die, held)

    def _let_die(self, held: SentDelivery) -> None:
        if self.session.unsettled.get(held.delivery_id) is held:
            fields = {"role": "sender", "first": held.delivery_id, "settled": True, "state": "released"}
            self.session.send("disposition", fields)
            self.session.connection.core.flush()

    # --- resuming

    def _send_resumed(self) -> None:
        while (
            self.attached
            and self.resumed
            and self.credit > 0
            and self.session.may_transfer
            and not self.session.pending
        ):
            held = self.resumed.pop(0)
            settled = bool(held.outcome)
            bare = settled or self.faulty("data-left-out-on-resume")
            self._send(held, settled=settled, resume=True, octets=b"" if bare else None)
            if settled:
                self.terminus.settle(held)
            if settled and self.faulty("outcome-of-resumed-delivery-kept"):
                self.terminus.held[held.tag] = held

    # --- flow

    def on_flow(self, flow: Any) -> None:
        """The receiver has reported its credit, counted from the delivery-count that it knew then (1.0 §2.6.7).

        What was sent since is taken off; without a count, it knew the first one. Credit is set, never added up.
        """
        self.announced_empty = False
        if "txn-id" in (flow.get("properties") or {}):
            self.session.refuse("transactions/acquisition", "acquisition in a transaction")
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

    def dispatch(self) -> None:
        """Credit or windows have changed: let the node look again later."""
        self.session.connection.core.later(self._send_resumed)
        if self.consumer is not None:
            self.consumer.queue.wake()

    def drained(self) -> bool:
        """In drain mode, use up what credit is left; True if the receiver has to be informed.

        The count runs ahead as if the credit had been used, so that both sides agree that none is left (1.0 §2.6.7).
        While a window holds messages back, the node is not known to be empty, and credit stays.
        """
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
        self.announced_empty = waiting == 0
        return {**state, "drain": (self.drain and not self.faulty("drain-mode-not-told")) or None}

    def _waiting(self) -> int:
        queue, selector = self.terminus.queue, self.selector
        if queue is None or selector is None:
            return queue.ready_count if queue is not None else 0
        return sum(selector.admits(entry.message.headers) for entry in queue.ready())

    # --- the end

    def unhook(self) -> None:
        """Leave the queue."""
        super().unhook()
        if self.consumer is not None:
            if self.consumer in self.consumer.queue.consumers:
                self.consumer.queue.consumers.remove(self.consumer)
            self.consumer = None


FAULTS = fault_table("""
filter-ignored: every message passes a filter [model/entry-criteria]
outcome-of-resumed-delivery-kept: a delivery resumed with an outcome stays unsettled [transfers/resuming/unsettled-map]
data-left-out-on-resume: a delivery of which something was received is resumed without its data
    [transfers/resuming/omit-data]
new-deliveries-beside-incomplete-map: new deliveries go out beside an incomplete map
    [transfers/resuming/incomplete/no-new performatives/attach/incomplete-unsettled/sender
    performatives/attach/incomplete-unsettled/reattach]
small-messages-only: to a receiver without max-message-size, messages of 64 kB and more are not sent
    [performatives/attach/max-message-size/none]
link-begins-with-credit: a sender begins with a credit of one [links/flow/initial-state links/flow/no-credit]
delivery-count-stands-still: a sender's delivery-count does not grow
    [links/flow/delivery-count performatives/flow/delivery-count/sender links/flow/delivery-limit]
sender-tells-no-delivery-count: a sender's flows contain a delivery-count of zero
    [performatives/flow/delivery-count/sender links/flow/delivery-count]
delivery-count-taken-from-receiver: a sender takes over the delivery-count of its receiver
    [links/flow/delivery-count-sender-only links/flow/delivery-limit]
credit-ignored: a sender needs no credit [links/flow/no-credit links/flow/credit-decreases links/synchronous-get
    links/stopping/credit-zero links/flow/count-unspecified links/flow/delivery-limit]
credit-one-too-many: a sender takes one credit more than it was given [links/flow/delivery-limit links/synchronous-get
    links/flow/link-credit-receiver-only links/flow/count-unspecified]
credit-added-up: credit is added to the remaining credit
    [links/flow/credit-formula links/flow/count-unspecified links/stopping/credit-zero]
credit-without-the-formula: a sender's credit is the number in the flow
    [links/flow/credit-formula links/flow/delivery-limit links/flow/delivery-count-sender-only]
unset-delivery-count-is-now: without delivery-count, credit counts from now [links/flow/count-unspecified]
credit-not-used-up: sending uses up no credit
    [links/flow/credit-decreases links/synchronous-get performatives/flow/link-credit/sender]
credit-zero-ignored: a credit of zero does not stop a sender [links/stopping/credit-zero links/flow/no-credit]
sender-chooses-its-credit: a sender that has used up its credit takes ten more [links/flow/link-credit-receiver-only]
sender-tells-no-credit: a sender's flows contain a credit of zero
    [performatives/flow/link-credit/sender links/flow/credit-decreases links/flow/link-credit-receiver-only]
available-made-up: available is seven too many [performatives/flow/available/meaning]
waits-for-flow-after-available-zero: a sender that has announced no available messages waits for another flow
    [links/flow/available-zero]
drain-ignored: drain changes nothing [links/flow/drain/behaviour links/flow/drain/empty links/synchronous-get/timed]
drain-leaves-credit: drain leaves the credit
    [links/flow/drain/empty links/flow/drain/behaviour links/synchronous-get/timed]
drain-leaves-delivery-count: drain leaves the delivery-count [links/flow/drain/empty links/flow/drain/behaviour]
drain-mode-not-told: a sender's flows do not contain its drain mode
    [performatives/flow/drain/sender links/flow/drain/receiver-only]
drain-mode-left-at-once: a sender that has drained leaves drain mode
    [links/flow/drain/receiver-only performatives/flow/drain/sender]
long-messages-cut: messages of more than 400 octets lose their end on the way out
    [transfers/fragments transfers/large/additional-transfers performatives/transfer/split framing/payload
    performatives/open/max-frame-size/unset]
deliveries-interleaved-on-a-link: transfers of several deliveries alternate on one link
    [transfers/large/not-within-link]
delivery-tags-repeat: delivery-tags alternate between two values
    [transfers/delivery-tag/unique links/delivery-tag-per-attempt]
redelivery-under-the-old-tag: a redelivery has the tag of the first delivery
    [links/delivery-tag-per-attempt transfers/delivery-tag/unique]
settled-sent-unsettled: in mode settled, deliveries go out unsettled [performatives/transfer/settled/mode-settled
    definitions/snd-settle-mode/settled performatives/attach/snd-settle-mode/respected]
unsettled-sent-settled: deliveries are sent settled, whatever the mode
    [performatives/transfer/settled/mode-unsettled definitions/snd-settle-mode/unsettled transfers/receiver-first]
mode-settled-kept-until-acknowledged: deliveries sent settled are kept until they are acknowledged
    [performatives/transfer/settled/done]
sender-settles-on-its-own: the broker settles expired deliveries without a request
    [transfers/states/spontaneous transfers/settle-on-ttl]
""")
