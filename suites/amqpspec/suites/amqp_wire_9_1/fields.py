"""Data fields: integers, bits, strings, timestamps.

The class ``test``, where a server has it, computes with the fields that it was sent: its results show what the server
understood. Elsewhere, fields return in messages and in replies.
"""

from __future__ import annotations

import struct
from functools import partial

from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import declare
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import does_not_apply, equals, holds
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1 import framing_methods
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import arrive
from amqpspec.suites.amqp_0_9_1._wire import (
    begin_publish,
    fetch,
    header_payload,
    method_payload,
    sent_method,
    shortstr,
)
from amqpspec.suites.amqp_wire_9_1._wire import NO_TEST_CLASS, sent_frames, tested
from amqpspec.wire.values import Typed

borrow = partial(declare, globals())

_EXCLUSIVE, _NO_WAIT = 0x04, 0x10
"""Bits of queue.declare: the third and the fifth from the low end."""
_ADD, _MIN, _MAX = 1, 2, 3
"""The operations of class ``test``, in the order in which they are defined."""
# Bits 15 and 6: content-type is the first property, timestamp the tenth.
_CONTENT_TYPE, _TIMESTAMP = 0x8000, 0x0040
_EVERY_OCTET = bytes(range(256))
# Both halves of 64 bits have a bit set.
_BEYOND_31_BITS = 2**33 + 1
_MESSAGES = 258
"""As a count, two octets that differ."""
# The access ticket, 16 bits, comes first among the arguments of this version.
_TICKET = b"\x00\x00"

# integers


@on_channel("field.integers.sum", covers=["data-fields/integers/unsigned"])
def integers_are_added(peer: Peer) -> Verdict:
    """Integers of all four widths with the highest bit set are unsigned, most significant octet first."""
    # No two octets are the same, and the highest bit of three of them is set: any
    # swap or sign changes the sum.
    values = (0x81, 0x8203, 0x84050607, 0x08090A0B0C0D0E0F)
    peer.claim("the sum of the four integers")
    payload = method_payload(peer, "test.integer", struct.pack(">BHIQB", *values, _ADD))
    answer = tested(peer, peer.frame("method", payload))
    if answer is None:
        return does_not_apply(peer, NO_TEST_CLASS)
    return equals(peer, answer["result"], sum(values), "result")


@on_channel("field.integers.extremes", covers=["data-fields/integers/unsigned"])
def lowest_and_highest_integers(peer: Peer) -> Verdict:
    """The highest unsigned integer has all bits set, and the lowest is zero."""
    peer.claim("255 as the lowest, 18446744073709551615 as the highest")
    # All bits set in all four widths. Read with a sign, each would be -1.
    values = {"integer_1": 255, "integer_2": 65535, "integer_3": 2**32 - 1, "integer_4": 2**64 - 1}
    for operation, wanted in ((_MIN, 255), (_MAX, 2**64 - 1)):
        answer = tested(peer, peer.method_frame("test.integer", **values, operation=operation))
        if answer is None:
            return does_not_apply(peer, NO_TEST_CLASS)
        if answer["result"] != wanted:
            return equals(peer, answer["result"], wanted, "result")
    return holds(peer, True, "both")


@on_queue("field.integers.count", covers=["data-fields/integers/unsigned"])
def count_of_messages(peer: Peer, queue: str) -> Verdict:
    """The server sends a message count as a long integer, most significant octet first."""
    for _ in range(_MESSAGES):
        peer.publish(queue, b"")
    arrive(peer, queue, _MESSAGES)
    peer.claim(f"{_MESSAGES} messages in the octets 00 00 01 02")
    peer.call("queue.declare", queue=queue, passive=True)
    # declare-ok ends in message-count and consumer-count, 32 bits each.
    octets = sent_method(peer, "queue.declare-ok").payload[-8:-4]
    return equals(peer, octets.hex(), f"{_MESSAGES:08x}", "octets of message-count")


@on_queue("field.integers.unsigned-octet", covers=["data-fields/integers/unsigned"])
def octet_above_127(peer: Peer, queue: str) -> Verdict:
    """A property octet above 127 is unsigned."""
    peer.claim("the priority 200")
    # Priorities end at 9: a server has no use for 200, and is to pass it on as it is.
    peer.publish(queue, b"body", properties={"priority": 200})
    return equals(peer, fetch(peer, queue).properties.get("priority"), 200, "priority")


