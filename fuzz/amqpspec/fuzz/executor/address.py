"""Where a target listens, and what octets go through on the way there.

Knows: hosts, ports, TLS settings, paths of WebSockets. Must not know: connections, the data on them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from amqpspec.fuzz.executor.tls import Pipe, Tls
from amqpspec.net.stream import Endpoint
from amqpspec.target.url import AmqpUrl

if TYPE_CHECKING:
    from amqpspec.fuzz.executor.web import WebPipe


@dataclass(frozen=True, slots=True)
class Address:
    """Where the target listens. ``tls`` holds the settings of a TLS stream, ``path`` the path of a WebSocket."""

    host: str
    port: int
    tls: Tls | None = None
    path: str = ""

    @classmethod
    def of(cls, url: AmqpUrl) -> Self:
        """The address in a URL."""
        return cls(url.host, url.port, Tls.of(url), url.path)

    @property
    def endpoint(self) -> Endpoint:
        """The endpoint for a stream of the runner. Raises ConfigError for files that cannot be used."""
        if self.tls is None:
            return Endpoint(self.host, self.port, websocket=self.path)
        return Endpoint(self.host, self.port, self.tls.context, self.tls.server_name(self.host), self.path)

    def pipe(self) -> Pipe | WebPipe | None:
        """What transforms octets on a new connection; None if they are sent as they are."""
        below = Pipe(self.tls, self.host) if self.tls else None
        if not self.path:
            return below
        # Imported here: it needs an extra.
        from amqpspec.fuzz.executor.web import WebPipe
        from amqpspec.wire.websocket import WebSocket

        return WebPipe(WebSocket(self.endpoint.authority, self.path), below)
