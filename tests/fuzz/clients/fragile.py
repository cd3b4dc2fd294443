"""A client with planted defects, as an agent: it can do ``connect`` only. A program of its own, not imported by tests.

Its first argument names the defect: what it does about a frame of unknown type, a huge size, a channel, a class.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import struct
import sys
import time
from typing import Any
from urllib.parse import urlsplit

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
DEFECT = sys.argv[1]
seen = 0


def meets(kind: int, channel: int, size: int) -> None:
    """Act out the defect where a frame asks for it."""
    global seen
    if DEFECT == "crash" and kind not in (1, 2, 3, 8):
        os.abort()
    if DEFECT == "third-crash" and kind not in (1, 2, 3, 8):
        seen += 1
        if seen == 3:
            os.abort()
    if DEFECT == "memory" and size > 1 << 24:
        kept = bytearray(b"x") * (300 << 20)
        time.sleep(600 + len(kept[:0]))
    if DEFECT == "hang" and channel:
        time.sleep(600)
    if DEFECT == "busy" and channel:
        until_s = time.process_time() + 4.5
        while time.process_time() < until_s:
            pass


def method(*parts: bytes) -> bytes:
    """A method frame on channel 0."""
    payload = b"".join(parts)
    return struct.pack(">BHI", 1, 0, len(payload)) + payload + b"\xce"


def short(text: bytes) -> bytes:
    """A short string."""
    return bytes((len(text),)) + text


def connect(url: str) -> None:
    """The handshake, and a close; raises OSError, EOFError, ValueError."""
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

        def expect(*ids: int) -> bytes:
            while True:
                kind, channel, size = struct.unpack(">BHI", read(7))
                meets(kind, channel, size)
                payload = read(size)
                if read(1) != b"\xce":
                    raise ValueError("no end of frame")
                if kind == 1 and payload[:4] == struct.pack(">HH", *ids):
                    return payload

        response = b"\0guest\0guest"
        login = short(b"PLAIN") + struct.pack(">I", len(response)) + response + short(b"en_US")
        stream.sendall(b"AMQP\0\0\x09\1")
        expect(10, 10)
        stream.sendall(method(struct.pack(">HHI", 10, 11, 0), login))
        expect(10, 30)
        stream.sendall(method(struct.pack(">HHHIH", 10, 31, 10, 4096, 0)))
        stream.sendall(method(struct.pack(">HH", 10, 40), short(b"/"), short(b""), b"\0"))
        expect(10, 41)
        stream.sendall(method(struct.pack(">HHH", 10, 50, 200), short(b""), b"\0\0\0\0"))
        expect(10, 51)


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
