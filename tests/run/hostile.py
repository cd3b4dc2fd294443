"""Servers that behave badly on purpose, on loopback, each for a bounded time."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

Behaviour = Callable[[socket.socket, threading.Event], None]


@contextmanager
def hostile(behave: Behaviour) -> Iterator[int]:
    """Serve every connection with a behaviour; returns the port."""
    stop = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    listener.settimeout(0.1)
    threads: list[threading.Thread] = []

    def one(client: socket.socket) -> None:
        with client, suppress(OSError):
            behave(client, stop)

    def accept() -> None:
        while not stop.is_set():
            with suppress(TimeoutError):
                client, _ = listener.accept()
                client.settimeout(0.2)
                thread = threading.Thread(target=one, args=(client,), daemon=True)
                threads.append(thread)
                thread.start()

    acceptor = threading.Thread(target=accept, daemon=True)
    acceptor.start()
    try:
        yield listener.getsockname()[1]
    finally:
        stop.set()
        acceptor.join()
        listener.close()
        for thread in threads:
            thread.join(5)


def garbage(client: socket.socket, stop: threading.Event) -> None:
    """Octets that are no AMQP."""
    client.sendall(b"\x01\x00\x00\x00\x00\x00\x05hello\x00" + bytes(range(256)) * 8)
    stop.wait(20)


def nothing(client: socket.socket, stop: threading.Event) -> None:
    """Silence."""
    stop.wait(60)


def drip(client: socket.socket, stop: threading.Event) -> None:
    """One octet a second of a frame that never ends."""
    client.sendall(b"\x01\x00\x00\x00\x00\xff")
    while not stop.wait(1.0):
        client.sendall(b"\x00")


def giant(client: socket.socket, stop: threading.Event) -> None:
    """A frame that announces 4 GiB."""
    client.sendall(struct.pack(">BHI", 1, 0, 0xFFFFFFFF))
    stop.wait(20)


def endless(client: socket.socket, stop: threading.Event) -> None:
    """Heartbeat frames without end."""
    client.settimeout(None)
    frames = b"\x08\x00\x00\x00\x00\x00\x00\xce" * 1024
    while not stop.is_set():
        client.sendall(frames)


def hang_up(client: socket.socket, stop: threading.Event) -> None:
    """Accept, and close."""


def reset(client: socket.socket, stop: threading.Event) -> None:
    """Accept, and reset."""
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def header_only(client: socket.socket, stop: threading.Event) -> None:
    """Another protocol's header, and close."""
    client.recv(8)
    client.sendall(b"AMQP\x03\x01\x00\x00")


BEHAVIOURS: dict[str, Behaviour] = {
    behave.__name__: behave
    for behave in (garbage, nothing, drip, giant, endless, hang_up, reset, header_only)
}


def cutting(port: int, after_octets: int) -> Behaviour:
    """A proxy to a real server that ends each connection after this many octets of the server."""

    def behave(client: socket.socket, stop: threading.Event) -> None:
        with socket.create_connection(("127.0.0.1", port)) as server:
            server.settimeout(0.02)
            client.settimeout(0.02)
            left = after_octets
            while left > 0 and not stop.is_set():
                with suppress(TimeoutError):
                    octets = client.recv(65536)
                    if not octets:
                        return
                    server.sendall(octets)
                with suppress(TimeoutError):
                    octets = server.recv(left)
                    if not octets:
                        return
                    client.sendall(octets)
                    left -= len(octets)

    return behave
