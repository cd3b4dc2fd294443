"""Octets that this suite builds by hand, and the frames of a server that it reads back.

Knows: the frame header with and without the cycle octet, the fields of a payload. Must not know: single cases.
What both dialects of the family share is in the suite of 0-9-1.
"""

from __future__ import annotations

import struct

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Ended
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.suites.amqp_0_9_1._wire import fetch
from amqpspec.wire.methods.frames import Frame

_END = b"end of queue"
UNDEFINED_FRAME_TYPE = 42
UNDEFINED_FRAME_TYPES = (0, 9, 10, 128, 255)
"""Around and beyond the eight types that are defined."""
NO_TEST_CLASS = "the server does not have the class test"
# 503 and 540, the codes that fit a class no one has; 0x00FF is one that the standard keeps and never defined.
_WITHOUT_CLASS, _UNDEFINED_CLASS = (503, 540), 0x00FF


def hand_frame(peer: Peer, kind: int, payload: bytes, channel: int = 1, cycle: int = 0) -> bytes:
    """A frame put together without the codec; the cycle octet is there where the dialect has one."""
    # Brokers in use answer this draft in AMQP 0-8, whose frame header has no cycle octet.
    with_cycle = any(name == "cycle" for name, _ in peer.dialect.layout.header)
    head = struct.pack(">BB", kind, cycle) if with_cycle else struct.pack(">B", kind)
    return head + struct.pack(">HI", channel, len(payload)) + payload + b"\xce"


def answered(peer: Peer, channel: int = 1) -> MethodArrived:
    """The answer to ``question``; raises Unmet if there is none."""
    return peer.expect("exchange.declare-ok", channel=channel)


def sent_frames(peer: Peer, kind: str, channel: int | None = None) -> list[Frame]:
    """The frames of a type by name that the server has sent, in order."""
    code = peer.dialect.layout.types[kind]
    return [f for f in peer.assembler.frames if f.type == code and channel in (None, f.channel)]


def tested(peer: Peer, octets: bytes) -> MethodArrived | None:
    """The answer to a method of class ``test``; None if the server does not have the class.

    The class is part of the functional layer, which the draft does not mention: a server may work without it. It
    answers with a reply code, or it treats the class like one that no one defined. Raises Unmet for any other
    answer.
    """
    peer.send_octets(octets)
    answer = peer.arrival("test.integer-ok", "test.string-ok", "test.table-ok")
    if isinstance(answer, MethodArrived) and not answer.name.endswith(".close"):
        return answer
    if isinstance(answer, MethodArrived) and answer["reply_code"] in _WITHOUT_CLASS:
        return None
    # A bare end proves nothing by itself: a class that no one has must bring the same about.
    if isinstance(answer, Ended) and _ends_at_undefined_classes(peer.another()):
        return None
    raise Unmet("an answer to a method of class test", answer.describe(peer.dialect), answer)


def _ends_at_undefined_classes(peer: Peer) -> bool:
    """Whether a method of an undefined class ends the socket silently."""
    peer.open_channel()
    peer.send_frame("method", struct.pack(">HH", _UNDEFINED_CLASS, 10))
    return isinstance(peer.arrival(), Ended)


def fetch_all(peer: Peer, queue: str, channel: int = 1) -> list[bytes]:
    """Take everything out of a queue, one by one, up to a message sent after all others; returns the bodies in order.

    Raises Unmet.
    """
    # By get: peers of 0-8 differ in the fields that they expect of a consumer.
    peer.publish(queue, _END, channel=channel)
    bodies: list[bytes] = []
    while (body := fetch(peer, queue, channel).body) != _END:
        bodies.append(body)
    return bodies
