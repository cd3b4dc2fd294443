"""Method frames: class-id, method-id, arguments (method frames, and the grammar's rows on payloads)."""

from __future__ import annotations

import struct

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import borne_aloud, equals
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._wire import method_payload, sent_method, shortstr, table

_PASSIVE = 0x01
# Both are in what the standard keeps for itself, 0x0001 to 0xEFFF (amqp-wire-9-1
# method-frames/standard-classes): no extension can be there.
_UNDEFINED_CLASS = 0x00FF
_LAST_STANDARD_CLASS = 0xEFFF
_TICKET = b"\x00\x00"


@on_channel("method.payload", covers=["grammar/method-payload"])
def payload_by_hand(peer: Peer) -> Verdict:
    """The server reads a payload of class-id, method-id and fields and answers in the same format."""
    peer.claim("flow-ok: class 20, method 21, one octet of bits")
    # Class 20, method 20 (flow), active.
    peer.send_frame("method", bytes.fromhex("0014001401"))
    peer.expect("channel.flow-ok")
    return equals(
        peer, sent_method(peer, "channel.flow-ok").payload.hex(), "0014001501", "payload of the answer"
    )


@on_channel("method.payload.cut", covers=["grammar/method-payload"])
def payload_that_ends_early(peer: Peer) -> Verdict:
    """A method that ends within one of its fields is refused."""
    # After the ticket, the queue's name announces 0x14 = 20 octets; three follow.
    peer.send_frame("method", method_payload(peer, "queue.declare", _TICKET + b"\x14cut"))
    return rejects_violation(peer)


@on_channel("method.payload.no-arguments", covers=["grammar/method-payload"])
def payload_without_fields(peer: Peer) -> Verdict:
    """A method that ends after its class and method ids, although it has fields, is refused."""
    peer.send_frame("method", method_payload(peer, "queue.declare"))
    return rejects_violation(peer)


@on_queue("method.payload.goes-on", covers=["grammar/method-payload"])
def payload_that_goes_on(peer: Peer, queue: str) -> Verdict:
    """A method that continues after its last field is refused, or what follows the field is ignored."""
    arguments = _TICKET + shortstr(queue) + bytes((_PASSIVE,)) + table(b"") + b"more"
    peer.send_frame("method", method_payload(peer, "queue.declare", arguments))
    return borne_aloud(peer, peer.reaction())


@on_channel("method.ids.zero-class", covers=["grammar/ids-non-zero"])
def class_zero(peer: Peer) -> Verdict:
    """A method of class 0 is refused."""
    peer.send_frame("method", struct.pack(">HH", 0, 10))
    return rejects_violation(peer)


@on_channel("method.ids.zero-method", covers=["grammar/ids-non-zero"])
def method_zero(peer: Peer) -> Verdict:
    """Method 0 of a defined class is refused."""
    peer.send_frame("method", struct.pack(">HH", peer.dialect.classes_by_name["queue"].index, 0))
    return rejects_violation(peer)


@on_channel("method.ids", covers=["method-frames/ids"])
def payload_without_room_for_ids(peer: Peer) -> Verdict:
    """A payload too short for both ids is refused."""
    # Class 50 (queue), and one octet of a method-id.
    peer.send_frame("method", b"\x00\x32\x00")
    return rejects_violation(peer)


@on_channel("method.ids.empty", covers=["method-frames/ids"])
def empty_payload(peer: Peer) -> Verdict:
    """An empty method frame is refused."""
    peer.send_frame("method", b"")
    return rejects_violation(peer)


@on_channel("method.standard-classes", covers=["method-frames/standard-classes"])
def undefined_class_of_the_standard(peer: Peer) -> Verdict:
    """A method of a class that is reserved for the standard and undefined is refused."""
    peer.send_frame("method", struct.pack(">HH", _UNDEFINED_CLASS, 10))
    return rejects_violation(peer)


@on_channel("method.standard-classes.last", covers=["method-frames/standard-classes"])
def last_class_of_the_standard(peer: Peer) -> Verdict:
    """A method of the highest class that is reserved for the standard is refused."""
    peer.send_frame("method", struct.pack(">HH", _LAST_STANDARD_CLASS, 10))
    return rejects_violation(peer)
