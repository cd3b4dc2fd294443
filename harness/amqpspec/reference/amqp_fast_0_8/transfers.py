"""Incoming messages: SEND, and PREPARE and READY for restartable ones.

Knows: fragments, heads, hashes, the stored part of a message. Must not know: the readers of a destination.
"""

from __future__ import annotations

import hashlib

from amqpspec.reference.amqp_fast_0_8.channels import Arriving
from amqpspec.reference.amqp_fast_0_8.connection import CODES, Connection
from amqpspec.reference.amqp_fast_0_8.destinations import ANY, QUEUE, TOPIC, Partial
from amqpspec.reference.amqp_fast_0_8.handle_commands import Args, confirm, may, on_handle
from amqpspec.reference.amqp_fast_0_8.handles import Handle
from amqpspec.reference.amqp_fast_0_8.limits import FRAME_MAX_OCTETS, MESSAGE_MAX_OCTETS
from amqpspec.reference.amqp_fast_0_8.messages import Head, message_of, read_head
from amqpspec.reference.fault import fault_table


@on_handle("handle.send", "handle/send/open")
def _send(connection: Connection, handle: Handle, args: Args) -> None:
    may(connection, handle, "producer")
    if handle.consumers and connection.faulty("readers-cannot-send"):
        connection.close_handle(handle.id, CODES["command-invalid"], "it reads")
        return
    _check(connection, handle, args)
    channel = handle.channel
    if channel.arriving is not None and channel.arriving.handle != handle.id:
        connection.refuse("messages/fragments/not-mixed", "another message is not complete")
        channel.arriving = None
    others = (other for other in connection.channels.values() if other is not channel)
    if connection.faulty("one-message-at-a-time") and any(other.arriving for other in others):
        connection.close_channel(channel.id, CODES["command-invalid"], "another channel sends")
        return
    if args["recovery"]:
        _recover(connection, handle, args)
        return
    arriving = channel.arriving = channel.arriving or Arriving(handle.id)
    first = not arriving.parts
    arriving.parts.append(args["fragment"])
    if first and args["fragment"]:
        _look_ahead(connection, handle, args["fragment"])
    if not args["partial"]:
        _complete(connection, handle, args)


def _check(connection: Connection, handle: Handle, args: Args) -> None:
    service, name = args["service_type"], args["dest_name"]
    if service not in (QUEUE, TOPIC, ANY):
        connection.refuse("handle/send/service-type", f"service type {service}")
    if service == QUEUE and connection.destinations.queue(name) is None:
        handle.channel.arriving = None
        connection.refuse("errors/destination", f"no queue {name!r}")


def _look_ahead(connection: Connection, handle: Handle, fragment: bytes) -> None:
    """The size of a message is known before it has arrived: refuse what is too large."""
    size = int.from_bytes(fragment[:4], "big") if len(fragment) >= 4 else 0
    if size > MESSAGE_MAX_OCTETS:
        handle.channel.arriving = None
        _die_of_size(connection)
        connection.refuse("messages/head/maximum", f"a body of {size} octets")
    if size > 1000 and connection.faulty("large-messages-refused"):
        connection.close_channel(handle.channel.id, CODES["message-too-large"], "too large")


def _die_of_size(connection: Connection) -> None:
    if connection.faulty("dies-of-large-messages"):
        connection.core.crash_soon()


def _complete(connection: Connection, handle: Handle, args: Args) -> None:
    channel, arriving = handle.channel, handle.channel.arriving
    channel.arriving = None
    if arriving is None or args["out_of_band"]:
        confirm(connection, handle, args, "send")
        return
    parts = arriving.parts[::-1] if connection.faulty("fragments-assembled-in-reverse") else arriving.parts
    if len(parts) > 1 and connection.faulty("head-within-first-fragment-only") and len(parts[0]) < 20:
        connection.close_channel(channel.id, CODES["invalid-content"], "half a head")
        return
    read = read_head(b"".join(parts), connection.refuse, connection.faulty)
    if read is None:
        return
    head, body = read
    if len(body) != head.body_size:
        connection.refuse(
            "messages/head/body-size", f"a body of {len(body)} octets, {head.body_size} announced"
        )
    if not body and connection.faulty("empty-bodies-refused"):
        connection.close_handle(handle.id, CODES["invalid-content"], "no body")
        return
    _accept(connection, handle, args, head, body)


def _accept(connection: Connection, handle: Handle, args: Args, head: Head, body: bytes) -> None:
    name, service = args["dest_name"], args["service_type"]
    destinations = connection.destinations
    if connection.faulty("body-cut-at-65535"):
        body = body[:65_535]
    message = message_of(head, body, name, connection, connection.aliases, connection.faulty)
    connection.core.room.take(message.size_octets)
    if not handle.consumers and connection.faulty("senders-receive-their-messages"):
        handle.notify(message, handle.channel.next_number(), delivered=True, redelivered=False)
    handle.channel.send(lambda: destinations.send(service, name, message))
    confirm(connection, handle, args, "send")


# --- restartable messages


