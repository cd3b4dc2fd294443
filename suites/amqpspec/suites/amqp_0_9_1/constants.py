"""Reply codes: one defined way to each of them (the constants of the specification)."""

from __future__ import annotations

import struct
from typing import Any

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.case import case
from amqpspec.run.methods.oracles import rejects_violation
from amqpspec.run.oracles import best, equals, holds, judge_reaction, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.amqp_0_9_1._cases import on_channel, on_queue
from amqpspec.suites.amqp_0_9_1._queues import arrive

# From 0xF000 upwards class-ids are for extensions (PDF §4.2.4).
_EXTENSION_CLASS = 0xF0F0


@on_channel("constants.no-consumers", covers=["constant/no-consumers", "basic/publish/immediate/return"])
def immediate_message_without_consumer(peer: Peer) -> Verdict:
    """An immediate message without a ready consumer is returned with no-consumers."""
    return _returned(peer, "no-consumers", routing_key=peer.queue(), immediate=True)


@on_channel("constants.no-route", covers=["constant/no-route", "basic/publish/mandatory/return"])
def mandatory_message_without_queue(peer: Peer) -> Verdict:
    """A mandatory message that no queue is bound for is returned with no-route."""
    return _returned(peer, "no-route", routing_key=peer.name("nowhere"), mandatory=True)


@case("constants.invalid-path", covers=["constant/invalid-path"])
def missing_virtual_host(peer: Peer) -> Verdict:
    """Opening a missing virtual host is refused with invalid-path."""
    peer.handshake()
    peer.send("connection.open", channel=0, virtual_host=peer.name("missing"))
    return rejects_violation(peer, 0, barrier=False)


@on_channel(
    "constants.access-refused", covers=["constant/access-refused", "exchange/declare/exchange/reserved"]
)
def reserved_name(peer: Peer) -> Verdict:
    """Declaring an exchange with a reserved name is refused with access-refused."""
    name = peer.will_clean("exchange", f"amq.{peer.name()}")
    peer.send("exchange.declare", exchange=name, type="direct")
    return rejects_violation(peer)


@case("constants.access-refused.permission", covers=["constant/access-refused"], hooks=["limited-user"])
def user_without_permission(peer: Peer) -> Verdict:
    """Declaring a queue without permission is refused with access-refused."""
    limited = peer.another("limited").open_channel()
    limited.send("queue.declare", queue=limited.will_clean("queue", limited.name("q")), exclusive=True)
    return rejects_violation(limited)


@on_channel("constants.not-found", covers=["constant/not-found"])
def missing_queue(peer: Peer) -> Verdict:
    """Consuming from a missing queue is refused with not-found."""
    peer.send("basic.consume", queue=peer.name("missing"))
    return rejects_violation(peer)


@on_channel(
    "constants.resource-locked", covers=["constant/resource-locked", "queue/declare/exclusive/exclusive"]
)
def queue_of_another_client(peer: Peer) -> Verdict:
    """Purging the exclusive queue of another client is refused with resource-locked."""
    queue = peer.queue(exclusive=True)
    other = peer.another().open_channel()
    other.send("queue.purge", queue=queue)
    return rejects_violation(other)


@on_queue(
    "constants.precondition-failed",
    covers=["constant/precondition-failed", "queue/delete/if-empty/not-empty"],
)
def queue_that_is_not_empty(peer: Peer, queue: str) -> Verdict:
    """Deleting a queue that has messages with if-empty is refused with precondition-failed."""
    peer.publish(queue, b"not empty")
    arrive(peer, queue, 1)
    peer.send("queue.delete", queue=queue, if_empty=True)
    return rejects_violation(peer)


@on_channel(
    "constants.precondition-failed.delivery-tag",
    covers=["constant/precondition-failed", "basic/ack/multiple/exists-unknown"],
)
def delivery_tag_that_never_was(peer: Peer) -> Verdict:
    """Acknowledging an unknown delivery tag is refused with precondition-failed."""
    peer.send("basic.ack", delivery_tag=7)
    return rejects_violation(peer)


