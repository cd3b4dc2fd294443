"""Links on which the broker receives: it grants credit, assembles transfers and reports outcomes.

Knows: what a receiver may expect of a sequence of transfers; what is settled when.
Must not know: how links begin, sockets.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from amqpspec.reference.amqp_1_0 import limits, messages, wire
from amqpspec.reference.amqp_1_0.endpoints import FIRST, SECOND, SETTLED, UNSETTLED, LinkEndpoint, LinkHost
from amqpspec.reference.amqp_1_0.incoming import IncomingDelivery, continues, grow, is_one_octet
from amqpspec.reference.amqp_1_0.nodes import Terminus
from amqpspec.reference.amqp_1_0.transactions import Transaction
from amqpspec.reference.fault import fault_table
from amqpspec.reference.model import Queue
from amqpspec.wire.amqp_1_0.performatives import Composed

_TAG_OCTETS = 32
_NEARLY_A_FRAME_OCTETS = 60_000
ACCEPTED = "accepted"


class ReceivingEndpoint(LinkEndpoint):
    """One link whose sender is the partner; ``targeted`` where its messages go somewhere without a separate node."""

    targeted = False

    def __init__(self, session: LinkHost, attach: Composed, own_handle: int, terminus: Terminus) -> None:
        super().__init__(session, attach, own_handle, terminus)
        self.partial: IncomingDelivery | None = None
        self.last_id: int | None = None

    # --- credit

    def begin(self, initial_delivery_count: int) -> None:
        """The link is up: give credit."""
        self.delivery_count = (
            0 if self.faulty("initial-delivery-count-taken-for-zero") else initial_delivery_count
        )
        self.renew_credit()

    def renew_credit(self) -> bool:
        """Fill up the credit where half of it is used; whether there is something to tell."""
        if self.credit > limits.CREDIT_MESSAGES // 2 or not (self.targeted or self.terminus.queue):
            return False
        self.credit = limits.CREDIT_MESSAGES
        return True

    def on_flow(self, flow: Composed) -> None:
        """The sender has reported its delivery-count: if it ran ahead, that much credit is used up (1.0 §2.6.7)."""
        counted = flow.get("delivery_count")
        stuck = counted is not None and self.faulty("delivery-count-does-not-wrap")
        if counted is not None and not (stuck and counted < self.delivery_count):
            self.credit -= wire.minus(counted, self.delivery_count)
            self.delivery_count = counted
        if self.credit <= limits.CREDIT_MESSAGES // 2:
            self.session.widen_later()

    def link_state(self) -> dict[str, Any]:
        """The receiver's part of a flow."""
        known: int | None = 0 if self.faulty("receiver-tells-no-delivery-count") else self.delivery_count
        if self.last_id is not None and self.faulty("receiver-leaves-out-delivery-count"):
            known = None
        return {"delivery_count": known, "link_credit": max(self.credit, 0)}

    # --- transfers

    def on_transfer(self, frame: Composed, payload: bytes) -> None:
        """A transfer has arrived: it begins a delivery, continues one, ends one, or takes it back (1.0 §2.6.14)."""
        if not (self.targeted or self.terminus.queue):
            self.session.refuse("performatives/attach/target/none", "a transfer on a link without target")
        if self._faulty_refusal(frame, payload):
            return
        partial = self.partial
        if partial is None or not continues(self, frame, partial):
            partial = self.partial = self._first(frame)
        if frame["aborted"] and not self.faulty("aborted-taken-for-the-end"):
            self._abort(frame, payload)
            return
        if self.faulty("fragments-mixed-up-by-links") and self.session.latest is not None:
            grow(self, self.session.latest, frame, payload)
            payload = b""
        grow(self, partial, frame, payload)
        if not frame["more"]:
            self._taken_off()
            self._complete(partial)

    def _faulty_refusal(self, frame: Composed, payload: bytes) -> bool:
        """Whether a fault has refused what is legal."""
        stateful = frame.get("state") is not None and not frame["resume"]
        if stateful and self.faulty("state-on-transfer-refused"):
            self.fail("amqp:not-allowed", "a transfer with a state")
        elif len(payload) >= _NEARLY_A_FRAME_OCTETS and self.faulty("largest-transfers-refused"):
            self.fail("amqp:not-allowed", f"a transfer of {len(payload)} octets")
        elif self.faulty("booleans-of-one-octet-refused") and is_one_octet(frame, "settled"):
            self.session.fail("amqp:internal-error", "settled is neither true nor false")
        else:
            return False
        return True

    def _abort(self, frame: Composed, payload: bytes) -> None:
        if self.faulty("aborted-delivery-goes-on"):
            return
        partial = self._taken_off()
        if partial is not None and payload and self.faulty("payload-of-abort-kept"):
            partial.octets[:] = payload
            self._store(partial)
        if partial is not None and self.faulty("aborted-tag-stays-in-use"):
            self.terminus.incoming[partial.tag] = ACCEPTED
        if partial is not None and self.faulty("aborted-delivery-disposed-of"):
            self._dispose(partial, settled=True)
        if frame["more"] and self.faulty("more-counts-though-aborted"):
            self.partial = partial

    def _first(self, frame: Composed) -> IncomingDelivery:
        """A delivery begins; it uses up credit even where it is refused and a fault tolerates that."""
        tag, resume = frame.get("delivery_tag", b""), bool(frame["resume"])
        self._check_first(frame, tag, resume=resume)
        self._check_mode(frame)
        self._check_id(frame)
        self._count()
        mode = self._mode(frame)
        if self.faulty("mode-survives-suspension"):
            mode = self.terminus.modes.setdefault(tag, mode)
        begun = IncomingDelivery(
            frame.get("delivery_id", 0), tag, frame.get("message_format", 0), False, mode, resume, bytearray()
        )
        begun.transaction = self._transaction(frame)
        self.session.latest = begun
        return begun

    def _transaction(self, frame: Composed) -> Transaction | None:
        """The transaction in which a delivery is posted (1.0 §4.4.1)."""
        named, found = self.session.connection.transactions.named_by(frame.get("state"))
        if found is not None:
            found.partial += 1
        elif named:
            self.session.refuse("transactions/unknown-id", "a delivery in a transaction that is not there")
        return found

    def _taken_off(self) -> IncomingDelivery | None:
        """Remove and return the incoming delivery."""
        partial, self.partial = self.partial, None
        if partial is not None and partial.transaction is not None:
            partial.transaction.partial -= 1
        return partial

    def _check_first(self, frame: Composed, tag: bytes, *, resume: bool) -> None:
        """What the first transfer has to say, and later ones may leave out (1.0 §2.7.5)."""
        refuse, given = self.session.refuse, frame.given
        if self.credit <= 0:
            refuse("definitions/condition/transfer-limit-exceeded", "a message beyond the credit given")
        if "delivery_id" not in given:
            refuse("performatives/transfer/delivery-id/first", "a first transfer without delivery-id")
        if "delivery_tag" not in given:
            refuse("performatives/transfer/delivery-tag/first", "a first transfer without delivery-tag")
        if "message_format" not in given and frame["more"]:
            refuse("performatives/transfer/message-format/first", "a first transfer without message-format")
        if len(tag) == _TAG_OCTETS and self.faulty("longest-tags-refused"):
            self.fail("amqp:not-allowed", f"a delivery-tag of {len(tag)} octets")
        if len(tag) > _TAG_OCTETS:
            refuse("definitions/delivery-tag/length", f"a delivery-tag of {len(tag)} octets")
        if self.credit == 1 and self.faulty("last-credit-not-honoured"):
            self.fail("amqp:link:transfer-limit-exceeded", "the last message that there was credit for")
        if self.faulty("tags-shared-by-links") and self._is_tag_of_another(tag):
            refuse("transfers/delivery-tag/unique", f"delivery-tag {tag.hex()} is in use on another link")
        if tag in self.terminus.incoming and not resume:
            refuse("transfers/delivery-tag/unique", f"delivery-tag {tag.hex()} is in use")
        if self.only_resumes and not resume:
            rule = "performatives/attach/incomplete-unsettled/receiver"
            refuse(rule, "a new delivery beside an incomplete map")

    def _is_tag_of_another(self, tag: bytes) -> bool:
        others = (endpoint for endpoint, used in self.session.awaited.values() if used == tag)
        return any(other is not self for other in others)

    def _mode(self, frame: Composed) -> int:
        mode = frame.get("rcv_settle_mode")
        if mode is None and self.faulty("mode-left-out-is-first"):
            return FIRST
        if mode is None:
            return SECOND if self.faulty("mode-left-out-is-second") else self.rcv_settle_mode
        return int(mode)

    def _check_mode(self, frame: Composed) -> None:
        mode = frame.get("rcv_settle_mode")
        ignored = frame["settled"] and not self.faulty("mode-minded-though-settled")
        if mode == SECOND and self.rcv_settle_mode == FIRST and not ignored:
            self.session.refuse(
                "performatives/transfer/rcv-settle-mode/illegal", "mode second on a link of mode first"
            )

    def _check_id(self, frame: Composed) -> None:
        number = frame.get("delivery_id", 0)
        gap = self.last_id is not None and number != wire.plus(self.last_id, 1)
        if gap and self.faulty("delivery-ids-of-a-link-have-to-follow"):
            self.fail("amqp:not-allowed", f"delivery-id {number} behind {self.last_id}")
        self.last_id = number

    def _count(self) -> None:
        step = 2 if self.faulty("delivery-count-by-twos") else 1
        if not (wire.plus(self.delivery_count, 1) == 0 and self.faulty("delivery-count-does-not-wrap")):
            self.delivery_count = wire.plus(self.delivery_count, step)
        self.credit -= 1
        if self.credit <= limits.CREDIT_MESSAGES // 2:
            self.session.widen_later()

    # --- whole deliveries

    def _complete(self, partial: IncomingDelivery) -> None:
        if not_understood := messages.misunderstanding(partial.octets, self.faulty):
            self.session.fail("amqp:internal-error", not_understood)
            return
        self._check_settled(partial)
        terminus = self.terminus
        if partial.resume:
            if partial.tag not in terminus.incoming and not self.faulty("unknown-resumed-delivery-taken"):
                return
            known = terminus.incoming.pop(partial.tag, "")
        else:
            known = ""
        if not known or self.faulty("resumed-delivery-taken-twice"):
            self._store(partial)
        self._tell(partial)

    def _check_settled(self, partial: IncomingDelivery) -> None:
        if self.snd_settle_mode == SETTLED and not partial.settled:
            self.session.refuse(
                "performatives/transfer/settled/mode-settled", "unsettled on a link of mode settled"
            )
        if self.snd_settle_mode == UNSETTLED and partial.settled:
            self.session.refuse(
                "performatives/transfer/settled/mode-unsettled", "settled on a link of mode unsettled"
            )

    def _store(self, partial: IncomingDelivery) -> None:
        queue = self._node_for(partial)
        if queue is None or queue.deleted:
            return
        if self.faulty("settled-messages-dropped") and partial.settled:
            return
        octets = messages.stored_octets(bytes(partial.octets), self.faulty)
        message = messages.message_of(queue.name, octets, self.session.connection)
        self.session.connection.core.room.take(message.size_octets)
        if self.faulty("durable-flag-not-read"):
            message = replace(message, persistent=False)
        transaction = partial.transaction
        if transaction is None or self.faulty("transactional-posts-at-once"):
            queue.enqueue(message)
        elif not (partial.settled and self.faulty("settled-posts-lost-in-transactions")):
            transaction.on_commit.append(lambda: queue.enqueue(message))

    def _node_for(self, partial: IncomingDelivery) -> Queue | None:
        """Where a message goes."""
        return self.terminus.queue

    def _tell(self, partial: IncomingDelivery) -> None:
        """Report the outcome of a delivery according to its settle mode (1.0 §2.7.5).

        Sent settled: nothing is reported. Mode first: the receiver settles with its outcome. Mode second: it reports
        the outcome and settles after the sender, so that neither forgets a delivery that the other still has.
        """
        if partial.settled:
            if self.faulty("settled-deliveries-disposed-of"):
                self._dispose(partial, settled=True)
            return
        if self.faulty("unsettled-deliveries-not-answered"):
            return
        second = partial.mode == SECOND and not self.faulty("mode-second-settled-at-once")
        if self.faulty("mode-first-waits-for-the-sender"):
            second = True
        if second:
            self.terminus.incoming[partial.tag] = ACCEPTED
            self.session.awaited[partial.delivery_id] = (self, partial.tag)
        self._dispose(partial, settled=not second)

    def _dispose(self, partial: IncomingDelivery, *, settled: bool) -> None:
        """Tell the outcome later."""
        role = "sender" if self.faulty("dispositions-under-the-wrong-role") else "receiver"
        fields: dict[str, Any] = {"role": role, "first": partial.delivery_id, "settled": settled or None}
        if self.faulty("disposition-without-first"):
            fields["first"] = None
        disposition = {**fields, "state": self._state(partial)}
        self.session.connection.core.later(lambda: self.session.send("disposition", disposition))

    def _state(self, partial: IncomingDelivery) -> Any:
        """The outcome, a provisional one in a transaction (1.0 §4.4.1)."""
        if partial.transaction is None or self.faulty("posting-outcome-without-its-transaction"):
            return ACCEPTED
        outcome = None if self.faulty("posting-outcome-left-open") else ACCEPTED
        return partial.transaction.state(outcome)

    def forget_partial(self) -> None:
        """Discard what has arrived of a delivery that is not whole."""
        self._taken_off()

    def settled_by_sender(self, tag: bytes) -> None:
        """The sender has settled: so does the broker."""
        if not self.faulty("settled-by-sender-not-heard"):
            self.terminus.incoming.pop(tag, None)

    def unhook(self) -> None:
        """The part of an unfinished delivery that has arrived must be sent again if the delivery can be resumed."""
        super().unhook()
        if self.partial is not None and not self.partial.settled:
            self.terminus.incoming.setdefault(self.partial.tag, "")
        self._taken_off()


