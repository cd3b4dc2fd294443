"""A server on loopback that does with its one client what the test says."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from amqpspec.net.dial import AnyStream
from amqpspec.wire.transport import StreamEnd, StreamEnded
from tests.waiting import PATIENCE_S

Behave = Callable[[socket.socket], object]
GUARD_S = PATIENCE_S


@contextmanager
def serving(
    behave: Behave, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1", times: int = 1
) -> Iterator[int]:
    """Serve this many clients, each in a thread; returns the port.

    A client's socket is closed when ``behave`` returns, or its socket breaks.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.create_server((host, 0), family=family)
    listener.settimeout(GUARD_S)

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.settimeout(GUARD_S)
            if tls is None:
                behave(client)
            else:
                with tls.wrap_socket(client, server_side=True) as wrapped:
                    behave(wrapped)

    def accept() -> None:
        with suppress(OSError):
            for _ in range(times):
                client, _ = listener.accept()
                threads.append(threading.Thread(target=serve, args=(client,), daemon=True))
                threads[-1].start()

    threads = [threading.Thread(target=accept, daemon=True)]
    threads[0].start()
    try:
        yield listener.getsockname()[1]
    finally:
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in threads:
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


def read_all(made: AnyStream) -> tuple[bytes, StreamEnd]:
    """Everything that arrives at a client, and how it ended."""
    octets = b""
    while True:
        try:
            octets += made.receive(made.now() + GUARD_S)
        except StreamEnded as ended:
            return octets, ended.how
