"""AMQP 0-10's octets as frames of both sides; what chooses a hostile server; what a server's octets are cut into."""

from __future__ import annotations

from functools import partial

from amqpspec.spec.model import Side
from amqpspec.wire.amqp_0_10.conversations import GREETING, PART, AssemblyReading
from amqpspec.wire.amqp_0_10.frames import Frame
from amqpspec.wire.conversation import Reading, Talk
from amqpspec.wire.errors import WireError
from amqpspec.wire.ways import GARBLED
from tests.wire.helpers import conversation_of

_READING: Reading = AssemblyReading()
_said = partial(conversation_of, _READING)
_GREETING = b"AMQP\x01\x01\x00\x0a"
# By hand: flags, type, size; two reserved octets with the track in the second, channel; four reserved octets.
_HEARTBEAT = bytes.fromhex("0f 00 0010 0000 0000 00000000 010a 0000")
_OPEN = bytes.fromhex("0f 00 0013 0000 0000 00000000 0107 0100 026162")
_SYNC_BEGUN = bytes.fromhex("0e 01 000e 0001 0003 00000000 0301")
_SYNC_ENDED = bytes.fromhex("0d 01 0010 0001 0003 00000000 01000000")
_UNKNOWN = bytes.fromhex("0f 00 0010 0000 0000 00000000 6301 0000")
_ALONE = bytes.fromhex("00 00 000c 0000 0000 00000000")
_SIZE_11 = bytes.fromhex("0f 00 000b 0000 0000 00000000")


def test_frames_of_both_sides_stand_in_the_order_of_their_last_octets() -> None:
    talk = _said(
        (Side.CLIENT, _GREETING),
        (Side.SERVER, _GREETING + _HEARTBEAT[:5]),
        (Side.CLIENT, _OPEN + _SYNC_BEGUN),
        (Side.SERVER, _HEARTBEAT[5:]),
        (Side.CLIENT, _SYNC_ENDED),
    )
    assert [said.name for said in talk.said] == [
        GREETING,
        GREETING,
        "connection.open",
        PART,
        "connection.heartbeat",
        "execution.sync",
    ]
    opened, part, alive, sync = talk.said[2:]
    assert (opened.offset, opened.octets, opened.channel, opened.at_ns) == (8, len(_OPEN), 0, 2)
    assert isinstance(part.what, Frame) and part.what.assembly is None
    assert (sync.channel, sync.what.assembly.name) == (3, "execution.sync")
    assert alive.place == "octet 8 of server→client"
    assert opened.text.startswith("connection.open")


def test_what_cannot_be_read_is_garbled_and_the_next_frame_is_not() -> None:
    talk = _said((Side.CLIENT, _GREETING + _UNKNOWN + _ALONE + _HEARTBEAT))
    assert [said.name for said in talk.said] == [GREETING, GARBLED, GARBLED, "connection.heartbeat"]
    assert isinstance(talk.said[1].what, Frame)


def test_a_size_that_cannot_be_ends_a_direction() -> None:
    talk = _said((Side.CLIENT, _GREETING + _SIZE_11 + _HEARTBEAT), (Side.SERVER, _GREETING))
    assert [said.name for said in talk.said] == [GREETING, GARBLED, GREETING]
    assert isinstance(talk.said[1].what, WireError)


def test_the_virtual_host_chooses() -> None:
    talk = Talk(1)
    assert _READING.place(talk) is None
    talk.add(Side.CLIENT, 1, _GREETING + _OPEN)
    assert _READING.place(talk) == "ab"
    assert "connection.tune" in _READING.before_place and "connection.open-ok" not in _READING.before_place


def test_a_server_is_cut_into_assemblies() -> None:
    cutter = _READING.cutter()
    assert cutter.cut(_GREETING + _SYNC_BEGUN) == [(GREETING, _GREETING)]
    assert cutter.cut(_SYNC_ENDED + _HEARTBEAT) == [
        ("execution.sync", _SYNC_BEGUN + _SYNC_ENDED),
        ("connection.heartbeat", _HEARTBEAT),
    ]
