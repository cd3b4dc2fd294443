"""Legal conduct that rules for clients of AMQP/Fast once failed, and violations that look like it."""

from __future__ import annotations

from functools import partial

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.wire.amqp_fast_0_8.frames import command_frame as f
from amqpspec.wire.amqp_fast_0_8.message import encode_message
from tests.run.clients.talks import SECOND_NS, C, Part, S, talk_of
from tests.run.clients.talks import verdict as verdict_in

_verdict = partial(verdict_in, "amqp-fast-0-8-clients")
_PASS, _FAIL, _NONSTRICT = Outcome.PASS, Outcome.FAIL, Outcome.NONSTRICT
_NONE = Outcome.NOT_APPLICABLE
_MESSAGE = encode_message(b"x")
_LOGIN: list[Part] = [
    (C, b"\x80\x01"),
    (S, f("connection.challenge", version=1, mechanisms="PLAIN")),
    (C, f("connection.response", mechanism="PLAIN", responses={"LOGIN": "a", "PASSWORD": "b"})),
    (S, f("connection.tune", options={"FRAME_MAX": 4096})),
    (C, f("connection.open", virtual_path="/", confirm_tag=1)),
    (S, f("connection.reply", confirm_tag=1, reply_code=200)),
]
_BYE: list[Part] = [(side, f("connection.close", reply_code=200)) for side in (C, S)]


def _channel(id: int = 1, *, transacted: bool = False) -> list[Part]:
    """A channel with a consumer on a handle of the same id."""
    return [
        (C, f("channel.open", channel_id=id, transacted=transacted, restartable=True)),
        (C, f("handle.open", channel_id=id, handle_id=id)),
        (C, f("handle.consume", handle_id=id, service_type=1, prefetch=5)),
    ]


def _notify(number: int, handle: int = 1) -> Part:
    return S, f("handle.notify", handle_id=handle, message_nbr=number, delivered=True, fragment=_MESSAGE)


_ROLLBACK: Part = (C, f("channel.rollback", channel_id=1))
_ACK: Part = (C, f("channel.ack", channel_id=1, message_nbr=1))


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        ([*_channel(transacted=True), _notify(1), _ROLLBACK], _PASS),
        ([*_channel(transacted=True), _ROLLBACK, _notify(1)], _NONSTRICT),
        ([*_channel(), _notify(1), _ACK], _PASS),
        ([*_channel(), _notify(1), (C, f("handle.unget", handle_id=1, message_nbr=1))], _PASS),
        (
            [*_channel(), *_channel(2), _notify(1), _notify(1, 2), (C, f("handle.unget", handle_id=2, message_nbr=1))],
            _NONSTRICT,
        ),
    ],
)  # fmt: skip
def test_a_message_is_owed_until_its_channel_settles_it(parts: list[Part], outcome: Outcome) -> None:
    assert _verdict("client.ack.owed", talk_of([*_LOGIN, *parts, *_BYE])) == outcome


def test_an_ack_may_name_a_number_that_was_not_delivered() -> None:
    beyond: Part = (C, f("channel.ack", channel_id=1, message_nbr=99))
    talk = talk_of([*_LOGIN, *_channel(), _notify(1), beyond, *_BYE])
    assert (_verdict("client.ack.shown", talk), _verdict("client.ack.owed", talk)) == (_PASS, _PASS)


_PREPARE: Part = (S, f("handle.prepare", handle_id=1, fragment=_MESSAGE))
_LATE: Part = (C, f("connection.close", reply_code=200), 60 * SECOND_NS)


@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        ([(C, f("handle.ready", handle_id=1))], _PASS),
        ([_ACK], _NONE),
        ([_ACK, _LATE], _FAIL),
    ],
)
def test_a_close_may_cross_a_prepare(parts: list[Part], outcome: Outcome) -> None:
    talk = talk_of([*_LOGIN, *_channel(), _notify(1), _PREPARE, *parts, *_BYE])
    assert _verdict("client.prepare.answered", talk) == outcome


@pytest.mark.parametrize(
    ("case", "head", "outcome"),
    [
        ("client.tables.names", {"headers": {"good": "v"}}, _PASS),
        ("client.tables.names", {"headers": {"1 bad": "v"}}, _FAIL),
        ("client.short-strings.zero", {"mime_type": "ab"}, _PASS),
        ("client.short-strings.zero", {"mime_type": "a\0b"}, _FAIL),
    ],
)
def test_message_heads_keep_the_rules_of_values(case: str, head: dict[str, object], outcome: Outcome) -> None:
    message = encode_message(b"x", **head)
    sends: Part = (C, f("handle.send", handle_id=1, service_type=1, fragment=message))
    assert _verdict(case, talk_of([*_LOGIN, *_channel(), sends, *_BYE])) == outcome
