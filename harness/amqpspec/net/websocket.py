"""A stream within a WebSocket: the interface of ``net.stream.Stream``, for the octets in messages.

Knows: the stream below, the clock. Must not know: frames of AMQP, how WebSocket frames are encoded.

A WebSocket cannot be half-closed: closing the write side closes that of the stream below, without a close frame, so
that the target is not asked to stop sending. A received close frame ends the octets, whatever happens to the stream
below.
"""

from __future__ import annotations

from amqpspec.net.stream import ConnectError, Endpoint, Stream
from amqpspec.wire.errors import WireError
from amqpspec.wire.transport import StreamEnd, StreamEnded
from amqpspec.wire.websocket import WebSocket


class WebSocketStream:
    """One connection; ``amqpspec.wire.transport.Transport`` documents the interface."""

    def __init__(self, endpoint: Endpoint, connect_timeout_s: float = 5.0) -> None:
        self._stream = Stream(endpoint, connect_timeout_s)
        self.local, self.remote = self._stream.local, self._stream.remote
        self._arrived = self._owed = b""
        self._stuck = False
        try:
            self._web = WebSocket(endpoint.authority, endpoint.websocket)
            self._shake(connect_timeout_s)
        except (WireError, UnicodeError) as error:
            self._stream.close()
            where = f"{endpoint.authority}{endpoint.websocket}"
            raise ConnectError(f"WebSocket with {where} failed: {error}") from (error.__cause__ or error)

    def now(self) -> float:
        """The monotonic clock in seconds."""
        return self._stream.now()

    def send(self, octets: bytes) -> bool:
        """Send all octets while reading arrivals; returns False if the target no longer accepts octets."""
        packed = self._web.pack(octets)
        if self._stuck or (octets and not packed):
            return False
        owed, self._owed = self._owed, b""
        # The rest of a message that was sent in part would spoil the next one.
        self._stuck = not self._stream.send(owed + packed)
        return not self._stuck

    def receive(self, until_s: float) -> bytes:
        """Octets, or ``b""`` at ``until_s``; raises StreamEnded, and WireError for invalid WebSocket frames."""
        while not self._arrived:
            if self._web.error is not None:
                raise self._web.error
            if self._web.is_over:
                raise StreamEnded(StreamEnd.FIN)
            octets = self._stream.receive(until_s)
            self._arrived = self._web.take(octets)
            self._answer()
            if not self._arrived and self.now() >= until_s:
                return b""
        arrived, self._arrived = self._arrived, b""
        return arrived

    def half_close(self, last: bytes = b"") -> None:
        """Close the write side of the stream below; sends ``last`` together with the end."""
        owed, self._owed = self._owed, b""
        self._stream.half_close(b"" if self._stuck else owed + self._web.pack(last))
        self._stuck = True

    def close(self) -> None:
        """Send a close frame if this is possible immediately, and close the socket."""
        if not self._stuck:
            self._stream.offer(self._owed + self._web.bye())
        self._stuck = True
        self._stream.close()

    def _answer(self) -> None:
        """Answer the latest ping and the close, if there is room; a pending answer delays others."""
        if self._stuck:
            return
        if self._web.pong and not self._owed:
            self._owed = self._web.pong
        self._web.pong = b""
        if self._web.is_over:
            self._owed += self._web.bye()
        self._owed = self._owed[self._stream.offer(self._owed) :]

    def _shake(self, timeout_s: float) -> None:
        until_s = self.now() + timeout_s
        self._stream.send(self._web.hello)
        while not self._web.is_open:
            try:
                octets = self._stream.receive(until_s)
            except StreamEnded as ended:
                raise self._web.unanswered(str(ended.__cause__ or "the end of the connection")) from ended
            self._arrived = self._web.take(octets)
            if self._web.error is not None and not self._web.is_open:
                raise self._web.error
            if not self._web.is_open and self.now() >= until_s:
                raise self._web.unanswered(f"no complete answer within {timeout_s:g} s") from TimeoutError()
        self._answer()
