"""What a server does with an HTTP request that it does not serve."""

from __future__ import annotations

import socket

from tests.net.server import Behave, reset


def read_request(client: socket.socket) -> bytes:
    """The octets of a request without a body."""
    request = b""
    while not request.endswith(b"\r\n\r\n"):
        octets = client.recv(65536)
        if not octets:
            raise ConnectionError("the end of the request")
        request += octets
    return request


def answering(answer: bytes) -> Behave:
    """Answer any request with these octets, then close."""

    def behave(client: socket.socket) -> None:
        read_request(client)
        client.sendall(answer)

    return behave


def resetting(client: socket.socket) -> None:
    """Reset the connection after a request."""
    read_request(client)
    reset(client)
