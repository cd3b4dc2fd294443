"""Outgoing methods and contents as frames.

Knows: how a content follows its method, and the faults in both. Must not know: why anything is sent.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from amqpspec.reference.deviations import Deviations
from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods import wire
from amqpspec.reference.methods.contents import Children
from amqpspec.wire.methods.codec import Codec

_LOW_OCTET = 0xFF
_THOUSAND, _LONGEST = 1000, 255
_SPOILT = "queue."
"""The class whose replies show damage to any method: a channel has been opened by then, and nothing else suffers."""


class FramesOut:
    """What one connection says, as frames."""

    def __init__(self, codec: Codec, framing: wire.Framing, on: Deviations) -> None:
        self.codec, self.framing, self.on, self.faulty = codec, framing, on, on.faulty

    def method(self, number: int, name: str, args: Mapping[str, Any]) -> bytes:
        """One method."""
        payload = wire.encode(self.codec, name, args, self.on)
        if self.faulty("channel-number-cut-to-an-octet"):
            number &= _LOW_OCTET
        if name.startswith(_SPOILT):
            return self._damaged_method(number, payload)
        return self.framing.frame("method", number, payload)

    def _damaged_method(self, number: int, payload: bytes) -> bytes:
        if self.faulty("replies-on-channel-zero"):
            number = 0
        if self.faulty("ids-in-reverse-order"):
            payload = payload[2:4] + payload[:2] + payload[4:]
        octets = self.framing.frame("method", number, payload)
        if self.faulty("method-frame-of-another-type"):
            octets = bytes((self.framing.layout.types["body"],)) + octets[1:]
        if self.faulty("size-counts-end-octet"):
            head = self.framing.head_octets
            octets = octets[: head - 4] + struct.pack(">I", len(payload) + 1) + octets[head:]
        place = self.framing.cycle_place
        if place is not None and self.faulty("cycle-left-out"):
            octets = octets[:place] + octets[place + 1 :]
        return octets

    def content(
        self,
        number: int,
        name: str,
        args: Mapping[str, Any],
        header: bytes,
        body: bytes,
        children: Children,
        max_octets: int,
    ) -> list[bytes]:
        """One method with its content, and the contents within that."""
        limit = max_octets + self.faulty("frame-larger-than-agreed")
        if self.faulty("payload-larger-than-agreed"):
            limit += self.framing.overhead_octets + 1
        if self.faulty("body-truncated"):
            body = body[:-1]
        method = self.method(number, name, args)
        if self.faulty("contents-on-channel-zero"):
            number = 0
        head = self.framing.frame("header", number, header)
        if self.faulty("empty-content-not-sent") and not body:
            return [method]
        if self.faulty("content-header-of-another-type"):
            head = bytes((self.framing.layout.types["body"],)) + head[1:]
        within = self._children(number, children, limit)
        bodies = self.framing.bodies(number, body, limit)
        frames = [method, head, *within, *bodies]
        if self.faulty("children-behind-the-body"):
            frames = [method, head, *bodies, *within]
        if not body and self.faulty("empty-body-in-a-frame"):
            frames.append(self.framing.frame("body", number, b""))
        if self.faulty("method-inside-content") and len(frames) > 2:
            frames.insert(2, self.framing.frame("method", number, struct.pack(">HHB", 20, 20, 1)))
        return frames

    def _children(self, number: int, children: Children, limit: int) -> list[bytes]:
        if self.faulty("children-not-delivered"):
            return []
        frames: list[bytes] = []
        for kind, octets in children:
            if kind == "header":
                frames.append(self.framing.frame("header", number, octets))
            elif not self.faulty("bodies-of-children-lost"):
                frames += self.framing.bodies(number, octets, limit)
        return frames

    def reason(self, failing: tuple[int, int], code: int, text: str) -> dict[str, Any]:
        """The arguments of a close method."""
        class_id, method_id = failing
        if self.faulty("closes-carry-another-code"):
            code = 543
        if self.faulty("close-codes-of-four-digits"):
            code += _THOUSAND
        if self.faulty("close-codes-tell-of-success"):
            code = 200
        if self.faulty("close-names-another-method"):
            class_id, method_id = 0, 0
        text = text.encode("ascii", "backslashreplace")[:255].decode()
        if self.faulty("long-reply-texts-fail") and len(text) == _LONGEST:
            code = 541
        return {"reply_code": code, "reply_text": text, "class_id": class_id, "method_id": method_id}


FAULTS = fault_table("""
frame-larger-than-agreed: a body frame is one octet larger than agreed
    [wire/frame/size-sent connection/tune-ok/frame-max/all-frames]
method-inside-content: a method is sent between the header and the body of a content
    [wire/content/synchronisation wire/content/split-bodies]
body-truncated: a content is one octet too short [wire/content/unmodified wire/content/split-bodies]
empty-body-in-a-frame: a body of no octets is sent as a frame [wire/content/zero-body]
closes-carry-another-code: every close carries a reply code that is not defined
    [constant/access-refused constant/not-found constant/resource-locked constant/precondition-failed
    constant/frame-error constant/syntax-error constant/command-invalid constant/channel-error
    constant/unexpected-frame constant/not-allowed constant/not-implemented]
long-reply-texts-fail: a refusal whose text would be too long ends in an internal error
    [basic/consume/consumer-tag/duplicate]
close-names-another-method: a close method names no failing method
    [connection/close/failing-method channel/close/failing-method]
cycle-left-out: replies of class queue are sent in frames without a cycle
method-frame-of-another-type: replies of class queue are sent in body frames
ids-in-reverse-order: replies of class queue begin with the method-id
replies-on-channel-zero: replies of class queue are sent on channel 0
channel-number-cut-to-an-octet: frames for a channel above 255 are sent on the channel of its low octet
size-counts-end-octet: the size of replies of class queue counts their end octet
payload-larger-than-agreed: a body frame has a payload larger than the size agreed on
empty-content-not-sent: a message without a body is delivered without its header
content-header-of-another-type: the header of a delivered content is sent in a body frame
contents-on-channel-zero: the frames of a delivered content are sent on channel 0
children-not-delivered: contents within a content are lost
bodies-of-children-lost: contents within a content are delivered without their bodies
children-behind-the-body: contents within a content are delivered after its body
close-codes-of-four-digits: closes carry a code of four digits
close-codes-tell-of-success: closes carry the code 200
""")