@case("constants.frame-error", covers=["constant/frame-error"])
def method_frame_without_method(peer: Peer) -> Verdict:
    """A method frame too short for the class and method ids is refused with frame-error."""
    # 0x0032 = 50 is class queue; of the method-id all or half is missing.
    return worst([_refuses_method_frame(peer.another(), ids) for ids in (b"\x00\x32", b"\x00\x32\x00")])


def _refuses_method_frame(peer: Peer, payload: bytes) -> Verdict:
    peer.open_channel()
    peer.send_frame("method", payload)
    return rejects_violation(peer)


@on_channel(
    "constants.syntax-error",
    covers=["constant/syntax-error", "wire/strings/shortstr-zero-octet", "wire/content/malformed-header"],
)
def illegal_value(peer: Peer) -> Verdict:
    """A zero octet in a short string, which the type forbids, is refused with syntax-error, or as a bad content."""
    peer.publish(peer.name("nowhere"), b"", properties={"message_id": "zero\0octet"})
    reaction = peer.reaction()
    # In a property, it also makes the content badly formatted (PDF §4.2.6).
    rows = ("constant/syntax-error", "wire/content/malformed-header")
    return best(judge_reaction(peer, reaction, row) for row in rows)


@on_channel("constants.command-invalid", covers=["constant/command-invalid"])
def open_an_open_connection(peer: Peer) -> Verdict:
    """connection.open on an open connection is refused with command-invalid."""
    # connection.open travels on channel 0; the barrier is on channel 1, which is open.
    peer.send("connection.open", channel=0, virtual_host=peer.login.vhost)
    return rejects_violation(peer)


@case("constants.channel-error", covers=["constant/channel-error", "channel/grammar"])
def channel_that_is_not_open(peer: Peer) -> Verdict:
    """A method on a channel that was never opened is refused with channel-error."""
    peer.open_connection()
    peer.send("basic.qos", prefetch_count=1)
    return rejects_violation(peer, barrier=False)


@on_channel("constants.channel-error.closed", covers=["constant/channel-error", "channel/grammar"])
def channel_that_was_closed(peer: Peer) -> Verdict:
    """A method on a channel that was closed is refused with channel-error."""
    peer.call("channel.close", reply_code=200, reply_text="done")
    peer.send("basic.qos", prefetch_count=1)
    return rejects_violation(peer, barrier=False)


@on_channel(
    "constants.unexpected-frame", covers=["constant/unexpected-frame", "wire/content/unexpected-body"]
)
def body_where_a_method_is_due(peer: Peer) -> Verdict:
    """A content body in place of a method is refused with unexpected-frame."""
    peer.call("basic.qos", prefetch_count=1)
    peer.send_frame("body", b"out of place")
    return rejects_violation(peer)


@on_queue("constants.not-allowed", covers=["constant/not-allowed", "basic/consume/consumer-tag/duplicate"])
def consumer_tag_twice(peer: Peer, queue: str) -> Verdict:
    """A second use of a consumer tag on a channel is refused with not-allowed."""
    peer.consume(queue, consumer_tag="once")
    peer.send("basic.consume", queue=queue, consumer_tag="once")
    return rejects_violation(peer)


@on_channel("constants.not-implemented", covers=["constant/not-implemented", "wire/method/unknown-class"])
def class_of_an_extension(peer: Peer) -> Verdict:
    """A method of an extension that no server supports is refused with not-implemented, or as invalid."""
    peer.send_frame("method", struct.pack(">HH", _EXTENSION_CLASS, 1))
    return rejects_violation(peer)


def _returned(peer: Peer, code_name: str, *, routing_key: str, **flags: Any) -> Verdict:
    """A message published with a flag returns with a code by name, or is refused as the row tolerates."""
    peer.publish(routing_key, b"back", **flags)
    reaction = peer.reaction()
    if reaction.refusal is not None:
        return judge_reaction(peer, reaction)
    # A server may return from another thread than the one that answers.
    first = peer.arrival("basic.return")
    returned = [a for a in (first, *peer.pending("basic.return")) if isinstance(a, MethodArrived)]
    codes = [message["reply_code"] for message in returned if message.name == "basic.return"]
    # Without any return the flag has no effect, which breaks the second row and not this code.
    if not codes:
        return holds(peer, False, "no return", row=peer.context.requirements[1].id)
    return equals(peer, codes, [peer.dialect.constants_by_name[code_name].value], "codes of returns")
