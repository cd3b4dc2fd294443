"""A client with planted defects, as an agent: it can do ``connect`` only. A program of its own, not imported by tests.

Its first argument names the defect: what it does about a frame of unknown type, a huge size, a channel. Its second one
is the dialect.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import struct
import sys
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
DEFECT, DIALECT = sys.argv[1:3]
seen = 0


def meets(is_unknown: bool, channel: int, size: int) -> None:
    """Act out the defect where a frame asks for it."""
    global seen
    if DEFECT == "crash" and is_unknown:
        os.abort()
    if DEFECT == "third-crash" and is_unknown:
        seen += 1
        if seen == 3:
            os.abort()
    if DEFECT == "memory" and size > 1 << 24:
        kept = bytearray(b"x") * (300 << 20)
        time.sleep(600 + len(kept[:0]))
    if DEFECT == "hang" and channel:
        time.sleep(600)
    if DEFECT == "busy" and channel:
        until_s = time.process_time() + 1.0
        while time.process_time() < until_s:
            pass


def method(*parts: bytes) -> bytes:
    """A method frame on channel 0."""
    payload = b"".join(parts)
    return struct.pack(">BHI", 1, 0, len(payload)) + payload + b"\xce"


def control(code: int, *parts: bytes) -> bytes:
    """A control of AMQP 0-10 in a frame."""
    payload = struct.pack(">H", code) + b"".join(parts)
    return struct.pack(">BBHxBH4x", 0x0F, 0, 12 + len(payload), 0, 0) + payload


def performative(kind: int, code: int, *fields: bytes) -> bytes:
    """A performative of AMQP 1.0 in a frame."""
    listed = b"".join(fields)
    body = bytes((0, 0x53, code, 0xC0, 1 + len(listed), len(fields))) + listed
    return struct.pack(">IBBH", 8 + len(body), 2, kind, 0) + body


def short(text: bytes) -> bytes:
    """A short string."""
    return bytes((len(text),)) + text


def long(text: bytes) -> bytes:
    """A string behind four octets of size."""
    return struct.pack(">I", len(text)) + text


Read = Callable[[int], bytes]
LOGIN = b"\0guest\0guest"


def methods(read: Read, send: Callable[[bytes], None]) -> None:
    """AMQP 0-9-1: the handshake, and a close."""

    def expect(*ids: int) -> bytes:
        while True:
            kind, channel, size = struct.unpack(">BHI", read(7))
            meets(kind not in (1, 2, 3, 8), channel, size)
            payload = read(size)
            if read(1) != b"\xce":
                raise ValueError("no end of frame")
            if kind == 1 and payload[:4] == struct.pack(">HH", *ids):
                return payload

    send(b"AMQP\0\0\x09\1")
    expect(10, 10)
    send(method(struct.pack(">HHI", 10, 11, 0), short(b"PLAIN"), long(LOGIN), short(b"en_US")))
    expect(10, 30)
    send(method(struct.pack(">HHHIH", 10, 31, 10, 4096, 0)))
    send(method(struct.pack(">HH", 10, 40), short(b"/"), short(b""), b"\0"))
    expect(10, 41)
    send(method(struct.pack(">HHH", 10, 50, 200), short(b""), b"\0\0\0\0"))
    expect(10, 51)


def assemblies(read: Read, send: Callable[[bytes], None]) -> None:
    """AMQP 0-10: the handshake, and a close."""

    def expect(code: int) -> None:
        while True:
            _, kind, size, _, channel = struct.unpack(">BBHxBH4x", read(12))
            meets(kind > 3, channel, size)
            if read(max(size - 12, 0))[:2] == struct.pack(">H", code):
                return

    send(b"AMQP\1\1\0\12")
    read(8)
    expect(0x0101)
    send(control(0x0102, b"\x0f\0", long(b"\0\0\0\0"), short(b"PLAIN"), long(LOGIN), short(b"en_US")))
    expect(0x0105)
    send(control(0x0106, b"\7\0", struct.pack(">HHH", 10, 4096, 0)))
    send(control(0x0107, b"\1\0", short(b"/")))
    expect(0x0108)
    send(control(0x010B, b"\3\0", struct.pack(">H", 200), short(b"")))
    expect(0x010C)


def typed(read: Read, send: Callable[[bytes], None]) -> None:
    """AMQP 1.0: the security layer, open, and close."""

    def expect(code: int) -> None:
        while True:
            size, offset, kind, channel = struct.unpack(">IBBH", read(8))
            meets(kind > 1, channel, size)
            body = read(max(size - 8, 0))[max(4 * offset - 8, 0) :]
            if body[:3] == bytes((0, 0x53, code)):
                return

    send(b"AMQP\3\1\0\0")
    read(8)
    expect(0x40)
    send(performative(1, 0x41, b"\xa3" + short(b"PLAIN"), b"\xa0" + short(LOGIN)))
    expect(0x44)
    send(b"AMQP\0\1\0\0" + performative(0, 0x10, b"\xa1" + short(b"fragile")))
    read(8)
    expect(0x10)
    send(performative(0, 0x18))
    expect(0x18)


CONNECTS = {"amqp-0-9-1": methods, "amqp-0-10": assemblies, "amqp-1-0": typed}


def connect(url: str) -> None:
    """Log in and close; raises OSError, EOFError, ValueError."""
    place = urlsplit(url)
    with (
        socket.create_connection((place.hostname, place.port or 5672)) as stream,
        stream.makefile("rb") as incoming,
    ):

        def read(count: int) -> bytes:
            octets = incoming.read(count)
            if len(octets) < count:
                raise EOFError("the connection ended")
            return octets

        CONNECTS[DIALECT](read, stream.sendall)


def carry_out(task: dict[str, Any]) -> int:
    """The exit code of a task."""
    if task["scenario"] != "connect":
        return 89
    try:
        connect(task["url"])
    except (OSError, EOFError, ValueError):
        return 1
    return 0


if "AMQPSPEC_BATCH" in os.environ:
    print(json.dumps({"event": "ready"}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        done = {"event": "done", "order": order["order"], "exit_code": carry_out(order)}
        print(json.dumps(done), flush=True)
else:
    told = {"scenario": os.environ["AMQPSPEC_SCENARIO"], "url": os.environ["AMQPSPEC_URL"]}
    sys.exit(carry_out(told))
