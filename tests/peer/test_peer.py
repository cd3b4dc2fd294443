"""What a case drives: opening, asking, claims, barriers, reactions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from amqpspec.peer.context import CLIENT_PROPERTIES, Login, MissingHook, OutOfReach, Patience, Unmet
from amqpspec.peer.events import Ended, Garbled, Quiet, Reaction
from amqpspec.peer.methods.arrivals import HeartbeatArrived, MethodArrived, refusal_of
from amqpspec.peer.methods.peer import Peer
from amqpspec.spec.model import Refusal, Scope
from amqpspec.wire.methods.codec import Call
from amqpspec.wire.transport import StreamEnd
from tests.peer.fake import (
    BARRIER,
    CODEC,
    HEARTBEAT,
    OPENED,
    START,
    TUNE,
    FakeTransport,
    Said,
    closing,
    context,
    deliver,
    frame,
    header,
    login,
    method,
    peer,
)

OPEN_OK = method("channel.open-ok")
DIALECT = CODEC.dialect


def calls(transport: FakeTransport) -> list[Call]:
    return [item for item in transport.heard() if isinstance(item, Call)]


# --- opening and closing


def test_a_connection_is_opened_in_the_order_of_the_specification() -> None:
    made, transport = peer(OPENED, OPEN_OK)
    made.open_channel()
    names = ["connection.start-ok", "connection.tune-ok", "connection.open", "channel.open"]
    assert bytes(transport.sent[:8]) == DIALECT.protocol_header
    assert transport.names() == names
    assert made.capabilities() == {"basic.nack": True}
    assert (
        calls(transport)[0]["client_properties"].plain()["product"] == CLIENT_PROPERTIES["product"].encode()
    )


def test_a_second_channel_does_not_log_in_again() -> None:
    made, transport = peer(OPENED, OPEN_OK, method("channel.open-ok", 2))
    made.open_channel().open_channel(2)
    assert transport.names().count("connection.open") == 1


def test_tuning_takes_what_is_proposed() -> None:
    made, transport = peer(OPENED)
    made.open_connection()
    tune_ok = calls(transport)[1]
    assert (tune_ok["channel_max"], tune_ok["frame_max"], tune_ok["heartbeat"]) == (2047, 131_072, 0)
    assert (made.channel_max, made.frame_max_octets) == (2047, 131_072)
    assert made.assembler.reader.max_size == 262_144


def test_tuning_puts_other_values_in_their_places() -> None:
    made, transport = peer(START, TUNE)
    made.handshake(channel_max=5, frame_max=0, heartbeat=3, properties={"x": 1})
    assert calls(transport)[0]["client_properties"].plain() == {"x": 1}
    assert [calls(transport)[1][key] for key in ("channel_max", "frame_max", "heartbeat")] == [5, 0, 3]
    assert made.assembler.reader.max_size == 16 << 20


def test_a_tune_that_was_taken_already_is_answered() -> None:
    made, transport = peer(TUNE)
    made.tune(proposed=made.expect("connection.tune", channel=0).call)
    assert transport.names() == ["connection.tune-ok"]


@pytest.mark.parametrize(
    ("mechanism", "response"),
    [
        ("PLAIN", b"\0ann\0pass"),
        ("AMQPLAIN", b"\x05LOGINS\0\0\0\x03ann\x08PASSWORDS\0\0\0\x04pass"),
        ("ANONYMOUS", b"ann"),
        ("EXTERNAL", b""),
    ],
)
def test_credentials_by_mechanism(mechanism: str, response: bytes) -> None:
    made, transport = peer()
    made.login = Login("ann", "pass", mechanism=mechanism)
    made.start_ok()
    (start_ok,) = calls(transport)
    assert (start_ok["mechanism"], start_ok["response"]) == (mechanism, response)


def test_a_response_of_the_cases_own_is_sent_as_it_is() -> None:
    made, transport = peer()
    made.start_ok(mechanism="X", response=b"whatever", locale="de_DE")
    (start_ok,) = calls(transport)
    assert (start_ok["mechanism"], start_ok["response"], start_ok["locale"]) == ("X", b"whatever", "de_DE")


def test_closing_gives_close_ok_or_what_came_instead() -> None:
    made, transport = peer(method("connection.close-ok", 0))
    arrival = made.close()
    assert isinstance(arrival, MethodArrived) and arrival.name == "connection.close-ok"
    assert transport.names() == ["connection.close"]
    assert peer(StreamEnd.RST)[0].close() == Ended(StreamEnd.RST)


def test_leaving_closes_what_is_still_open() -> None:
    made, transport = peer(OPENED, OPEN_OK, method("channel.open-ok", 2), method("connection.close-ok", 0))
    made.open_channel().open_channel(2)
    made.leave(1.0)
    assert transport.names()[-3:] == ["channel.close", "channel.close", "connection.close"]


@pytest.mark.parametrize("script", [(OPENED,), (OPENED, OPEN_OK, closing("channel", 404)), (StreamEnd.FIN,)])
def test_leaving_says_nothing_where_nothing_is_open(script: tuple[Said, ...]) -> None:
    made, transport = peer(*script)
    made.leave(1.0)
    made.connect()
    for _ in range(6):
        made.read(0.1)
    sent = len(transport.sent)
    made.leave(1.0)
    assert len(transport.sent) == sent


# --- asking, claims, others


def test_what_does_not_come_about_says_what_was_expected_and_observed() -> None:
    made, _ = peer(closing("channel", 404, "no queue 'q'"))
    with pytest.raises(Unmet) as caught:
        made.call("queue.declare", queue="q", passive=True)
    assert caught.value.expected == "queue.declare-ok"
    assert caught.value.observed == "channel.close 404 not-found (\"no queue 'q'\")"
    assert str(caught.value).startswith("expected queue.declare-ok, observed channel.close 404")


def test_replies_are_taken_from_their_channel() -> None:
    made, _ = peer(method("channel.open-ok", 2) + OPEN_OK)
    assert made.call("channel.open").channel == 1
    assert made.expect("channel.open-ok", channel=None).channel == 2


def test_a_claim_is_the_whole_familys_and_noted() -> None:
    transports = FakeTransport(), FakeTransport()
    made = Peer(context(*transports, logins=login(), vhosts={"second": "two"}))
    early = made.another()
    made.claim("it holds")
    late = early.another("second")
    assert (early.claimed, late.claimed, late.login.user) == ("it holds", "it holds", "ann")
    assert transports[0].notes == ["claim: it holds"]
    assert made.another(vhost="two").login == Login(vhost="two")


def test_a_channel_beyond_those_agreed_on_is_out_of_reach() -> None:
    made, transport = peer()
    made.agree(channel_max=1, frame_max_octets=4096)
    with pytest.raises(OutOfReach, match="channel-max is 1, the case needs channel 2"):
        made.call("channel.open", channel=2)
    made.send("channel.open", channel=2)
    assert transport.names() == ["channel.open"]


def test_what_the_configuration_lacks_is_a_missing_hook() -> None:
    made, _ = peer()
    with pytest.raises(MissingHook, match="no user for role 'second'"):
        made.another("second")
    with pytest.raises(MissingHook, match="no virtual host for role 'second'"):
        made.context.vhost("second")
    with pytest.raises(MissingHook, match="no restart hook"):
        made.context.restart()


def test_hooks_that_are_there_are_used() -> None:
    restarted: list[int] = []
    world = context(vhosts={"second": "two"}, restart_hook=lambda: restarted.append(1))
    world.restart()
    assert (world.vhost("second"), restarted) == ("two", [1])


def test_names_are_the_cases_own_and_not_too_long() -> None:
    world = replace(context(), tag="t" * 200)
    assert replace(world, tag="amq.run = 1/2").name("ü") == "amq-run---1-2.-.0"
    names = {world.name("q") for _ in range(3)}
    assert len(names) == 3 and all(len(name) == 127 for name in names)


def test_patience_grows_with_the_round_trip_and_by_one_knob() -> None:
    assert Patience.measured(0.0001) == Patience(5.0, 0.3, 12.0)
    slow = Patience.measured(0.1, scale=2.0, ending_s=3.0)
    assert (slow.reply_s, slow.quiet_s, slow.ending_s) == (40.0, 4.0, 6.0)
    assert peer()[0].patience_s == 5.0


# --- entities and messages


def test_entities_are_remembered_for_cleaning_once() -> None:
    made, transport = peer(
        method("queue.declare-ok", queue="q", message_count=0, consumer_count=0),
        method("queue.declare-ok", queue="q", message_count=0, consumer_count=0),
        BARRIER,
    )
    first, second = made.queue(), made.queue(queue=made.will_clean("queue", "mine"), durable=True)
    exchange = made.exchange("topic")
    assert made.context.cleanup.entities == [
        ("/", "queue", first), ("/", "queue", "mine"), ("/", "exchange", exchange),
    ]  # fmt: skip
    assert second == "mine"
    assert [c["exclusive"] for c in calls(transport)[:2]] == [True, False]


def test_messages_are_published_and_got() -> None:
    got = method("basic.get-ok", delivery_tag=1, exchange="", routing_key="q", message_count=0)
    message = got + header(2) + frame("body", b"hi")
    made, transport = peer(message, message, method("basic.get-empty"), method("basic.get-empty"))
    made.publish("q", b"hi", mandatory=True)
    assert transport.names() == ["basic.publish"]
    found = made.get("q")
    assert found is not None and found.body == b"hi"
    assert [m.body for m in made.drain("q")] == [b"hi"]
    assert made.get("q") is None


def test_deliveries_come_in_order_or_are_missed() -> None:
    made, _ = peer(method("basic.consume-ok", consumer_tag="tag"), deliver(b"1") + deliver(b"2"))
    assert made.consume("q") == "tag"
    assert [d.body for d in made.deliveries(2)] == [b"1", b"2"]
    with pytest.raises(Unmet, match=r"expected basic\.deliver, observed nothing within"):
        made.delivery(within_s=0.1)


def test_capabilities_may_be_absent() -> None:
    assert peer()[0].capabilities() == {}


@pytest.mark.parametrize("value", [7, b"basic.nack", True, ["basic.nack"], None])
def test_capabilities_that_are_no_table_are_none(value: object) -> None:
    made, _ = peer()
    made.server_properties = {"capabilities": value}
    assert made.capabilities() == {}


# --- proof of silence


@pytest.mark.parametrize(("queue", "asked"), [("", "exchange.declare"), ("q", "queue.declare")])
def test_a_barrier_is_two_round_trips(queue: str, asked: str) -> None:
    reply = method("queue.declare-ok", queue="q", message_count=0, consumer_count=0) if queue else BARRIER
    made, transport = peer(deliver(b"1") + reply, reply)
    made.barrier(queue=queue)
    assert transport.names() == [asked, asked]
    assert [a.body for a in made.pending("basic.deliver")] == [b"1"]
    assert made.pending("basic.deliver") == []


def test_a_barrier_that_is_not_answered_proves_nothing() -> None:
    with pytest.raises(Unmet):
        peer(BARRIER, StreamEnd.FIN)[0].barrier()


def test_heartbeats_are_waited_for() -> None:
    assert isinstance(peer(HEARTBEAT)[0].heartbeat(1.0), HeartbeatArrived)
    assert peer()[0].heartbeat(1.0) is None


def test_the_end_is_read_for() -> None:
    assert peer(OPEN_OK, HEARTBEAT, StreamEnd.FIN)[0].expect_end() == Ended(StreamEnd.FIN)
    assert isinstance(peer(OPEN_OK)[0].expect_end(), Quiet)
    assert isinstance(peer(frame(9, b""))[0].expect_end(1.0), Garbled)


# --- reactions


@pytest.mark.parametrize("barrier", [True, False])
@pytest.mark.parametrize(
    ("script", "refusal", "said"),
    [
        ((closing("channel", 404),), Refusal(Scope.CHANNEL, 404), "channel.close 404 not-found ('no')"),
        (
            (closing("connection", 503), StreamEnd.FIN),
            Refusal(Scope.CONNECTION, 503),
            "connection.close 503 command-invalid ('no'), then connection ended (FIN)",
        ),
        (
            (closing("connection", 999),),
            Refusal(Scope.CONNECTION, 999),
            "connection.close 999 ('no'), then nothing within 0.5 s",
        ),
        ((StreamEnd.RST,), Refusal(Scope.SOCKET), "connection ended (RST)"),
        (
            (b"AMQP\x00\x00\x09\x01", StreamEnd.FIN),
            Refusal(Scope.HEADER),
            "AMQP",
        ),
        ((frame(5, b""),), None, "undecodable octets"),
        ((HEARTBEAT, method("queue.purge-ok", message_count=0)), None, "queue.purge-ok on channel 1"),
    ],
)
def test_reactions_at_every_scope(
    barrier: bool, script: tuple[Said, ...], refusal: Refusal, said: str
) -> None:
    made, _ = peer(*script)
    reaction = made.reaction(barrier=barrier)
    assert reaction.refusal == refusal
    assert reaction.describe(DIALECT).startswith(said) or said in reaction.describe(DIALECT)
    assert reaction.code == (None if refusal is None else refusal.code)


def test_silence_is_proven_by_a_barrier_behind_it() -> None:
    made, transport = peer(None, BARRIER)
    reaction = made.reaction()
    assert transport.names() == ["exchange.declare"]
    assert (reaction.refusal, reaction.describe(DIALECT)) == (None, "exchange.declare-ok on channel 1")


def test_a_refusal_that_comes_before_the_barriers_answer_counts() -> None:
    made, _ = peer(None, closing("channel", 406))
    assert made.reaction().refusal == Refusal(Scope.CHANNEL, 406)


def test_without_a_barrier_silence_lasts_as_long_as_an_ending_may_take() -> None:
    made, transport = peer()
    reaction = made.reaction(barrier=False)
    assert (reaction.arrivals, reaction.refusal) == ((Quiet(10.0),), None)
    assert transport.names() == []
    assert peer()[0].reaction(barrier=False, within_s=2.0).arrivals == (Quiet(2.0),)


def test_other_channels_and_deliveries_do_not_decide_and_are_kept() -> None:
    other = method("queue.purge-ok", 2, message_count=0)
    made, _ = peer(deliver(b"1") + other + closing("channel", 404))
    assert made.reaction().refusal == Refusal(Scope.CHANNEL, 404)
    assert [a.body for a in made.pending("basic.deliver")] == [b"1"]
    assert len(made.pending("queue.purge-ok", channel=2)) == 1


def test_a_stream_of_other_things_does_not_keep_a_reaction_waiting() -> None:
    made, transport = peer(*[deliver(b"x")] * 100_000)
    reaction = made.reaction(barrier=False, within_s=1.0)
    assert isinstance(reaction.arrivals[-1], Quiet)
    assert transport.clock_s < 1.1


def test_silence_names_the_whole_wait_whatever_came_meanwhile() -> None:
    assert peer(HEARTBEAT, HEARTBEAT)[0].reaction(barrier=False, within_s=2.0).arrivals == (Quiet(2.0),)
    assert peer(deliver(b"x"))[0].arrival("channel.open-ok", within_s=2.0) == Quiet(2.0)


def test_nothing_at_all_is_no_refusal() -> None:
    assert refusal_of(()) == (None, None)
    assert Reaction(()).describe(DIALECT) == "nothing"
    assert Refusal(Scope.HEADER).describe(DIALECT) == "protocol header of the target, then close"


@pytest.mark.parametrize(
    ("script", "kind", "refusal"),
    [
        (closing("channel", 404, "why"), "channel.close 404", Refusal(Scope.CHANNEL, 404)),
        (closing("connection", 504, "why"), "connection.close 504", Refusal(Scope.CONNECTION, 504)),
        (method("queue.purge-ok", 7, message_count=3), "queue.purge-ok", None),
        (HEARTBEAT, "heartbeat", None),
        (b"AMQP\x00\x00\x08\x00", "protocol header AMQP 0 0 8 0", None),
        (b"\x09\x00\x00\x00\x00\x00\x00\x00", "undecodable octets", None),
        (StreamEnd.FIN, "end", Refusal(Scope.SOCKET)),
        (StreamEnd.RST, "end", Refusal(Scope.SOCKET)),
        (None, "nothing", None),
    ],
)
def test_an_arrival_is_data_that_targets_have_in_common(
    script: Said, kind: str, refusal: Refusal | None
) -> None:
    """Neither texts nor channel numbers are part of it, nor how TCP ended."""
    made, _ = peer(script)
    arrival = made.read(1.0)
    assert (arrival.kind, arrival.refusal) == (kind, refusal)


# --- a connection on which nothing arrives, and frame sizes that a target rejects


def test_a_connection_on_which_nothing_came_is_tried_once_more_and_that_is_told() -> None:
    silent, speaking = FakeTransport(), FakeTransport(OPENED)
    made = Peer(context(silent, speaking))
    made.open_connection()
    assert silent.closed and not speaking.closed
    assert bytes(speaking.sent[:8]) == DIALECT.protocol_header
    assert made.context.redials == ["a connection received no answer and was tried again"]
    assert any("a second connection is tried" in note for note in silent.notes)


def test_a_target_that_says_nothing_at_all_is_not_tried_for_ever() -> None:
    transports = [FakeTransport() for _ in range(3)]
    made = Peer(context(*transports))
    with pytest.raises(Unmet, match=r"connection\.start, observed nothing within 5\.0 s"):
        made.open_connection()
    assert [bool(transport.sent) for transport in transports] == [True, True, False]


def test_half_a_start_is_no_connection_that_never_came() -> None:
    half, other = FakeTransport(START[:9]), FakeTransport(OPENED)
    made = Peer(context(half, other))
    with pytest.raises(Unmet):
        made.open_connection()
    assert not other.sent and made.context.redials == []


def test_a_frame_max_that_is_refused_gives_way_to_the_next_power_of_two() -> None:
    refusing = [FakeTransport(START, TUNE, StreamEnd.RST) for _ in range(2)]
    taking = FakeTransport(OPENED, OPEN_OK)
    small = Peer(context(*refusing, taking)).open_small()
    assert small.frame_max_octets == 16_384
    assert [calls(one)[1]["frame_max"] for one in (*refusing, taking)] == [4096, 8192, 16_384]


def test_a_target_that_refuses_every_frame_max_is_unmet() -> None:
    refusing = [FakeTransport(START, TUNE, StreamEnd.RST) for _ in range(9)]
    with pytest.raises(Unmet, match=r"connection\.open-ok"):
        Peer(context(*refusing)).open_small()
    assert [bool(one.sent) for one in refusing] == [True] * 6 + [False] * 3


def test_silence_about_a_frame_max_is_no_refusal_of_it() -> None:
    silent, other = FakeTransport(START, TUNE), FakeTransport(OPENED, OPEN_OK)
    with pytest.raises(Unmet):
        Peer(context(silent, other)).open_small()
    assert not other.sent


def test_whoever_has_close_ok_hangs_up() -> None:
    made, transport = peer(OPENED, method("connection.close-ok", 0))
    made.open_connection()
    made.close()
    assert transport.closed
