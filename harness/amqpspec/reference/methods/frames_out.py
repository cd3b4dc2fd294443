"""Methods and contents as frames on their way to a client.

Knows: how a content follows its method, and how faults damage either. Must not know: why anything is sent.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from amqpspec.reference.methods import wire

if TYPE_CHECKING:
    from amqpspec.reference.methods.contents import Children
    from amqpspec.reference.methods.link import Link

_LOW_OCTET = 0xFF
_THOUSAND = 1000
_SPOILT = "queue."
"""The class whose replies show damage to any method: a channel has been opened by then, and nothing else suffers."""


def method_frame(link: Link, channel: int, name: str, args: Mapping[str, Any]) -> bytes:
    """One method."""
    payload = wire.encode(link.codec, name, args, link.on)
    if link.faulty("channel-number-cut-to-an-octet"):
        channel &= _LOW_OCTET
    if name.startswith(_SPOILT):
        return _damaged_method(link, channel, payload)
    return link.framing.frame("method", channel, payload)


def _damaged_method(link: Link, channel: int, payload: bytes) -> bytes:
    if link.faulty("replies-on-channel-zero"):
        channel = 0
    if link.faulty("ids-in-reverse-order"):
        payload = payload[2:4] + payload[:2] + payload[4:]
    octets = link.framing.frame("method", channel, payload)
    if link.faulty("method-frame-of-another-type"):
        octets = bytes((link.framing.layout.types["body"],)) + octets[1:]
    if link.faulty("size-counts-end-octet"):
        head = link.framing.head_octets
        octets = octets[: head - 4] + struct.pack(">I", len(payload) + 1) + octets[head:]
    place = link.framing.cycle_place
    if place is not None and link.faulty("cycle-left-out"):
        octets = octets[:place] + octets[place + 1 :]
    return octets


def content_frames(
    link: Link,
    channel: int,
    name: str,
    args: Mapping[str, Any],
    header: bytes,
    body: bytes,
    children: Children,
) -> list[bytes]:
    """One method with its content, and the contents within that."""
    limit = link.frame_max_octets + link.faulty("frame-larger-than-agreed")
    if link.faulty("payload-larger-than-agreed"):
        limit += link.framing.overhead_octets + 1
    if link.faulty("body-truncated"):
        body = body[:-1]
    method = method_frame(link, channel, name, args)
    if link.faulty("contents-on-channel-zero"):
        channel = 0
    head = link.framing.frame("header", channel, header)
    if link.faulty("empty-content-not-sent") and not body:
        return [method]
    if link.faulty("content-header-of-another-type"):
        head = bytes((link.framing.layout.types["body"],)) + head[1:]
    within, bodies = _children(link, channel, children, limit), link.framing.bodies(channel, body, limit)
    frames = [method, head, *within, *bodies]
    if link.faulty("children-behind-the-body"):
        frames = [method, head, *bodies, *within]
    if not body and link.faulty("empty-body-in-a-frame"):
        frames.append(link.framing.frame("body", channel, b""))
    if link.faulty("method-inside-content") and len(frames) > 2:
        frames.insert(2, link.framing.frame("method", channel, struct.pack(">HHB", 20, 20, 1)))
    return frames


def _children(link: Link, channel: int, children: Children, limit: int) -> list[bytes]:
    if link.faulty("children-not-delivered"):
        return []
    frames: list[bytes] = []
    for kind, octets in children:
        if kind == "header":
            frames.append(link.framing.frame("header", channel, octets))
        elif not link.faulty("bodies-of-children-lost"):
            frames += link.framing.bodies(channel, octets, limit)
    return frames


def reason(link: Link, code: int, text: str) -> dict[str, Any]:
    """The arguments of a close method."""
    class_id, method_id = link.failing
    if link.faulty("closes-carry-another-code"):
        code = 543
    if link.faulty("close-codes-of-four-digits"):
        code += _THOUSAND
    if link.faulty("close-codes-tell-of-success"):
        code = 200
    if link.faulty("close-names-another-method"):
        class_id, method_id = 0, 0
    text = text.encode("ascii", "backslashreplace")[:255].decode()
    return {"reply_code": code, "reply_text": text, "class_id": class_id, "method_id": method_id}