@on_channel("field.integers.unaligned", covers=["data-fields/integers/unaligned"])
def integers_at_any_octet(peer: Peer) -> Verdict:
    """Integers after strings of every length are read and sent correctly, in methods and in properties."""
    peer.claim("one message in each of four queues, and the same timestamp, at any offset")
    reported = []
    # Four lengths in a row: the integer after the string begins at every remainder of four.
    for length in range(4):
        queue = peer.queue(queue=peer.name("q") + "x" * length)
        begin_publish(peer, queue)
        listed = shortstr("x" * length) + struct.pack(">Q", _BEYOND_31_BITS)
        payload = header_payload(peer, 0, flags=(_CONTENT_TYPE | _TIMESTAMP,), properties=listed)
        peer.send_frame("header", payload)
        arrive(peer, queue, 1)
        counts = peer.call("queue.declare", queue=queue, passive=True)
        timestamp = fetch(peer, queue).properties.get("timestamp")
        reported.append((counts["message_count"], counts["consumer_count"], timestamp))
    return equals(peer, reported, [(1, 0, _BEYOND_31_BITS)] * 4, "messages, consumers, timestamp")


# bits


borrow(framing_methods.bits_are_read_from_the_low_end, "field.bits.read", ["data-fields/bits/packing"])
borrow(framing_methods.bits_are_sent_from_the_low_end, "field.bits.sent", ["data-fields/bits/packing"])


# strings


@on_channel("field.strings.short", covers=["data-fields/strings/short"])
def short_string_of_utf8(peer: Peer) -> Verdict:
    """A routing key with characters of two, three and four octets arrives unchanged."""
    queue, exchange = peer.queue(), peer.exchange("fanout")
    peer.call("queue.bind", queue=queue, exchange=exchange)
    # The last character needs more than 16 bits: four octets in UTF-8, two surrogates in UTF-16.
    key = "Schlüssel € 𝄞"
    peer.claim("the same routing key")
    peer.publish(key, b"body", exchange=exchange)
    return equals(peer, fetch(peer, queue)["routing_key"], key, "routing key")


@on_channel(
    "field.strings.joined",
    covers=["data-fields/strings/short", "data-fields/strings/long"],
)
def strings_are_joined(peer: Peer) -> Verdict:
    """A short string of UTF-8 and a long string of every octet are concatenated octet by octet."""
    peer.claim("both strings concatenated")
    arguments = shortstr("kurz: ü") + struct.pack(">I", 256) + _EVERY_OCTET + bytes((_ADD,))
    answer = tested(peer, peer.frame("method", method_payload(peer, "test.string", arguments)))
    if answer is None:
        return does_not_apply(peer, NO_TEST_CLASS)
    return equals(peer, answer["result"], "kurz: ü".encode() + _EVERY_OCTET, "result")


@on_channel("field.strings.zero-octet", covers=["data-fields/strings/short-zero-octet"])
def zero_octet_in_a_short_string(peer: Peer) -> Verdict:
    """A short string that contains a zero octet is refused as an argument."""
    peer.publish("zero\0octet", b"")
    return rejects_violation(peer)


@on_channel("field.strings.zero-octet-in-property", covers=["data-fields/strings/short-zero-octet"])
def zero_octet_in_a_property(peer: Peer) -> Verdict:
    """A short string that contains a zero octet is refused as a property."""
    peer.publish(peer.name("nowhere"), b"", properties={"message_id": "zero\0octet"})
    return rejects_violation(peer)


@on_queue("field.strings.long", covers=["data-fields/strings/long"])
def long_string_of_every_octet(peer: Peer, queue: str) -> Verdict:
    """A long string of every octet, longer than a short string can be, arrives unchanged."""
    peer.claim("the same long string")
    # 1280 octets, five times what the length of a short string can say.
    text = 5 * _EVERY_OCTET
    peer.publish(queue, b"body", properties={"headers": {"text": Typed("S", text)}})
    headers = fetch(peer, queue).properties.get("headers")
    got = headers.get("text") if headers is not None else None
    return holds(peer, got == text, "the same" if got == text else f"{got!r:.80}")


borrow(
    framing_methods.longest_short_string,
    "field.strings.longest",
    ["limitations/short-string", "data-fields/strings/short"],
)


# timestamps


@on_queue("field.timestamps", covers=["data-fields/timestamps/seconds"])
def timestamp_of_64_bits(peer: Peer, queue: str) -> Verdict:
    """A timestamp of more than 32 bits of seconds arrives unchanged, in 64 bits."""
    peer.claim("the same timestamp in 64 bits")
    peer.publish(queue, b"body", properties={"timestamp": _BEYOND_31_BITS})
    fetch(peer, queue)
    octets = sent_frames(peer, "header")[-1].payload
    return holds(peer, struct.pack(">Q", _BEYOND_31_BITS) in octets, f"content header {octets.hex(' ')}")
