"""Dispatches the arrivals on one channel: methods to their handlers, contents to those of the announcing method.

Knows: what may be between a method and its content, which user may call which method. Must not know: the meaning of
methods.
"""

from __future__ import annotations

from amqpspec.reference.fault import fault_table
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.classes.access import shows_good_ticket
from amqpspec.reference.methods.contents import Received, Spoilt
from amqpspec.reference.methods.handlers import CHANNEL_HANDLERS, CONTENT_HANDLERS
from amqpspec.reference.methods.outgoing import is_quiet
from amqpspec.reference.refusing import RefusedError
from amqpspec.wire.methods.codec import Call


def on_method(channel: Channel, call: Call) -> None:
    """A method has arrived.

    A content's frames follow its method with no other method of the same channel between them (0-9-1 §4.2.6), so a
    method where header or body was due ends that content. While the broker waits for close-ok nothing of it counts.
    """
    if channel.faulty("method-elsewhere-ends-content"):
        for other in channel.connection.channels.values():
            other.content = channel.content if other is channel else None
    if channel.content is not None and not channel.closing:
        if channel.content.begun and channel.faulty("methods-within-contents-not-answered"):
            return
        _abort_content(channel, call.name)
    if not _permitted(channel, call):
        channel.refuse("constant/access-refused", f"{call.name} is not permitted")
    if "ticket" in call.args and not shows_good_ticket(channel, call):
        return
    try:
        CHANNEL_HANDLERS[call.name](channel, call)
    except RefusedError:
        if not (is_quiet(call) and channel.faulty("no-wait-failure-swallowed")):
            raise


def _abort_content(channel: Channel, name: str) -> None:
    content, channel.content = channel.content, None
    assert content is not None
    if content.begun and channel.faulty("content-goes-on-behind-a-method"):
        channel.content = content
        return
    if not content.begun:
        channel.refuse("amq_wlp_content_01", f"{name} where a content header was due")
    else:
        channel.refuse("wire/content/aborted-by-method", f"{name} inside a content")
        _complete(channel, content.cut_short())


def _permitted(channel: Channel, call: Call) -> bool:
    """Whether the user may do that: a user without rights may still open and close channels, to be refused on one."""
    user = channel.connection.user
    return call.method.class_name == "channel" or (user is not None and user.may_work)


def on_content(channel: Channel, kind: str, payload: bytes) -> None:
    """A frame of a content has arrived; one that is refused ends the content."""
    # Taken away first: where a refusal is raised below, the channel waits for no content any more.
    content, channel.content = channel.content, None
    if content is None:
        _unexpected(channel, kind)
        return
    try:
        received = content.header(payload) if kind == "header" else content.body(payload)
    except Spoilt:
        return
    if received is None:
        channel.content = content
    else:
        _complete(channel, received)


def _unexpected(channel: Channel, kind: str) -> None:
    if kind == "header":
        channel.refuse("wire/content/unexpected-header", "a content header that no method announced")
    else:
        channel.refuse("wire/content/unexpected-body", "a content body that no method announced")


def _complete(channel: Channel, received: Received) -> None:
    if channel.faulty("lowest-channel-alone-publishes") and channel.number != min(
        channel.connection.channels
    ):
        return
    CONTENT_HANDLERS[received.call.name](channel, received)


FAULTS = fault_table("""
no-wait-failure-swallowed: a method without reply that fails is passed over [domain/no-wait queue/declare/no-wait]
content-goes-on-behind-a-method: a method within a content does not end the content
    [wire/content/aborted-by-method]
methods-within-contents-not-answered: a method within a content is neither executed nor refused
    [wire/content/aborted-by-method]
method-elsewhere-ends-content: a method on one channel ends the contents on their way in on the others
lowest-channel-alone-publishes: contents on other channels than the lowest open one are discarded
""")
