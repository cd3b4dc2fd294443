"""A WebSocket server's side by hand, and a bridge from WebSocket to TCP, both on loopback.

Knows: wsproto, threads. Must not know: what the octets mean.
"""

from __future__ import annotations

import re
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha1

from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, BytesMessage, CloseConnection, Event, Ping, Request
from wsproto.utilities import ProtocolError

from tests.net.http import read_request
from tests.net.server import GUARD_S

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CLOSE = bytes.fromhex("880203e8")


def agree(client: socket.socket, *, subprotocol: bytes = b"amqp", behind: bytes = b"") -> bytes:
    """Take the request and agree to it, with octets in the same segment; returns the request."""
    request = read_request(client)
    key = re.search(rb"Sec-WebSocket-Key: (.*)\r\n", request)
    assert key is not None
    client.sendall(
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Protocol: " + subprotocol + b"\r\n"
        b"Sec-WebSocket-Accept: " + b64encode(sha1(key[1] + _GUID).digest()) + b"\r\n\r\n" + behind
    )
    return request


class _Bridge:
    """One client: its messages continue as octets, what returns goes in two fragments with a ping between them."""

    def __init__(self, client: socket.socket, port: int) -> None:
        self._client = client
        self._broker = socket.create_connection(("127.0.0.1", port), GUARD_S)
        self._broker.settimeout(None)
        for end in (client, self._broker):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._web = WSConnection(ConnectionType.SERVER)
        self._lock = threading.Lock()

    def run(self) -> None:
        back = threading.Thread(target=self._back, daemon=True)
        with self._client, self._broker, suppress(OSError, ProtocolError):
            self._forth(back)
            self._broker.shutdown(socket.SHUT_WR)
            if back.ident is not None:
                back.join()

    def _forth(self, back: threading.Thread) -> None:
        while octets := self._client.recv(65536):
            with self._lock:
                self._web.receive_data(octets)
                events = list(self._web.events())
            for event in events:
                if isinstance(event, Request):
                    self._send(AcceptConnection(subprotocol="amqp"))
                    back.start()
                elif isinstance(event, BytesMessage):
                    self._broker.sendall(event.data)
                elif isinstance(event, CloseConnection):
                    self._send(event.response())
                    return

    def _back(self) -> None:
        with suppress(OSError, ProtocolError):
            while octets := self._broker.recv(65536):
                half = len(octets) // 2
                self._send(BytesMessage(data=octets[:half], message_finished=False))
                self._send(Ping(payload=b"still there?"))
                self._send(BytesMessage(data=octets[half:]))
            self._send(CloseConnection(code=1000))
            self._client.shutdown(socket.SHUT_WR)

    def _send(self, event: Event) -> None:
        with self._lock:
            self._client.sendall(self._web.send(event))


@contextmanager
def bridging(port: int, tls: ssl.SSLContext | None = None) -> Iterator[int]:
    """A WebSocket server in front of a port, for any number of clients; returns its own port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)

    def serve(client: socket.socket) -> None:
        with suppress(OSError):
            wrapped = client if tls is None else tls.wrap_socket(client, server_side=True)
            _Bridge(wrapped, port).run()

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1]
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
