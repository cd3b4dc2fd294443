"""The wire level, second part: method payloads, bits, strings (PDF §4.2.4 to §4.2.5.3)."""

from __future__ import annotations

import struct

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._closing import is_locked
from amqpspec.suites.amqp_0_9_1._wire import fetch, method_payload, sent_method, shortstr, table

_PASSIVE, _EXCLUSIVE, _NO_WAIT = 0x01, 0x04, 0x10
"""Bits of queue.declare: the first, the third and the fifth from the low end."""


@on_channel("framing.method.unknown-class", covers=["wire/method/unknown-class"])
def unknown_class(peer: Peer) -> Verdict:
    """A method of an undefined class is refused."""
    # 0x00FF is one of the numbers reserved for standard classes (PDF §4.2.4): no server has an extension there.
    peer.send_frame("method", struct.pack(">HH", 0x00FF, 10))
    return rejects_violation(peer)


@on_channel("framing.method.unknown-method", covers=["wire/method/unknown-method"])
def unknown_method(peer: Peer) -> Verdict:
    """A method that is undefined in its class is refused."""
    peer.send_frame("method", struct.pack(">HH", peer.dialect.classes_by_name["queue"].index, 99))
    return rejects_violation(peer)


@on_channel("framing.method.no-arguments", covers=["wire/method/truncated-arguments"])
def arguments_left_out(peer: Peer) -> Verdict:
    """A method that ends after its class and method ids, although it has arguments, is refused."""
    peer.send_frame("method", method_payload(peer, "queue.declare"))
    return rejects_violation(peer)


@on_channel("framing.method.cut-in-string", covers=["wire/method/truncated-arguments"])
def cut_in_a_short_string(peer: Peer) -> Verdict:
    """A method that ends within a short string is refused."""
    # queue.declare begins with a reserved short, then the name: it announces 0x14 = 20 octets, three follow.
    peer.send_frame("method", method_payload(peer, "queue.declare", b"\x00\x00\x14cut"))
    return rejects_violation(peer)


@on_queue("framing.method.trailing-octets", covers=["wire/method/trailing-octets"])
def octets_behind_the_arguments(peer: Peer, queue: str) -> Verdict:
    """A method that continues after its last argument is refused."""
    arguments = _declare_passive(queue) + table(b"") + b"more"
    peer.send_frame("method", method_payload(peer, "queue.declare", arguments))
    return rejects_violation(peer)


@on_channel("framing.method.server-only", covers=["wire/method/server-only"])
def reply_from_a_client(peer: Peer) -> Verdict:
    """A reply that only servers may send is refused when a client sends it."""
    peer.send("queue.declare-ok", queue="x", message_count=0, consumer_count=0)
    return rejects_violation(peer)


@on_channel("framing.method.server-only-on-zero", covers=["wire/method/server-only"])
def handshake_method_from_a_client(peer: Peer) -> Verdict:
    """A method of the server's handshake is refused when a client sends it."""
    peer.send("connection.open-ok", channel=0)
    return rejects_violation(peer)


@on_channel("framing.bits.read", covers=["wire/bits/packing"])
def bits_are_read_from_the_low_end(peer: Peer) -> Verdict:
    """The server reads the third and fifth bits of an octet as the third and fifth flags (exclusive and no-wait)."""
    name = peer.will_clean("queue", peer.name("q"))
    peer.claim("an exclusive queue, declared without a reply")
    arguments = b"\x00\x00" + shortstr(name) + bytes((_EXCLUSIVE | _NO_WAIT,)) + table(b"")
    peer.send_frame("method", method_payload(peer, "queue.declare", arguments))
    peer.barrier()
    replies = peer.pending("queue.declare-ok")
    peer.call("queue.declare", queue=name, passive=True)
    # A second connection sees the exclusive bit: it finds the queue locked, not missing.
    other = peer.another().open_channel()
    other.send("queue.declare", queue=name, passive=True)
    arrival = other.arrival("queue.declare-ok")
    observed = f"{len(replies)} replies; to another client {arrival.describe(peer.dialect)}"
    return holds(peer, not replies and is_locked(peer, arrival), observed, seen=arrival)


@on_channel("framing.bits.sent", covers=["wire/bits/packing"])
def bits_are_sent_from_the_low_end(peer: Peer) -> Verdict:
    """The server sends a single bit of a method as the lowest bit of its octet."""
    peer.claim("flow-ok with the octet 0x01 for active")
    peer.call("channel.flow", active=True)
    # Behind class-id and method-id of 16 bits each.
    return equals(peer, sent_method(peer, "channel.flow-ok").payload[4:].hex(), "01", "arguments of flow-ok")


@on_channel("framing.strings.zero-octet", covers=["wire/strings/shortstr-zero-octet"])
def zero_octet_in_a_short_string(peer: Peer) -> Verdict:
    """A short string that contains a zero octet is refused."""
    # A routing key has no syntax of its own: nothing but the zero octet can be wrong with it.
    peer.publish("zero\0octet", b"")
    return rejects_violation(peer)


@on_channel("framing.strings.full-length", covers=["wire/strings/shortstr-full-length"])
def longest_short_string(peer: Peer) -> Verdict:
    """The server delivers a routing key of 255 octets of UTF-8 unchanged."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.call("queue.bind", queue=queue, exchange=exchange)
    # 127 letters of two octets and one of one octet: 255 octets in 128 characters, so a server that
    # counts characters is detected.
    key = "é" * 127 + "x"
    peer.claim("the routing key of 255 octets")
    peer.publish(key, b"body", exchange=exchange)
    return equals(peer, fetch(peer, queue)["routing_key"], key, "routing key")


def _declare_passive(queue: str = "") -> bytes:
    """The arguments of a passive queue.declare up to its table."""
    # A reserved short, the queue's name, one octet of bits.
    return b"\x00\x00" + shortstr(queue) + bytes((_PASSIVE,))
