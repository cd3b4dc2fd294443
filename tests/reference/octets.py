"""A client of the 9.1 wire draft that only knows octets, and frames written by hand for it."""

from __future__ import annotations

import socket
from collections.abc import Callable

from amqpspec.reference.server import ReferenceBroker

DIALECT = "amqp-wire-9-1"
HEADER = "414d5150 01 01 09 01"
PAUSE_S = 0.3

# class connection (10): start-ok with an empty table, PLAIN, \0guest\0guest, en_US; the second octet is the cycle
START_OK = "01 00 0000 00000024 000a 000b 00000000 05 504c41494e 0000000c 00 6775657374 00 6775657374 05 656e5f5553 ce"
TUNE = "01 00 0000 0000000c 000a 001e 07ff 00020000 003c ce"
TUNE_OK = "01 00 0000 0000000c 000a 001f 000a 00001000 0000 ce"
OPEN, OPEN_OK = "01 00 0000 00000008 000a 0028 01 2f 00 00 ce", "01 00 0000 00000005 000a 0029 00 ce"
CHANNEL_OPEN, CHANNEL_OPEN_OK = "01 00 0001 00000005 0014 000a 00 ce", "01 00 0001 00000004 0014 000b ce"
CLOSE, CLOSE_OK = "01 00 0000 0000000b 000a 003c 0000 00 0000 0000 ce", "01 00 0000 00000004 000a 003d ce"
FLOW, FLOW_OK = "01 00 0001 00000005 0014 0014 01 ce", "01 00 0001 00000005 0014 0015 01 ce"
# queue.declare (50, 10): ticket 0, "q", no bits, no arguments; basic.publish (60, 40) to "" with the key "q"
DECLARE = "01 00 0001 0000000d 0032 000a 0000 01 71 00 00000000 ce"
DECLARE_OK = "01 00 0001 0000000e 0032 000b 01 71 00000000 00000000 ce"
PUBLISH = "01 00 0001 0000000a 003c 0028 0000 00 01 71 00 ce"
# basic.get (60, 70), no-ack; get-ok (60, 71): tag 1, not redelivered, "", "q", no more messages
GET, GET_OK = (
    "01 00 0001 00000009 003c 0046 0000 01 71 01 ce",
    "01 00 0001 00000014 003c 0047 0000000000000001 00 00 01 71 00000000 ce",
)


class Octets:
    """A client that only knows octets."""

    def __init__(self, broker: ReferenceBroker) -> None:
        self.socket = socket.create_connection((broker.host, broker.port), 10)

    def says(self, *texts: str) -> None:
        self.socket.sendall(b"".join(bytes.fromhex(text) for text in texts))

    def hears(self, *texts: str) -> None:
        expected = b"".join(bytes.fromhex(text) for text in texts)
        assert self.exactly(len(expected)).hex(" ") == expected.hex(" ")

    def exactly(self, count: int) -> bytes:
        octets = b""
        while len(octets) < count and (more := self.socket.recv(count - len(octets))):
            octets += more
        return octets

    def frame(self) -> bytes:
        head = self.exactly(8)
        return head + self.exactly(int.from_bytes(head[4:], "big") + 1)

    def ends(self) -> None:
        assert self.socket.recv(1) == b""

    def opens(self) -> Octets:
        self.says(HEADER)
        start = self.frame()
        # connection.start (10, 10), version 9.1
        assert start[:4].hex() == "01000000" and start[8:14].hex() == "000a000a0901" and start[-1] == 0xCE
        self.says(START_OK)
        self.hears(TUNE)
        self.says(TUNE_OK, OPEN)
        self.hears(OPEN_OK)
        self.says(CHANNEL_OPEN)
        self.hears(CHANNEL_OPEN_OK)
        return self

    def is_refused(self, code: int, channel: int = 0) -> None:
        frame = self.frame()
        ids = "00140028" if channel else "000a003c"
        assert frame[:4].hex() == f"0100{channel:04x}" and frame[8:14].hex() == f"{ids}{code:04x}", frame
        if not channel:
            self.says(CLOSE_OK)
            self.ends()


Connect = Callable[..., Octets]
"""A client of a broker with the faults that it is called with."""

LEAF = "02 00 0001 0000000e 003c 0000 0000000000000001 0000 ce", "03 00 0001 00000001 61 ce"
EMPTY = ("02 00 0001 0000000e 003c 0000 0000000000000000 0000 ce",)


def parent(weight: int, size: int = 2) -> str:
    return f"02 00 0001 0000000e 003c {weight:04x} {size:016x} 0000 ce"


BODY = "03 00 0001 00000002 6262 ce"


def method(text: str) -> str:
    payload = bytes.fromhex("0078" + text)
    return f"01 00 0001 {len(payload):08x} {payload.hex()} ce"
