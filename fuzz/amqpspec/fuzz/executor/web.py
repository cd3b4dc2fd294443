"""A WebSocket over a stream that does not wait, inside TLS where the target has that: octets in messages, both ways.

Knows: the level below, what a WebSocket's octets are. Must not know: sockets, the data.
"""

from __future__ import annotations

from amqpspec.fuzz.executor.tls import Pipe
from amqpspec.wire.websocket import WebSocket

_OWED_OCTETS = 1 << 16
"""Pings are not answered while this much output is waiting."""


class WebPipe:
    """The client's side of a WebSocket, in the shape of ``Pipe``; ``below`` is the TLS level, if there is one."""

    def __init__(self, web: WebSocket, below: Pipe | None) -> None:
        self._web, self._below = web, below
        self._messages = bytearray(web.hello)

    @property
    def agreed(self) -> bool:
        """Whether octets can be sent in messages."""
        return self._web.is_open

    @property
    def out(self) -> bytearray:
        """What is to be sent."""
        return self._messages if self._below is None else self._below.out

    def arrived(self, octets: bytes) -> tuple[bytes, bool]:
        """Return the plain octets in what arrived, and whether the stream has ended; no octets mean its end."""
        over = not octets
        if self._below is not None:
            octets, over = self._below.arrived(octets)
        plain = self._web.take(octets)
        if len(self._messages) < _OWED_OCTETS:
            self._messages += self._web.pong
        self._web.pong = b""
        self._hand_down()
        return plain, over or self._web.is_over or self._web.error is not None

    def leave(self, plain: bytearray) -> None:
        """Put plain octets into messages after the server has agreed; they are taken out of ``plain``."""
        if self._web.is_open:
            self._messages += self._web.pack(bytes(plain))
            plain.clear()
        self._hand_down()

    def _hand_down(self) -> None:
        if self._below is not None:
            self._below.leave(self._messages)
