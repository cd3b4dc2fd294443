"""The only socket of the harness: non-blocking TCP or TLS that reads while it writes and records how a stream ended.

Knows: sockets, TLS, the monotonic clock. Must not know: frames, dialects, verdicts.

Octets that arrived before a reset are delivered before the reset is reported, so that a close method followed by RST
is not missed.
"""

from __future__ import annotations

import selectors
import socket
import ssl
import struct
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass

from amqpspec.net.proxy import Proxy
from amqpspec.wire.transport import StreamEnd, StreamEnded

READ_OCTETS = 65536
_BACKLOG_OCTETS = 4 << 20
_SEND_PATIENCE_S = 10.0
_RESET = struct.pack("ii", 1, 0)
"""Zero linger time: closing discards unsent data and sends RST."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address to connect to; with ``tls`` the stream uses TLS, with ``server_name`` for SNI and verification.

    ``websocket`` is the path of a WebSocket that carries the octets, empty if none does; ``proxy`` is used to
    connect.
    """

    host: str
    port: int
    tls: ssl.SSLContext | None = None
    server_name: str = ""
    websocket: str = ""
    proxy: Proxy | None = None

    @property
    def authority(self) -> str:
        """Host and port."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class ConnectError(OSError):
    """The endpoint could not be reached; the message is one line with the reason."""


class Stream:
    """One connection; ``amqpspec.wire.transport.Transport`` documents the interface."""

    def __init__(self, endpoint: Endpoint, connect_timeout_s: float = 5.0) -> None:
        self._socket = _connect(endpoint, connect_timeout_s)
        self._socket.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._socket, selectors.EVENT_READ)
        self._arrived: deque[bytes] = deque()
        self._arrived_octets = 0
        self._end: StreamEnd | None = None
        self._write_dead = False
        self._reset = False
        self._closed = False
        self._alert: ConnectError | None = None
        self._where = endpoint.authority
        self.local: tuple[str, int] = self._socket.getsockname()[:2]
        self.remote: tuple[str, int] = _peer_name(self._socket, endpoint)

    def now(self) -> float:
        """The monotonic clock in seconds."""
        return time.monotonic()

    def send(self, octets: bytes) -> bool:
        """Send all octets while reading arrivals; returns False if the target no longer accepts octets."""
        view = memoryview(octets)
        until_s = time.monotonic() + _SEND_PATIENCE_S
        while view and not self._write_dead and time.monotonic() < until_s:
            sent = self._send_some(view)
            view = view[sent:]
            if view and not sent:
                self._wait(selectors.EVENT_READ | selectors.EVENT_WRITE, until_s)
                self._read_some()
        return not view

    def offer(self, octets: bytes) -> int:
        """Send the octets that the target accepts immediately; returns their number."""
        return 0 if self._write_dead or not octets else self._send_some(memoryview(octets))

    def receive(self, until_s: float) -> bytes:
        """Received octets, or ``b""`` at ``until_s``; raises StreamEnded after all octets were returned."""
        while True:
            if self._arrived:
                octets = self._arrived.popleft()
                self._arrived_octets -= len(octets)
                return octets
            if self._end is not None:
                raise StreamEnded(self._end) from self._alert
            self._read_some()
            if self._arrived or self._end is not None:
                continue
            if time.monotonic() >= until_s:
                return b""
            self._wait(selectors.EVENT_READ, until_s)

    def half_close(self, last: bytes = b"") -> None:
        """Shut the write side down; the system sends ``last`` and the end in one segment if it can."""
        if last:
            self._hold_back()
            self.send(last)
        self._write_dead = True
        if isinstance(self._socket, ssl.SSLSocket):
            self._say_goodbye(self._socket)
        with suppress(OSError):
            # Not SSLSocket.shutdown, which would also end the reading of records.
            socket.socket.shutdown(self._socket, socket.SHUT_WR)

    def _hold_back(self) -> None:
        """Hold back the following octets until the stream is ended, at least for a moment."""
        with suppress(OSError, AttributeError):
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)

    def _say_goodbye(self, tls: ssl.SSLSocket) -> None:
        """Send close_notify; if the other side has sent it already, nothing more can be read."""
        with suppress(ssl.SSLWantReadError, ssl.SSLWantWriteError, OSError, ValueError):
            tls.unwrap()
            self._end = self._end or StreamEnd.FIN

    def reset(self) -> None:
        """End the connection with a reset and discard unsent data."""
        if not self._closed:
            with suppress(OSError):
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            self.close()

    def close(self) -> None:
        """Close the socket."""
        if not self._closed:
            self._closed = self._write_dead = True
            self._end = self._end or StreamEnd.FIN
            self._selector.close()
            self._socket.close()

    def _send_some(self, view: memoryview) -> int:
        try:
            return self._socket.send(view[:READ_OCTETS])
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0
        except OSError as error:
            self._write_dead = True
            self._reset = self._reset or isinstance(error, ConnectionResetError)
            return 0

    def _read_some(self) -> None:
        if self._end is not None or self._full:
            return
        try:
            octets = self._socket.recv(READ_OCTETS)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return
        except ssl.SSLError as error:
            # An alert: with TLS 1.3, a server that requires a client certificate reports its absence after the
            # handshake.
            self._alert = ConnectError(f"TLS with {self._where} ended: {error}")
            self._end = StreamEnd.FIN
            return
        except OSError:
            self._end = StreamEnd.RST
            return
        if octets:
            self._arrived.append(octets)
            self._arrived_octets += len(octets)
        else:
            self._end = StreamEnd.RST if self._reset else StreamEnd.FIN

    @property
    def _full(self) -> bool:
        return self._arrived_octets > _BACKLOG_OCTETS

    def _wait(self, events: int, until_s: float) -> None:
        if isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():
            return
        if self._end is not None or self._full:
            events &= ~selectors.EVENT_READ
        if not events:
            return
        self._selector.modify(self._socket, events)
        self._selector.select(max(0.0, until_s - time.monotonic()))


def _peer_name(connected: socket.socket, endpoint: Endpoint) -> tuple[str, int]:
    """The target's address; unknown if the target has already reset the connection."""
    try:
        host, port = connected.getpeername()[:2]
    except OSError:
        return endpoint.host, endpoint.port
    return host, port


def _connect(endpoint: Endpoint, timeout_s: float) -> socket.socket:
    first = endpoint.proxy or endpoint
    through = f" through the proxy {first.authority}" if endpoint.proxy else ""
    try:
        raw = socket.create_connection((first.host, first.port), timeout_s)
        if endpoint.proxy is not None:
            endpoint.proxy.tunnel(raw, endpoint.authority, timeout_s)
    except (OSError, UnicodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise ConnectError(f"cannot connect to {endpoint.authority}{through}: {why}") from error
    with suppress(OSError):
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if endpoint.tls is None:
        return raw
    try:
        return endpoint.tls.wrap_socket(raw, server_hostname=endpoint.server_name or endpoint.host)
    except (OSError, ValueError) as error:
        raw.close()
        raise ConnectError(f"TLS with {endpoint.authority} failed: {error}") from error
