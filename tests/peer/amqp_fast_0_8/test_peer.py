"""What a case of AMQP/Fast drives, against targets that do what a conforming one never does."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.peer.amqp_fast_0_8.arrivals import CommandArrived, MessageArrived
from amqpspec.peer.amqp_fast_0_8.peer import listed
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Garbled
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.amqp_fast_0_8.message import cut, encode_message
from amqpspec.wire.transport import StreamEnd
from tests.peer.amqp_fast_0_8.fake import (
    CHALLENGE,
    CHANNEL,
    FIRST_TAG,
    HANDLE,
    LOGGED_IN,
    NEXT_TAG,
    OPENED,
    TUNE,
    heard,
    names,
    peer,
    reply,
    says,
)


def notify(octets: bytes, number: int = 1, handle: int = 1, **fields: Any) -> bytes:
    usual = {"handle_id": handle, "message_nbr": number, "delivered": True, "dest_name": "q"}
    return says("handle.notify", fragment=octets, **{**usual, **fields})


# --- opening


def test_a_handle_is_opened_in_the_order_of_the_specification() -> None:
    made, transport = peer(HANDLE)
    made.open_handle()
    assert bytes(transport.sent[:2]) == b"\x80\x01"
    assert names(transport) == ["connection.response", "connection.open", "channel.open", "handle.open"]
    response, opened, channel, handle = heard(transport)
    assert response.args["responses"].plain() == {"LOGIN": b"guest", "PASSWORD": b"guest"}
    assert (opened.args["virtual_path"], opened.args["confirm_tag"]) == ("/", FIRST_TAG)
    assert (channel.args["channel_id"], channel.args["confirm_tag"]) == (1, FIRST_TAG + 1)
    assert [handle.args[right] for right in ("producer", "consumer", "browser")] == [True] * 3


def test_rights_that_are_named_stand_alone() -> None:
    made, transport = peer(HANDLE)
    made.open_handle(consumer=True)
    assert [heard(transport)[-1].args[right] for right in ("producer", "consumer", "browser")] == [
        False,
        True,
        False,
    ]


def test_what_the_target_proposes_limits_frames() -> None:
    made, transport = peer(OPENED)
    made.open_connection(FRAME_MAX=4000)
    assert (made.frame_max_octets, made.limit("CHANNEL_MAX", 7), made.tuned) == (5000, 7, {"FRAME_MAX": 4000})
    assert names(transport) == ["connection.response", "connection.tune", "connection.open"]
    silent, _ = peer(CHALLENGE + says("connection.tune", options={"FRAME_MAX": "text"}))
    silent.log_in()
    assert silent.frame_max_octets == silent.dialect.layout.min_frame_max_octets


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (reply("connection", code=401), "connection.reply 401"),
        (says("connection.close", reply_code=530, reply_text="no"), "connection.close 530"),
        (StreamEnd.RST, "connection ended"),
        (None, "nothing within 5.0 s"),
    ],
)
def test_an_open_that_is_refused_is_unmet(said: Any, told: str) -> None:
    made, _ = peer(LOGGED_IN, said)
    with pytest.raises(Unmet, match=f"REPLY with confirm-tag {FIRST_TAG}.*{told}"):
        made.open_connection()


def test_a_tune_before_the_challenge_is_not_lost() -> None:
    made, _ = peer(TUNE + CHALLENGE)
    made.log_in()
    assert made.proposed == {"FRAME_MAX": 5000}


# --- confirmations


def test_replies_are_told_apart_by_their_tags() -> None:
    made, _ = peer(
        OPENED + reply("channel", 0x0999, channel_id=1), reply("channel", FIRST_TAG + 1, channel_id=1)
    )
    made.open_channel()
    assert made.expect("channel.reply")["confirm_tag"] == 0x0999


def test_tags_have_two_octets_that_differ_from_each_other_and_from_zero() -> None:
    made, _ = peer()
    tags = [made.fresh_tag() for _ in range(600)]
    assert len(set(tags)) == 600
    assert all(tag & 0xFF and tag >> 8 and tag & 0xFF != tag >> 8 for tag in tags)


def test_a_close_of_the_handles_channel_ends_the_wait_and_one_of_another_does_not() -> None:
    other = says("channel.close", channel_id=2, reply_code=501, reply_text="no")
    own = says("channel.close", channel_id=1, reply_code=540, reply_text="no")
    made, transport = peer(HANDLE, other + own)
    made.open_handle()
    with pytest.raises(Unmet, match=r"channel\.close for channel 1 540"):
        made.consume("q")
    assert [f.args["channel_id"] for f in heard(transport) if f.name == "channel.close"] == [2, 1], "answered"


# --- closes


def test_a_close_is_answered_once_and_an_own_one_is_not() -> None:
    closed = says("handle.close", handle_id=1, reply_code=200, reply_text="")
    made, transport = peer(HANDLE, closed, closed)
    made.open_handle()
    made.close_handle()
    made.expect("handle.close", handle=1)
    assert names(transport).count("handle.close") == 2


def test_an_impolite_peer_answers_no_close() -> None:
    made, transport = peer(CHANNEL, says("connection.close", reply_code=501, reply_text="no"))
    made.open_channel()
    made.polite = False
    assert made.reaction().refusal == Refusal(Scope.CONNECTION, 501)
    assert "connection.close" not in names(transport) and made.is_over()


def test_leaving_closes_an_open_connection_only() -> None:
    made, transport = peer(OPENED, says("connection.close", reply_code=200, reply_text=""))
    made.open_connection().leave(1.0)
    assert names(transport)[-1] == "connection.close"
    unopened, transport = peer(LOGGED_IN)
    unopened.log_in()
    unopened.leave(1.0)
    assert names(transport) == ["connection.response"]


# --- messages


def test_fragments_of_two_handles_do_not_mix() -> None:
    parts = [
        [notify(piece, handle=handle, partial=more) for piece, more in cut(encode_message(text), 20)]
        for handle, text in ((1, b"first" * 9), (2, b"second" * 9))
    ]
    mixed = b"".join(octets for pair in zip(*parts, strict=False) for octets in pair)
    left = b"".join(octets for part in parts for octets in part[min(map(len, parts)) :])
    made, _ = peer(mixed + left)
    made.connect()
    assert (made.delivery(2).body, made.delivery(1).body) == (b"second" * 9, b"first" * 9)


def test_a_message_that_is_none_is_garbled() -> None:
    made, _ = peer(notify(b"\0\1"))
    made.connect()
    with pytest.raises(Unmet, match="a message for handle 1"):
        made.delivery()


def test_recovered_messages_come_without_a_head() -> None:
    made, _ = peer(notify(b"rest", recovery=True, redelivered=True))
    made.connect()
    message = made.delivery()
    assert isinstance(message, MessageArrived)
    assert (message.head, message.body, message.redelivered, message.delivered) == ({}, b"rest", True, True)


def test_messages_are_cut_at_what_the_target_takes() -> None:
    made, transport = peer(HANDLE, reply("handle", NEXT_TAG, handle_id=1))
    made.open_handle()
    made.store("q", b"x" * 12_000)
    sent = [frame for frame in heard(transport) if frame.name == "handle.send"]
    assert [frame.args["partial"] for frame in sent] == [True, True, False]
    assert all(len(frame.fragment) <= 5000 for frame in sent)
    assert {frame.args["confirm_tag"] for frame in sent} == {NEXT_TAG}


# --- reactions


def reaction(*said: Any) -> tuple[Refusal | None, list[str]]:
    made, transport = peer(HANDLE, *said)
    made.open_handle()
    return made.reaction().refusal, names(transport)[4:]


def test_an_error_reply_refuses_and_one_that_is_well_does_not() -> None:
    assert reaction(reply("handle", 0x0999, 310, handle_id=1)) == (Refusal(Scope.DELIVERY, 310), [])
    passed, sent = reaction(
        reply("handle", 0x0999, 299, handle_id=1), None, reply("handle", NEXT_TAG, handle_id=1)
    )
    assert passed is None and sent == ["handle.open"], "a barrier was needed"


def test_a_refusal_of_another_handle_is_not_meant() -> None:
    other = says("handle.close", handle_id=9, reply_code=501, reply_text="no")
    found, sent = reaction(other, None, reply("handle", NEXT_TAG, handle_id=1))
    assert found is None and sent == ["handle.close", "handle.open"]


def test_the_end_refuses_by_the_socket_and_garbage_by_nothing() -> None:
    assert reaction(StreamEnd.FIN)[0] == Refusal(Scope.SOCKET)
    made, _ = peer(HANDLE, says("handle.reply", handle_id=1, end=0))
    made.open_handle()
    seen = made.reaction()
    assert isinstance(seen.arrivals[-1], Garbled) and seen.refusal is None


# --- browsing


@pytest.mark.parametrize(("octets", "numbers"), [(b"", []), (b"1 3-5 9", [1, 3, 4, 5, 9]), (b"7-7", [7])])
def test_message_lists_are_written_out(octets: bytes, numbers: list[int]) -> None:
    assert listed(octets) == numbers


@pytest.mark.parametrize(
    "octets", [b"one", b"1-", b"-3", b"1,2", b"1-2-3", b"0-4294967295", b"9" * 22, b"\xff"]
)
def test_message_lists_that_are_none_are_unmet(octets: bytes) -> None:
    with pytest.raises(Unmet):
        listed(octets)


def test_an_index_that_goes_on_is_asked_for_more() -> None:
    first = says("handle.index", handle_id=1, message_nbr=4, message_list=b"1-2 3")
    rest = says("handle.index", handle_id=1, message_nbr=0, message_list=b"6")
    made, transport = peer(HANDLE, first, rest)
    made.open_handle()
    assert made.numbers("q") == [1, 2, 3, 6]
    assert [f.args["message_nbr"] for f in heard(transport) if f.name == "handle.query"] == [0, 4]


def test_arrivals_are_told_in_one_phrase() -> None:
    made, _ = peer(HANDLE, says("channel.close", channel_id=1, reply_code=540, reply_text="not\nhere"))
    made.open_handle()
    close = made.expect("channel.close", channel=1)
    assert isinstance(close, CommandArrived)
    assert "540" in close.describe(made.dialect) and "'not here'" in close.describe(made.dialect)
