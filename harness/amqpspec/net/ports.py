"""Ports of this machine: which one is free, and whether a process listens.

Knows: TCP sockets on the loopback interface. Must not know: which process will listen.
"""

from __future__ import annotations

import contextlib
import itertools
import random
import socket
from collections.abc import Iterator

LOOPBACK = "127.0.0.1"
_PORTS = range(15_000, 32_000)


def free_port() -> int:
    """A port of the loopback interface that was free a moment ago."""
    return free_ports(1)[0]


def free_ports(count: int) -> tuple[int, ...]:
    """Several different free ports.

    They are below the range for outgoing connections, which could otherwise take a port before a slow broker listens
    on it. They are random, because other processes may search for ports at the same time; and by the system's numbers,
    because Hypothesis seeds those of a process with the same value in all of them.
    """
    with contextlib.ExitStack() as held:
        return tuple(itertools.islice(_held_ports(held), count))


def _held_ports(held: contextlib.ExitStack) -> Iterator[int]:
    for port in random.SystemRandom().sample(_PORTS, len(_PORTS)):
        probe = held.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        with contextlib.suppress(OSError):
            probe.bind((LOOPBACK, port))
            yield port


def is_listening(host: str, port: int, timeout_s: float = 1.0) -> bool:
    """Whether a TCP connection to the address is accepted (it is closed at once)."""
    try:
        with socket.create_connection((host, port), timeout=timeout_s):
            return True
    except OSError:
        return False
