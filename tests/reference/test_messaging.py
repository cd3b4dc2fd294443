"""What the broker says to what a client says: exchange, queue, basic, tx, confirm."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.reference.server import ReferenceBroker
from tests.reference.talk import Talk, closed, ready

# --- exchange


@pytest.mark.parametrize(
    ("arguments", "scope", "code"),
    [
        ({"exchange": "missing", "passive": True}, "channel", 404),
        ({"exchange": "amq.new", "type": "direct"}, "channel", 403),
        ({"exchange": "no/name", "type": "direct"}, "channel", 406),
        ({"exchange": "", "passive": True}, "channel", 403),
        ({"exchange": "x", "type": "x-none"}, "connection", 503),
        ({"exchange": "amq.direct", "type": "fanout"}, "connection", 530),
        ({"exchange": "amq.direct", "type": "direct"}, "channel", 406),
    ],
)
def test_exchange_declare_refusals(talk: Talk, arguments: dict[str, Any], scope: str, code: int) -> None:
    talk.say("exchange.declare", **arguments)
    closed(talk, scope, code, "exchange.declare")


def test_exchange_life(talk: Talk) -> None:
    talk.ask("exchange.declare", exchange="x", type="fanout")
    talk.ask("exchange.declare", exchange="x", type="fanout", auto_delete=True)
    talk.say("exchange.declare", exchange="y", type="direct", no_wait=True)
    talk.ask("exchange.bind", source="x", destination="y")
    talk.say("exchange.delete", exchange="x", if_unused=True)
    closed(talk, "channel", 406, "exchange.delete")
    talk.say("channel.close-ok")
    talk.ask("channel.open")
    talk.ask("exchange.unbind", source="x", destination="y")
    talk.ask("exchange.delete", exchange="x", if_unused=True)


@pytest.mark.parametrize("name", ["exchange.bind", "exchange.unbind"])
@pytest.mark.parametrize("ends", [("missing", "amq.fanout"), ("amq.fanout", "missing")])
def test_exchange_binding_of_missing_ends(talk: Talk, name: str, ends: tuple[str, str]) -> None:
    talk.say(name, source=ends[0], destination=ends[1])
    call = talk.hear("channel.close", "connection.close")
    assert call["reply_code"] == 404


def test_internal_exchanges_take_no_publishes(talk: Talk) -> None:
    talk.ask("exchange.declare", exchange="i", type="fanout", internal=True)
    talk.publish("i", "")
    closed(talk, "channel", 403, "basic.publish")


# --- queue


@pytest.mark.parametrize(
    ("name", "arguments", "code"),
    [
        ("queue.declare", {"queue": "missing", "passive": True}, 404),
        ("queue.declare", {"queue": "amq.mine"}, 403),
        ("queue.declare", {"queue": "no name"}, 406),
        ("queue.declare", {"queue": "q", "durable": True}, 406),
        ("queue.declare", {"queue": "q", "arguments": {"x": 1}}, 406),
        ("queue.bind", {"queue": "missing", "exchange": "amq.direct"}, 404),
        ("queue.bind", {"queue": "q", "exchange": "missing"}, 404),
        ("queue.purge", {"queue": "missing"}, 404),
        ("queue.delete", {"queue": "missing"}, 404),
        ("queue.delete", {"queue": "q", "if_empty": True}, 406),
        ("basic.get", {"queue": "missing"}, 404),
        ("basic.consume", {"queue": "missing"}, 404),
    ],
)
def test_queue_refusals(talk: Talk, name: str, arguments: dict[str, Any], code: int) -> None:
    talk.ask("queue.declare", queue="q")
    talk.publish("", "q")
    talk.say(name, **arguments)
    closed(talk, "channel", code, name)


@pytest.mark.parametrize("name", ["queue.bind", "queue.purge", "queue.delete"])
def test_no_queue_named(talk: Talk, name: str) -> None:
    talk.say(name)
    closed(talk, "channel", 404, name)


def test_blank_names_mean_the_last_queue_declared(talk: Talk) -> None:
    name = talk.ask("queue.declare", exclusive=True)["queue"]
    talk.ask("queue.bind", exchange="amq.direct")
    talk.publish("amq.direct", name, b"1")
    got = talk.get("")
    assert got is not None and got[0]["message_count"] == 0


def test_exclusive_queues_are_locked(talk: Talk, other: Talk) -> None:
    talk.ask("queue.declare", queue="mine", exclusive=True)
    other.say("queue.declare", queue="mine", passive=True)
    closed(other, "channel", 405, "queue.declare")
    talk.ask("connection.close", 0)
    other.say("channel.close-ok")
    other.ask("channel.open")
    other.say("queue.declare", queue="mine", passive=True)
    closed(other, "channel", 404, "queue.declare")


def test_passive_and_quiet_has_no_effect(talk: Talk) -> None:
    talk.say("queue.declare", queue="missing", passive=True, no_wait=True)
    talk.silent()


# --- basic


def test_what_was_published_comes_out_unchanged(talk: Talk) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    properties = {"headers": {"a": [1, None, {"b": b"c"}]}, "priority": 3, "type": "t"}
    talk.publish("", "q", b"body", properties=properties)
    talk.say("basic.get", queue="q", no_ack=True)
    got = talk.hear("basic.get-ok")
    header, body = talk.hear_content()
    assert (got["delivery_tag"], got["redelivered"], got["routing_key"], body) == (1, False, "q", b"body")
    assert header.properties["headers"].plain() == properties["headers"]
    assert set(header.properties) == set(properties)


@pytest.mark.parametrize(
    ("flags", "code"),
    [({"mandatory": True}, 312), ({"immediate": True}, 313), ({"mandatory": True, "immediate": True}, 312)],
)
def test_returns(talk: Talk, flags: dict[str, Any], code: int) -> None:
    talk.publish("", "nowhere", b"back", **flags)
    assert talk.hear("basic.return")["reply_code"] == code
    assert talk.hear_content()[1] == b"back"


def test_consumers(talk: Talk) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.publish("", "q", b"0")
    tag = talk.ask("basic.consume", queue="q")["consumer_tag"]
    delivery, body = talk.delivery()
    assert (delivery["consumer_tag"], delivery["delivery_tag"], body) == (tag, 1, b"0")
    talk.ask("basic.cancel", consumer_tag=tag)
    talk.ask("basic.cancel", consumer_tag=tag)
    talk.publish("", "q", b"1")
    talk.silent()
    talk.say("basic.cancel", consumer_tag="unknown")
    closed(talk, "connection", 530, "basic.cancel")


def test_a_tag_in_use(talk: Talk) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.ask("basic.consume", queue="q", consumer_tag="t")
    talk.say("basic.consume", queue="q", consumer_tag="t")
    closed(talk, "connection", 530, "basic.consume")


def test_exclusive_consumers(talk: Talk, other: Talk) -> None:
    talk.ask("queue.declare", queue="q")
    talk.ask("basic.consume", queue="q", exclusive=True)
    other.say("basic.get", queue="q")
    closed(other, "channel", 403, "basic.get")


@pytest.mark.parametrize("scope", ["channel", "connection"])
def test_prefetch(talk: Talk, scope: str) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.ask("channel.open", 2)
    talk.ask("basic.qos", **{"prefetch_count": 1, "global": scope == "connection"})
    for number in range(3):
        talk.publish("", "q", b"%d" % number)
    talk.ask("basic.consume", 1, queue="q")
    assert talk.delivery()[1] == b"0"
    talk.ask("basic.consume", 2, queue="q")
    if scope == "channel":
        assert [talk.delivery()[1], talk.delivery()[1]] == [b"1", b"2"]
    talk.silent()
    talk.say("basic.ack", delivery_tag=1)
    if scope == "connection":
        assert talk.delivery()[1] == b"1"
    talk.silent()


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("basic.ack", {"delivery_tag": 1}),
        ("basic.ack", {"delivery_tag": 2}),
        ("basic.ack", {"delivery_tag": 0}),
        ("basic.nack", {"delivery_tag": 1, "multiple": True}),
        ("basic.reject", {"delivery_tag": 9}),
    ],
)
def test_tags_that_are_not_outstanding(talk: Talk, name: str, arguments: dict[str, Any]) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.publish("", "q")
    talk.get("q")
    talk.say("basic.ack", delivery_tag=0, multiple=True)
    talk.say(name, **arguments)
    closed(talk, "channel", 406, name)


def test_rejected_messages_go_to_another_channel(talk: Talk) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.publish("", "q", b"1")
    talk.get("q")
    talk.say("basic.reject", delivery_tag=1, requeue=True)
    assert talk.get("q") is None
    talk.ask("channel.open", 2)
    got = talk.get("q", 2)
    assert got is not None and got[0]["redelivered"]


def test_recover_to_the_same_consumer(talk: Talk) -> None:
    talk.ask("queue.declare", queue="q", exclusive=True)
    talk.ask("basic.consume", queue="q", consumer_tag="first")
    talk.ask("basic.consume", queue="q", consumer_tag="second")
    talk.publish("", "q", b"1")
    assert talk.delivery()[0]["consumer_tag"] == "first"
    talk.ask("basic.recover", requeue=False)
    again = talk.delivery()[0]
    assert (again["consumer_tag"], again["delivery_tag"], again["redelivered"]) == ("first", 2, True)
    talk.say("basic.recover-async", requeue=True)
    assert talk.delivery()[0]["consumer_tag"] == "second"


def test_a_deleted_queue_cancels_its_consumers(broker: ReferenceBroker, other: Talk) -> None:
    with ready(broker.url, capabilities={"consumer_cancel_notify": True}) as talk:
        talk.ask("queue.declare", queue="q")
        tag = talk.ask("basic.consume", queue="q")["consumer_tag"]
        other.ask("queue.delete", queue="q")
        assert talk.hear("basic.cancel")["consumer_tag"] == tag
        talk.ask("basic.cancel", consumer_tag=tag)


def test_the_limited_user_may_do_nothing(broker: ReferenceBroker) -> None:
    with ready(broker.url, response=b"\0limited\0limited") as talk:
        talk.silent()
        talk.say("basic.publish")
        closed(talk, "channel", 403, "basic.publish")


# --- tx and confirm


def test_transactions(talk: Talk, other: Talk) -> None:
    talk.ask("queue.declare", queue="q")
    talk.ask("tx.select")
    talk.publish("", "q", b"1")
    talk.silent()
    assert other.get("q") is None
    talk.ask("tx.rollback")
    talk.publish("", "q", b"2")
    talk.ask("tx.commit")
    got = talk.get("q")
    assert got is not None and got[1] == b"2"
    talk.say("basic.ack", delivery_tag=1)
    talk.ask("tx.rollback")
    talk.say("basic.ack", delivery_tag=1)
    talk.say("basic.ack", delivery_tag=1)
    closed(talk, "channel", 406, "basic.ack")
    assert other.get("q") is not None


@pytest.mark.parametrize("name", ["tx.commit", "tx.rollback"])
def test_no_transaction(talk: Talk, name: str) -> None:
    talk.say(name)
    closed(talk, "channel", 406, name)


def test_confirms_come_after_returns(talk: Talk) -> None:
    talk.ask("confirm.select")
    talk.publish("", "nowhere", b"1", mandatory=True)
    talk.hear("basic.return")
    talk.hear_content()
    assert talk.hear("basic.ack")["delivery_tag"] == 1


def test_confirms_may_be_for_several(talk: Talk) -> None:
    talk.ask("confirm.select")
    message = talk.method("basic.publish", routing_key="q") + talk.content(b"")
    talk.octets(message * 5)
    highest = 0
    while highest < 5:
        ack = talk.hear("basic.ack")
        assert ack["delivery_tag"] > highest
        assert ack["multiple"] or ack["delivery_tag"] == highest + 1
        highest = ack["delivery_tag"]


def test_confirm_and_tx_exclude_each_other(talk: Talk) -> None:
    talk.ask("tx.select")
    talk.say("confirm.select")
    closed(talk, "channel", 406, "confirm.select")


# --- pressure


def test_a_consumer_that_does_not_read_slows_nobody_down(
    broker: ReferenceBroker, talk: Talk, other: Talk
) -> None:
    talk.ask("queue.declare", queue="big")
    talk.ask("basic.consume", queue="big", no_ack=True)
    body = bytes(100_000)
    for _ in range(200):
        other.publish("", "big", body)
    waiting = other.ask("queue.declare", queue="big", passive=True)["message_count"]
    assert waiting > 0
    assert [len(talk.delivery()[1]) for _ in range(200)] == [100_000] * 200
