"""Every fault shows in octets: some script of a client gets another answer than from the clean broker."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from urllib.parse import urlsplit

import pytest

from harness.reference.faults import behaviours
from harness.reference.server import ReferenceBroker
from tests.reference.amqp_1_0.scripts import SCRIPTS, SLOW

DIALECT = "amqp-1-0"
PATIENCE_S = 0.7
WORKERS = 24
ELSEWHERE: Mapping[str, str] = {
    "tls-header-demanded-inside-tls": "inside TLS only",
    "sender-settles-on-its-own": "after a time to live",
    "answers-in-reverse": "order within one write",
    "split-frames-lost": "needs pieces: conversations",
    "half-close-ends-the-socket-bare": "needs a half-closed socket",
    "deaf-after-close": "needs two writes: refusals",
    "links-to-deleted-node-stay": "needs two connections: conversations",
    "deleted-node-told-as-forced": "needs two connections: conversations",
    "failed-links-not-resumed": "needs a look at answers between writes",
    "failed-terminus-forgotten": "needs a look at answers between writes",
}


def heard(broker: ReferenceBroker, name: str) -> list[bytes]:
    """What the broker says on each of a script's connections, one after the other."""
    parts = urlsplit(broker.url)
    told = []
    for octets in SCRIPTS[name]:
        with socket.create_connection((parts.hostname, parts.port or 0), PATIENCE_S) as connection:
            connection.sendall(octets)
            told.append(_all(connection))
    return told


def _all(connection: socket.socket) -> bytes:
    octets = b""
    try:
        while part := connection.recv(1 << 20):
            octets += part
    except TimeoutError:
        return octets + b" and silence"
    except ConnectionResetError:
        return octets + b" and reset"
    return octets


@cache
def clean(name: str) -> list[bytes]:
    with ReferenceBroker(DIALECT) as broker:
        return heard(broker, name)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_answered_the_same_way_each_time(name: str) -> None:
    with ReferenceBroker(DIALECT) as broker:
        assert heard(broker, name) == clean(name)


def _shows(fault: str) -> bool:
    """Whether some script is answered in another way."""
    for name in SCRIPTS:
        with ReferenceBroker(DIALECT, faults=[fault]) as broker:
            if heard(broker, name) != clean(name):
                return True
    return False


def test_every_fault_shows() -> None:
    for name in SCRIPTS:
        clean(name)
    faults = [name for name in behaviours(DIALECT) if name not in {*ELSEWHERE, *SLOW}]
    with ThreadPoolExecutor(WORKERS) as pool:
        shown = dict(zip(faults, pool.map(_shows, faults), strict=True))
    hidden = [fault for fault, shows in shown.items() if not shows]
    assert not hidden, " ".join(hidden)
