"""A stream to an endpoint, of the kind that the endpoint asks for.

Knows: which kinds there are. Must not know: how they work.
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
