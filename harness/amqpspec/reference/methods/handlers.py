"""The registry of method handlers.

Knows: names of methods. Must not know: the effects of handlers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.contents import Received
from amqpspec.wire.methods.codec import Call

ChannelHandler: TypeAlias = Callable[[Channel, Call], None]
ConnectionHandler: TypeAlias = Callable[[Connection, Call], None]
ContentHandler: TypeAlias = Callable[[Channel, Received], None]

CHANNEL_HANDLERS: dict[str, ChannelHandler] = {}
CONNECTION_HANDLERS: dict[str, ConnectionHandler] = {}
CONTENT_HANDLERS: dict[str, ContentHandler] = {}


def handles(name: str) -> Callable[[ChannelHandler], ChannelHandler]:
    """Register the handler of a method that comes in on a channel."""

    def register(handler: ChannelHandler) -> ChannelHandler:
        CHANNEL_HANDLERS[name] = handler
        return handler

    return register


def handles_on_connection(name: str) -> Callable[[ConnectionHandler], ConnectionHandler]:
    """Register the handler of a method that comes in on channel 0."""

    def register(handler: ConnectionHandler) -> ConnectionHandler:
        CONNECTION_HANDLERS[name] = handler
        return handler

    return register


def handles_content(name: str) -> Callable[[ContentHandler], ContentHandler]:
    """Register the handler of a whole content."""

    def register(handler: ContentHandler) -> ContentHandler:
        CONTENT_HANDLERS[name] = handler
        return handler

    return register