@on_handle("handle.prepare", "handle/prepare/open")
def _prepare(connection: Connection, handle: Handle, args: Args) -> None:
    if not handle.channel.restartable or connection.faulty("prepare-refused"):
        connection.refuse("restartable/option", f"channel {handle.channel.id} is not restartable")
    read = read_head(args["fragment"], connection.refuse, connection.faulty)
    if read is None:
        return
    head, body = read
    if head.body_size > MESSAGE_MAX_OCTETS:
        _die_of_size(connection)
        connection.refuse("handle/ready/too-large", f"a body of {head.body_size} octets")
    if len(head.octets) + head.body_size <= min(FRAME_MAX_OCTETS, connection.frame_max_octets):
        connection.refuse("restartable/not-for-one-fragment", "a message that fits into one fragment")
    if handle.channel.upload is not None:
        connection.refuse("handle/prepare/not-batched", "a second PREPARE before the message of the first")
    handle.channel.upload = head
    _ready(connection, handle, _partial(connection, head, body, args["content_hash"]))


def _partial(connection: Connection, head: Head, body: bytes, hash: str) -> Partial:
    """What is here of a message: held from before, or what PREPARE brought."""
    partials = connection.destinations.partials
    key = head.octets[:8] if connection.faulty("heads-compared-in-part") else head.octets
    known = partials.get(key)
    if known is None or connection.faulty("partial-messages-dropped"):
        known = partials[key] = Partial(key, head.body_size)
    known.hash = hash
    if len(body) > len(known.body):
        known.body[:] = body
    return known


def _ready(connection: Connection, handle: Handle, partial: Partial) -> None:
    size = len(partial.body)
    if connection.faulty("ready-counts-the-head"):
        size += len(partial.head)
    if connection.faulty("ready-says-too-little") and size:
        size -= 1
    if not connection.faulty("prepare-not-answered"):
        handle.channel.say("handle.ready", handle_id=handle.id, message_size=size)


def _recover(connection: Connection, handle: Handle, args: Args) -> None:
    """Take the rest of a message that was prepared, fragment by fragment; each is held from now on."""
    head, fragment = handle.channel.upload, args["fragment"]
    if head is None:
        connection.refuse("messages/head/body-size", "recovery without PREPARE")
        return
    partials = connection.destinations.partials
    key = head.octets[:8] if connection.faulty("heads-compared-in-part") else head.octets
    # Another upload with the same head may have been completed meanwhile, and has taken what was held.
    partial = partials.setdefault(key, Partial(key, head.body_size))
    if not connection.faulty("rest-overwrites-the-beginning"):
        partial.body += fragment
    else:
        partial.body[: len(fragment)] = fragment
    if not args["partial"]:
        handle.channel.upload = None
        partials.pop(key)
        _verify(connection, handle, args, head, partial)


def _verify(connection: Connection, handle: Handle, args: Args, head: Head, partial: Partial) -> None:
    body = bytes(partial.body)
    if len(body) != head.body_size:
        connection.refuse(
            "messages/head/body-size", f"a body of {len(body)} octets, {head.body_size} announced"
        )
    wanted = partial.hash.lower()
    if not wanted and connection.faulty("empty-hash-is-compared"):
        wanted = "0"
    # The hash is the protocol's choice; it guards against broken lines, not against people.
    if wanted and hashlib.sha1(body, usedforsecurity=False).hexdigest() != wanted:
        connection.refuse("restartable/wrong-hash", "the contents do not have the hash of PREPARE")
    _accept(connection, handle, args, head, body)


@on_handle("handle.ready", "handle/ready/open")
def _client_ready(connection: Connection, handle: Handle, args: Args) -> None:
    if not connection.faulty("ready-not-answered"):
        handle.ready(args["message_size"])


FAULTS = fault_table("""
readers-cannot-send: a handle that reads cannot send any more [scenarios/sending/any-time]
senders-receive-their-messages: a handle that did not CONSUME receives what it sends [scenarios/receiving/consume-first]
one-message-at-a-time: while a message arrives on one channel, no other channel may send
    [messages/fragments/interleaved]
dies-of-large-messages: after a message that is announced as too large, the broker is gone for every client
    [messages/head/maximum handle/ready/too-large]
large-messages-refused: a body above 1000 octets is too large [messages/fragments/large handle/send/consecutive]
fragments-assembled-in-reverse: fragments are put together the wrong way round
    [messages/writing/cut messages/fragments/large channels/serial]
head-within-first-fragment-only: a head that is split makes the message invalid [messages/writing/cut]
empty-bodies-refused: a message without a body is invalid [messages/head/body]
body-cut-at-65535: octets of a body beyond 65535 are lost [messages/fragments/large frames/escape]
prepare-refused: PREPARE is not served on restartable channels either
    [restartable/upload restartable/supported handle/prepare/either handle/summary/server/prepare]
heads-compared-in-part: messages are the same if their heads begin alike [handle/prepare/identity]
partial-messages-dropped: the received part of a message is not stored
    [restartable/full handle/ready/temporary restartable/question]
ready-counts-the-head: READY counts the head as well [handle/ready/message-size restartable/minimum]
ready-says-too-little: READY reports one octet less than is stored
    [handle/ready/message-size restartable/full]
prepare-not-answered: PREPARE is not answered
    [handle/ready/answer restartable/supported handle/summary/server/prepare]
rest-overwrites-the-beginning: the rest of a message is put in place of its beginning
    [handle/send/restarted handle/send/recovery handle/send/head restartable/rest]
empty-hash-is-compared: an empty hash is compared, too [handle/prepare/no-hash]
ready-not-answered: after a client's READY, nothing is sent
    [handle/summary/server/ready handle/notify/restarted restartable/rest]
""")
