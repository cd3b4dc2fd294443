"""What sentences have in common: what a target calls its things differs, what it did does not."""

from __future__ import annotations

import pytest

from amqpspec.record.shapes import shape


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("container-id 'a4871548-e5ba-11f1-9b89-02fc00000001'", "container-id 'amqpspec-rabbitmq@vm'"),
        ("channel.close 405 resource-locked (\"queue 'r1.q.0' is exclusive\")",
         "channel.close 405 resource-locked ('RESOURCE_LOCKED')"),
        ("tags 00 03 04 01 02", "tags 0000000000000001 0000000000000004"),
        ("handles [0, 1, 2]", "handles [5, 6, 7, 8]"),
        ("bodies [[b'first'], [b'it\\'s']]", "bodies [[b'one'], [b'two', b'three']]"),
        ("delivery-count 4", "delivery-count -3"),
        ("tags of up to 1 octets", "tags of up to 8 octets"),
        ("close without error, then connection ended (FIN)", "close without error, then connection ended (RST)"),
    ],
)  # fmt: skip
def test_what_a_target_calls_its_things_is_no_difference(one: str, another: str) -> None:
    assert shape(one) == shape(another)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("connection.close 504 channel-error ('x')", "connection.close 505 channel-error ('x')"),
        ("channel exception 404", "channel exception 406"),
        ("protocol header AMQP 0 0 9 1, then silence", "protocol header AMQP 3 1 0 0, then silence"),
        ("messages [b'next']", "messages []"),
        ("close amqp:decode-error ('no')", "close amqp:not-found ('no')"),
        ("the target's receivers settle first", "the target's senders settle first"),
        ("close, then connection ended (FIN)", "close"),
    ],
)
def test_what_a_target_did_is_one(one: str, another: str) -> None:
    assert shape(one) != shape(another)


def test_an_apostrophe_begins_no_text() -> None:
    assert shape("the target's answer and the peer's name 'x'") == "the target's answer and the peer's name …"


def test_a_long_text_takes_no_time_to_read() -> None:
    assert shape("x [" * 20_000 + "'" * 20_000)
