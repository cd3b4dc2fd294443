"""Ports of this machine: which one is free, and whether somebody listens.

Knows: TCP sockets on the loopback interface.
Must not know: who is going to listen, or why.
"""

from __future__ import annotations

import contextlib
import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port of the loopback interface which nobody listened on a moment ago."""
    return free_ports(1)[0]


def free_ports(count: int) -> tuple[int, ...]:
    """Several such ports, no two the same."""
    with contextlib.ExitStack() as held:
        probes = [held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM)) for _ in range(count)]
        for probe in probes:
            probe.bind((LOOPBACK, 0))
        return tuple(probe.getsockname()[1] for probe in probes)


def is_listening(host: str, port: int, timeout_s: float = 1.0) -> bool:
    """Whether a TCP connection to the address is accepted (it is closed at once)."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s):
            return True
    except OSError:
        return False
