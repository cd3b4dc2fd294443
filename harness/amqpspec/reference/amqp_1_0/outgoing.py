"""Outgoing deliveries: transfers in as many frames as necessary (1.0 §2.6.14).

Knows: how a delivery is split, which fields only its first transfer needs. Must not know: when a transfer may go out
(the session does), why a message is sent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from amqpspec.reference.amqp_1_0 import wire
from amqpspec.reference.amqp_1_0.endpoints import LinkEndpoint
from amqpspec.reference.amqp_1_0.nodes import SentDelivery
from amqpspec.reference.fault import fault_table

_SMALL = 32


@dataclass(slots=True, eq=False)
class OutgoingDelivery:
    """One outgoing delivery; ``at`` is how many octets of it have gone."""

    endpoint: LinkEndpoint
    held: SentDelivery
    octets: bytes
    settled: bool
    resume: bool = False
    at: int = 0
    frames: int = 0
    done: bool = False

    def step(self) -> None:
        """Send the next transfer."""
        session, connection = self.endpoint.session, self.endpoint.session.connection
        room = connection.max_frame_octets - wire.HEAD_OCTETS
        head = wire.performative("transfer", self._fields(more=True))
        if self.endpoint.faulty("small-messages-split"):
            room = len(head) + _SMALL
        chunk = self.octets[self.at : self.at + max(1, room - len(head))]
        self.at += len(chunk)
        self.done = self.at >= len(self.octets)
        if self.done:
            head = wire.performative("transfer", self._fields(more=False))
        if self.endpoint.faulty("payload-before-performative"):
            head, chunk = chunk, head
        connection.write_frame(session.outgoing, head + chunk)
        self.frames += 1
        session.count_outgoing()
        if self.done:
            self.held.complete = True
        elif self.endpoint.faulty("disposition-in-mid-delivery"):
            disposition = {"role": "sender", "first": self.held.delivery_id, "state": "accepted"}
            session.send("disposition", disposition)

    def _fields(self, *, more: bool) -> dict[str, Any]:
        fields: dict[str, Any] = {"handle": self.endpoint.own_handle, "more": more or None}
        if self.endpoint.faulty("transfer-without-handle"):
            fields["handle"] = None
        if self.endpoint.faulty("message-ends-with-every-transfer"):
            fields["more"] = None
        if self.frames == 0:
            fields |= self._first_fields()
        else:
            fields |= self._later_fields()
        return fields

    def _later_fields(self) -> dict[str, Any]:
        """What a continuation repeats: nothing."""
        faulty, held = self.endpoint.faulty, self.held
        return {
            "delivery_id": wire.plus(held.delivery_id, 1)
            if faulty("delivery-id-changes-on-the-way")
            else None,
            "delivery_tag": held.tag + b"'" if faulty("delivery-tag-changes-on-the-way") else None,
            "message_format": 1 if faulty("message-format-changes-on-the-way") else None,
        }

    def _first_fields(self) -> dict[str, Any]:
        faulty = self.endpoint.faulty
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


FAULTS = fault_table("""
payload-before-performative: the payload of a transfer precedes its performative [framing/payload]
resumed-without-resume-flag: resumed deliveries lack the resume flag [transfers/resuming/resume-flag
    performatives/transfer/resume/first transfers/resuming/both transfers/resuming/incomplete/no-new]
every-delivery-resumed: every delivery has the resume flag
    [performatives/transfer/resume/known-only transfers/resuming/target-only]
small-messages-split: messages go out in transfers of 32 octets [performatives/transfer/single]
message-ends-with-every-transfer: transfers never set more
    [transfers/fragments transfers/large/additional-transfers performatives/transfer/split]
transfer-without-handle: the broker's transfers lack the handle [performatives/transfer/handle]
first-transfer-without-delivery-id: the broker's deliveries have no delivery-id
    [performatives/transfer/delivery-id/first]
first-transfer-without-delivery-tag: the broker's deliveries have no delivery-tag
    [performatives/transfer/delivery-tag/first transfers/delivery-tag]
first-transfer-without-message-format: the broker's deliveries have no message-format
    [performatives/transfer/message-format/first]
delivery-id-changes-on-the-way: the broker's continuations have another delivery-id
    [performatives/transfer/delivery-id/differs]
delivery-tag-changes-on-the-way: the broker's continuations have another delivery-tag
    [performatives/transfer/delivery-tag/differs]
message-format-changes-on-the-way: the broker's continuations have another message-format
    [performatives/transfer/message-format/differs]
delivery-tag-too-long: delivery-tags have more than 32 octets [definitions/delivery-tag/length]
mode-second-on-link-of-mode-first: the broker's transfers have mode second, whatever their link has
    [performatives/transfer/rcv-settle-mode/illegal]
disposition-in-mid-delivery: the broker sends a disposition for an incomplete delivery
    [performatives/disposition/incomplete]
""")