FAULTS = fault_table("""
durable-flag-not-read: a durable message is lost at a restart like any other [messaging/durable]
transactional-posts-at-once: messages posted in a transaction are available at once
    [transactions/posting/available transactions/posting/rollback transactions/posting/settled
    transactions/control/closed]
settled-posts-lost-in-transactions: what is posted settled in a transaction is lost [transactions/posting/settled]
posting-outcome-without-its-transaction: the outcome of a delivery posted in a transaction names no transaction
    [transactions/posting/outcome]
posting-outcome-left-open: the state of a delivery posted in a transaction has no outcome
    [transactions/posting/outcome]
last-credit-not-honoured: the last message that there is credit for detaches the link [links/flow/credit-exact]
tags-shared-by-links: a tag that is unsettled on one link is refused on another [transfers/delivery-tag/unique]
delivery-ids-of-a-link-have-to-follow: the deliveries on a link have to have numbers without gaps
    [sessions/delivery-sequence]
initial-delivery-count-taken-for-zero: a receiver begins to count at zero
    [links/flow/initial-delivery-count performatives/flow/delivery-count/receiver]
delivery-count-by-twos: a receiver counts each delivery twice [performatives/flow/delivery-count/receiver]
delivery-count-does-not-wrap: a receiver's delivery-count stops at its highest
    [links/flow/delivery-count-wraps definitions/sequence-no/arithmetic]
receiver-tells-no-delivery-count: a receiver's flows contain a delivery-count of zero
    [performatives/flow/delivery-count/receiver links/flow/delivery-count-wraps links/flow/initial-delivery-count]
receiver-leaves-out-delivery-count: after the first message, a receiver's flows lack the delivery-count
    [performatives/flow/delivery-count/receiver]
largest-transfers-refused: a transfer about as large as frames may be is refused [performatives/transfer/single]
fragments-mixed-up-by-links: fragments are added to the message begun last, whatever their link
    [transfers/large/interleaved-links]
longest-tags-refused: delivery-tags of 32 octets are refused [definitions/delivery-tag/length]
mode-left-out-is-second: a transfer without mode has mode second
    [performatives/transfer/rcv-settle-mode/default performatives/transfer/rcv-settle-mode/first]
mode-left-out-is-first: a transfer without mode has mode first
    [performatives/transfer/rcv-settle-mode/default performatives/transfer/rcv-settle-mode/second]
mode-minded-though-settled: the mode of a settled transfer is minded [performatives/transfer/rcv-settle-mode/settled]
mode-survives-suspension: a resumed delivery keeps its previous mode
    [performatives/transfer/rcv-settle-mode/not-retained]
mode-first-waits-for-the-sender: in mode first, the broker does not settle by itself
    [performatives/transfer/rcv-settle-mode/first definitions/rcv-settle-mode/first]
mode-second-settled-at-once: in mode second, the broker settles by itself
    [performatives/transfer/rcv-settle-mode/second definitions/rcv-settle-mode/second
    performatives/attach/rcv-settle-mode/respected]
settled-by-sender-not-heard: settlement by the sender is ignored [definitions/rcv-settle-mode/second
    performatives/transfer/rcv-settle-mode/second performatives/disposition/settled]
booleans-of-one-octet-refused: a transfer with settled in the one-octet encoding of booleans ends the session
    [definitions/snd-settle-mode/mixed]
settled-deliveries-disposed-of: the broker sends dispositions for settled deliveries
    [transfers/settled-at-once performatives/transfer/settled/unset-later]
settled-messages-dropped: settled messages are dropped
    [transfers/settled-at-once definitions/snd-settle-mode/mixed performatives/transfer/rcv-settle-mode/settled]
unsettled-deliveries-not-answered: the broker sends no dispositions
    [definitions/snd-settle-mode/mixed performatives/transfer/settled/unset-first
    performatives/transfer/rcv-settle-mode/first definitions/rcv-settle-mode/first]
disposition-without-first: the broker's dispositions lack first [performatives/disposition/mandatory]
dispositions-under-the-wrong-role: the broker's dispositions name the role of the partner
    [performatives/disposition/directionality]
aborted-delivery-goes-on: an aborting transfer changes nothing
    [transfers/large/abort performatives/transfer/more/aborted transfers/large/abort-discard
    performatives/transfer/aborted/discarded performatives/transfer/aborted/settled]
aborted-taken-for-the-end: an aborting transfer is the last of its message
    [transfers/large/abort-discard performatives/transfer/aborted/discarded performatives/transfer/aborted/payload]
payload-of-abort-kept: the payload of an aborting transfer is stored as a message
    [performatives/transfer/aborted/payload]
aborted-delivery-disposed-of: the broker sends a disposition for an aborted delivery
    [performatives/transfer/aborted/settled]
aborted-tag-stays-in-use: the tag of an aborted delivery cannot be used again [performatives/transfer/aborted/settled]
more-counts-though-aborted: more on an aborting transfer counts [performatives/transfer/more/aborted]
state-on-transfer-refused: a transfer with a state is refused [performatives/transfer/state/meaning]
unknown-resumed-delivery-taken: an unknown resumed delivery is accepted as new
    [transfers/resuming/unknown-ignored performatives/transfer/resume/unknown]
resumed-delivery-taken-twice: a complete resumed delivery is accepted again
    [performatives/transfer/resume/no-payload performatives/transfer/resume/later-true
    performatives/transfer/resume/later-omitted]
""")
