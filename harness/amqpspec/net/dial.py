"""Connects to an endpoint with the kind of stream that it needs.

Knows: which kinds of streams exist. Must not know: how they work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from amqpspec.net.stream import Endpoint, Stream

if TYPE_CHECKING:
    from amqpspec.net.websocket import WebSocketStream

AnyStream: TypeAlias = "Stream | WebSocketStream"


def dial(endpoint: Endpoint, timeout_s: float = 5.0) -> AnyStream:
    """Connect, with this many seconds for each step; raises ConnectError."""
    if not endpoint.websocket:
        return Stream(endpoint, timeout_s)
    # Imported here: it needs an extra.
    from amqpspec.net.websocket import WebSocketStream

    return WebSocketStream(endpoint, timeout_s)
