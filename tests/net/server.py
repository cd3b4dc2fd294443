"""A server on loopback that does with its one client what it is told."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Behave = Callable[[socket.socket], None]
GUARD_S = 20.0


@contextmanager
def serving(behave: Behave, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1") -> Iterator[int]:
    """Serve one client in a thread; gives the port. The client's socket is closed when ``behave`` comes back."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family)
    listener.settimeout(GUARD_S)

    def serve() -> None:
        with suppress(OSError):
            client, _ = listener.accept()
            with client:
                client.settimeout(GUARD_S)
                if tls is None:
                    behave(client)
                else:
                    with tls.wrap_socket(client, server_side=True) as wrapped:
                        behave(wrapped)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.close()
        thread.join(GUARD_S)


def reset(client: socket.socket) -> None:
    """Close with a reset instead of an orderly end."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def drain(client: socket.socket) -> bytes:
    """Everything until the client's end."""
    chunks = []
    while chunk := client.recv(65536):
        chunks.append(chunk)
    return b"".join(chunks)
