"""Conversations: what is kept of one connection, and the 0-9 family's octets as frames of both sides."""

from __future__ import annotations

from functools import partial

import pytest

from amqpspec.spec.model import Side
from amqpspec.wire import conversation
from amqpspec.wire.conversation import Room, Talk
from amqpspec.wire.errors import WireError
from amqpspec.wire.hostility import Act, Hostility
from amqpspec.wire.methods.conversations import GREETING, MethodReading
from amqpspec.wire.ways import GARBLED
from tests.wire.helpers import conversation_of

_READING = MethodReading("amqp-0-9-1")
_said = partial(conversation_of, _READING)
_GREETING = b"AMQP\0\0\x09\x01"


def _method(class_id: int, method_id: int, arguments: bytes = b"", channel: int = 0) -> bytes:
    payload = class_id.to_bytes(2) + method_id.to_bytes(2) + arguments
    return b"\x01" + channel.to_bytes(2) + len(payload).to_bytes(4) + payload + b"\xce"


_TUNE = _method(10, 30, bytes.fromhex("0007 00001000 003c"))
_OPEN = _method(10, 40, b"\x03/ab\x00\x00")
_QOS_OK = _method(60, 11, channel=3)
_HEADER = bytes.fromhex("02 0003 0000000e 003c 0000 0000000000000005 0000 ce")
_BODY = bytes.fromhex("03 0003 00000005") + b"hello\xce"
_HEARTBEAT = bytes.fromhex("08 0000 00000000 ce")


# --- what is kept


def test_octets_are_kept_while_there_is_room() -> None:
    room = Room(10)
    first, second = Talk(1, room=room), Talk(2, room=room)
    first.add(Side.CLIENT, 5, b"123456")
    second.add(Side.SERVER, 6, b"78901")
    assert [(c.sender, c.at_ns, c.octets) for c in first.chunks] == [(Side.CLIENT, 5, b"123456")]
    assert second.is_cut and not second.chunks and not first.is_cut
    second.add(Side.SERVER, 7, b"2")
    assert not second.chunks, "nothing is kept behind a gap"
    room.give_back(first)
    assert (room.left_octets, first.chunks) == (10, [])


def test_one_conversation_has_a_bound_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "MAX_KEPT_OCTETS", 4)
    talk = Talk(1)
    talk.add(Side.CLIENT, 0, b"1234")
    talk.add(Side.CLIENT, 1, b"5")
    assert talk.is_cut and len(talk.chunks) == 1


@pytest.mark.parametrize(
    ("ended", "is_cut", "is_whole"), [("FIN", False, True), ("FIN", True, False), ("", False, False)]
)
def test_what_is_missing_counts_where_the_end_is_known(ended: str, is_cut: bool, is_whole: bool) -> None:
    assert Talk(1, ended=ended, is_cut=is_cut).is_whole is is_whole


# --- frames


def test_frames_of_both_sides_stand_in_the_order_of_their_last_octets() -> None:
    talk = _said(
        (Side.CLIENT, _GREETING),
        (Side.SERVER, _TUNE[:4]),
        (Side.CLIENT, _OPEN),
        (Side.SERVER, _TUNE[4:] + _HEARTBEAT),
        (Side.CLIENT, _HEADER + _BODY),
    )
    names = [GREETING, "connection.open", "connection.tune", "heartbeat", "header", "body"]
    assert [said.name for said in talk.said] == names
    assert [(s.sender.value, s.offset, s.octets, s.channel) for s in talk.said][1:3] == [
        ("client", 8, len(_OPEN), 0),
        ("server", 0, len(_TUNE), 0),
    ]
    tune, header, body = talk.said[2], talk.said[4], talk.said[5]
    assert (tune.what["channel_max"], tune.what["frame_max"], tune.what["heartbeat"]) == (7, 4096, 60)
    assert (header.channel, header.what.body_size_octets, body.what) == (3, 5, b"hello")
    assert "connection.tune" in tune.text and tune.place == "octet 0 of server→client"


def test_who_said_what_can_be_asked() -> None:
    talk = _said((Side.CLIENT, _GREETING + _OPEN), (Side.SERVER, _TUNE + _QOS_OK + _QOS_OK))
    assert [said.name for said in talk.by_client()] == [GREETING, "connection.open"]
    assert len(list(talk.by_server("basic.qos-ok", "connection.tune"))) == 3
    first = talk.first_of_server("basic.qos-ok")
    assert first is talk.said[3] and talk.first_of_server("connection.open") is None
    assert [said.name for said in talk.before(first)] == [GREETING, "connection.open", "connection.tune"]


def test_what_cannot_be_framed_ends_its_direction_only() -> None:
    broken = _TUNE[:-1] + b"\xcd"
    talk = _said((Side.SERVER, _TUNE + broken), (Side.SERVER, _TUNE), (Side.CLIENT, _GREETING))
    assert [said.name for said in talk.said] == ["connection.tune", GARBLED, GREETING]
    garbled = talk.said[1]
    assert isinstance(garbled.what, WireError) and garbled.offset == len(_TUNE)
    assert garbled.text.startswith("not decodable: ")


def test_a_method_that_cannot_be_decoded_leaves_the_next_frame_legible() -> None:
    talk = _said((Side.SERVER, _method(10, 99) + _TUNE))
    assert [said.name for said in talk.said] == [GARBLED, "connection.tune"]
    assert isinstance(talk.said[0].what, WireError)


@pytest.mark.parametrize(("octets", "place"), [(_GREETING, None), (_GREETING + _OPEN, "/ab")])
def test_the_place_is_the_virtual_host(octets: bytes, place: str | None) -> None:
    talk = Talk(1)
    talk.add(Side.CLIENT, 0, octets)
    assert _READING.place(talk) == place


def test_a_cutter_names_whole_frames_only() -> None:
    cutter = _READING.cutter()
    assert cutter.cut(_GREETING + _TUNE[:9]) == [(GREETING, _GREETING)]
    assert cutter.cut(_TUNE[9:] + _HEADER + _BODY[:-1]) == [("connection.tune", _TUNE), ("header", _HEADER)]
    assert cutter.cut(b"\xce" + _HEARTBEAT) == [("body", _BODY), ("heartbeat", _HEARTBEAT)]


def test_a_dialect_says_how_it_is_read() -> None:
    assert _READING.greetings == (_GREETING,)
    assert "connection.tune" in _READING.before_place and "connection.open-ok" not in _READING.before_place


# --- hostile servers


def test_a_trigger_is_one_frame_of_one_connection_or_of_each() -> None:
    once = Hostility("basic.qos-ok", lambda frame: (frame, Act.FIN), nth=2)
    always = Hostility("basic.qos-ok", lambda frame: (frame,), connection=None)
    assert [once.is_meant("basic.qos-ok", times, 1) for times in (1, 2, 3)] == [False, True, False]
    assert not once.is_meant("basic.qos-ok", 2, 2) and not once.is_meant("basic.get-ok", 2, 1)
    assert always.is_meant("basic.qos-ok", 1, 7)
