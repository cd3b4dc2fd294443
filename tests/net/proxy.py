"""An HTTP proxy on loopback that leads on where CONNECT says.

Knows: sockets, threads. Must not know: what is tunnelled.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.net.http import read_request
from tests.net.server import GUARD_S


@contextmanager
def proxying() -> Iterator[tuple[int, list[str]]]:
    """Gives its port, and the requests that came; it serves any number of clients."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    requests: list[str] = []

    def lead(client: socket.socket) -> None:
        with client, suppress(OSError):
            request = read_request(client).decode()
            requests.append(request)
            host, _, port = request.split(" ")[1].rpartition(":")
            with socket.create_connection((host.strip("[]"), int(port)), GUARD_S) as target:
                target.settimeout(None)
                client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                back = threading.Thread(target=_pump, args=(target, client), daemon=True)
                back.start()
                _pump(client, target)
                back.join()

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                threading.Thread(target=lead, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield listener.getsockname()[1], requests
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def _pump(source: socket.socket, sink: socket.socket) -> None:
    with suppress(OSError):
        while octets := source.recv(65_536):
            sink.sendall(octets)
    with suppress(OSError):
        sink.shutdown(socket.SHUT_WR)
