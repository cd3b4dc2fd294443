"""Whole conversations in octets, written by hand from the text of the specification: no codec on this side."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from amqpspec.reference.server import ReferenceBroker

PROTOCOL_HEADER = bytes.fromhex("414d5150 00 00 09 01")


class Octets:
    def __init__(self, broker: ReferenceBroker) -> None:
        self.socket = socket.create_connection((broker.host, broker.port), 10)

    def says(self, text: str) -> None:
        self.socket.sendall(bytes.fromhex(text))

    def hears(self, text: str) -> None:
        expected = bytes.fromhex(text)
        actual = b""
        while len(actual) < len(expected):
            octets = self.socket.recv(len(expected) - len(actual))
            assert octets, f"expected {expected.hex(' ')}, actual end after {actual.hex(' ')}"
            actual += octets
        assert actual.hex(" ") == expected.hex(" ")

    def skips_frame(self) -> bytes:
        head = self._exactly(7)
        return head + self._exactly(int.from_bytes(head[3:], "big") + 1)

    def ends(self) -> None:
        assert self.socket.recv(1) == b""

    def _exactly(self, count: int) -> bytes:
        octets = b""
        while len(octets) < count:
            more = self.socket.recv(count - len(octets))
            assert more
            octets += more
        return octets


@pytest.fixture
def octets(broker: ReferenceBroker) -> Iterator[Octets]:
    client = Octets(broker)
    yield client
    client.socket.close()


# class connection (10): start-ok with an empty table, PLAIN, \0guest\0guest, en_US
START_OK = (
    "01 0000 00000024 000a 000b 00000000 05 504c41494e 0000000c 00 6775657374 00 6775657374 05 656e5f5553 ce"
)
# tune (10, 30): channel-max 2047, frame-max 131072, heartbeat 60; tune-ok (10, 31) with 10, 4096, 0
TUNE = "01 0000 0000000c 000a 001e 07ff 00020000 003c ce"
TUNE_OK = "01 0000 0000000c 000a 001f 000a 00001000 0000 ce"
OPEN, OPEN_OK = "01 0000 00000008 000a 0028 01 2f 00 00 ce", "01 0000 00000005 000a 0029 00 ce"
CHANNEL_OPEN, CHANNEL_OPEN_OK = "01 0001 00000005 0014 000a 00 ce", "01 0001 00000008 0014 000b 00000000 ce"


def _open(octets: Octets) -> None:
    octets.socket.sendall(PROTOCOL_HEADER)
    start = octets.skips_frame()
    assert start[:3].hex() == "010000" and start[7:13].hex() == "000a000a0009" and start[-1] == 0xCE
    octets.says(START_OK)
    octets.hears(TUNE)
    octets.says(TUNE_OK + OPEN)
    octets.hears(OPEN_OK)
    octets.says(CHANNEL_OPEN)
    octets.hears(CHANNEL_OPEN_OK)


def test_a_message_there_and_back(octets: Octets) -> None:
    _open(octets)
    octets.says("01 0001 0000000d 0032 000a 0000 01 71 04 00000000 ce")
    octets.hears("01 0001 0000000e 0032 000b 01 71 00000000 00000000 ce")
    octets.says("01 0001 0000000a 003c 0028 0000 00 01 71 00 ce")
    octets.says("02 0001 0000000f 003c 0000 0000000000000005 1000 02 ce")
    octets.says("03 0001 00000002 6865 ce" + "03 0001 00000003 6c6c6f ce")  # "he" "llo"
    octets.says("01 0001 00000009 003c 0046 0000 01 71 00 ce")  # get from "q"
    octets.hears("01 0001 00000014 003c 0047 0000000000000001 00 00 01 71 00000000 ce")
    octets.hears("02 0001 0000000f 003c 0000 0000000000000005 1000 02 ce")
    octets.hears("03 0001 00000005 68656c6c6f ce")
    octets.says("01 0001 0000000d 003c 0050 0000000000000001 00 ce")  # ack 1
    octets.says("01 0001 00000009 003c 0046 0000 01 71 00 ce")
    octets.hears("01 0001 00000005 003c 0048 00 ce")  # get-empty
    octets.says("01 0001 0000000b 0014 0028 0000 00 0000 0000 ce")  # channel.close
    octets.hears("01 0001 00000004 0014 0029 ce")
    octets.says("01 0000 0000000b 000a 0032 0000 00 0000 0000 ce")  # connection.close
    octets.hears("01 0000 00000004 000a 0033 ce")
    octets.ends()


def test_redelivered_is_the_lowest_bit(octets: Octets) -> None:
    _open(octets)
    octets.says("01 0001 0000000d 0032 000a 0000 01 71 04 00000000 ce")
    octets.hears("01 0001 0000000e 0032 000b 01 71 00000000 00000000 ce")
    octets.says("01 0001 0000000a 003c 0028 0000 00 01 71 00 ce")
    octets.says("02 0001 0000000e 003c 0000 0000000000000000 0000 ce")
    octets.says("01 0001 00000009 003c 0046 0000 01 71 00 ce")
    octets.hears("01 0001 00000014 003c 0047 0000000000000001 00 00 01 71 00000000 ce")
    octets.hears("02 0001 0000000e 003c 0000 0000000000000000 0000 ce")
    octets.says("01 0001 00000005 003c 006e 01 ce")  # recover, requeue
    octets.hears("01 0001 00000004 003c 006f ce")
    octets.says("01 0001 00000009 003c 0046 0000 01 71 01 ce")  # get, no-ack
    octets.hears("01 0001 00000014 003c 0047 0000000000000002 01 00 01 71 00000000 ce")


@pytest.mark.parametrize(
    "header", ["414d5150 00 01 00 00", "414d5150 01 01 00 0a", "48545450 2f312e31", "414d5150 00 00 09 02"]
)
def test_another_header_is_answered_by_a_header(octets: Octets, header: str) -> None:
    octets.says(header)
    octets.hears("414d5150 00 00 09 01")
    octets.ends()


@pytest.mark.parametrize(
    "frame", ["04 0000 00000000 ce", "00 0001 00000000 ce", "01 0001 00000004 0014 0028 cd"]
)
def test_broken_frames_end_the_socket_in_silence(octets: Octets, frame: str) -> None:
    _open(octets)
    octets.says(frame)
    octets.ends()


def test_a_heartbeat_is_type_8_and_unanswered(octets: Octets) -> None:
    _open(octets)
    octets.says("08 0000 00000000 ce" + "01 0001 0000000b 0014 0028 0000 00 0000 0000 ce")
    octets.hears("01 0001 00000004 0014 0029 ce")


def test_an_oversized_frame_is_501(octets: Octets) -> None:
    _open(octets)
    octets.says("03 0001 00000ff9")  # one octet more than 4096 with header and end
    close = octets.skips_frame()
    assert close[:3].hex() == "010000" and close[7:13].hex() == "000a003201f5"
    octets.says("01 0000 00000004 000a 0033 ce")  # close-ok
    octets.ends()
