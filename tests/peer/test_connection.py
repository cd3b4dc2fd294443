"""One connection: sending on purpose badly, waiting without losing anything, closing politely."""

from __future__ import annotations

import pytest

from amqpspec.peer import line as module
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet
from amqpspec.peer.methods.arrivals import HeartbeatArrived, MethodArrived
from amqpspec.peer.methods.connection import Connection
from amqpspec.wire.errors import WireError
from amqpspec.wire.greeting import ProtocolHeader
from amqpspec.wire.methods.codec import Call
from amqpspec.wire.methods.frames import Frame
from amqpspec.wire.transport import StreamEnd, StreamEnded
from tests.peer.fake import (
    BARRIER,
    CODEC,
    HEARTBEAT,
    FakeTransport,
    Said,
    closing,
    context,
    deliver,
    frame,
    method,
)

OPEN_OK = method("channel.open-ok")


def connection(*script: Said) -> tuple[Connection, FakeTransport]:
    transport = FakeTransport(*script)
    return Connection(context(transport)), transport


def named(name: str) -> object:
    return lambda arrival: isinstance(arrival, MethodArrived) and arrival.name == name


def wanted(name: str, made: Connection, within_s: float = 1.0) -> Arrival:
    return made.wait(lambda a: isinstance(a, MethodArrived) and a.name == name, within_s)


def test_it_dials_when_it_is_needed_and_once() -> None:
    made, transport = connection()
    states = [made.dialled]
    made.hang_up()
    made.connect()
    states.append(made.dialled)
    assert states == [False, True]
    assert made.transport is transport
    made.hang_up()
    assert transport.closed


def test_a_refused_connection_is_an_end_like_any_other() -> None:
    with pytest.raises(StreamEnded) as caught:
        Connection(context()).connect()
    assert caught.value.how is StreamEnd.REFUSED


def test_headers_and_frames_are_sent_legal_or_not() -> None:
    made, transport = connection()
    made.send_header()
    made.send_frame("method", b"abc", 3)
    made.send_octets(made.frame(9, b"abc", size=7, end=0))
    legal = CODEC.dialect.protocol_header + b"\x01\x00\x03\x00\x00\x00\x03abc\xce"
    assert bytes(transport.sent) == legal + b"\x09\x00\x01\x00\x00\x00\x07abc\x00"
    made.send_header(b"HTTP")
    assert transport.sent.endswith(b"HTTP")
    transport.takes = False
    assert not made.send_octets(b"x")


def test_contents_keep_to_the_agreed_frame_size() -> None:
    made, _ = connection()
    made.frame_max_octets = 20
    octets = made.content_frames(b"x" * 25, properties={"priority": 1})
    transport = FakeTransport()
    transport.send(octets)
    frames = [item for item in transport.heard() if isinstance(item, Frame)]
    assert [len(f.payload) for f in frames[1:]] == [12, 12, 1]
    assert made.content_frames(b"abcd", chunk=3).endswith(frame("body", b"abc") + frame("body", b"d"))
    assert b"\0\0\0\x63" in made.content_frames(b"", body_size=99)


def test_the_last_method_sent_is_remembered_but_not_a_polite_answer() -> None:
    made, transport = connection(closing("channel", 404))
    made.send("queue.declare", queue="q", passive=True)
    assert isinstance(made.read(1.0), MethodArrived)
    assert made.last_sent is not None and made.last_sent.name == "queue.declare"
    assert transport.names() == ["queue.declare", "channel.close-ok"]


@pytest.mark.parametrize(("scope", "channel"), [("channel", 7), ("connection", 0)])
def test_a_close_is_answered_where_it_came_in(scope: str, channel: int) -> None:
    made, transport = connection(closing(scope, 404, channel=channel))
    made.read(1.0)
    (answer,) = (item for item in transport.heard() if isinstance(item, Call))
    assert answer.name == f"{scope}.close-ok"
    assert int.from_bytes(transport.sent[1:3], "big") == channel
    assert (made.closed_by is not None) == (scope == "connection")


@pytest.mark.parametrize("active", [True, False])
def test_a_request_for_flow_is_answered_and_does_not_become_what_was_sent_last(active: bool) -> None:
    made, transport = connection(method("channel.flow", 3, active=active))
    made.send("queue.declare", channel=3, queue="q", passive=True)
    assert isinstance(made.read(1.0), MethodArrived)
    assert transport.names() == ["queue.declare", "channel.flow-ok"]
    assert [item for item in transport.heard() if isinstance(item, Call)][1]["active"] is active
    assert made.last_sent is not None and made.last_sent.name == "queue.declare"


def test_a_request_for_flow_is_discarded_after_close_until_the_channel_is_open_again() -> None:
    flow = method("channel.flow", active=True)
    made, transport = connection(flow + method("channel.close-ok"), method("channel.open-ok") + flow)
    made.send("channel.close", reply_code=200)
    made.read(1.0), made.read(1.0)
    made.send("channel.open")
    made.read(1.0), made.read(1.0)
    assert transport.names() == ["channel.close", "channel.open", "channel.flow-ok"]


def test_one_that_is_not_polite_keeps_quiet() -> None:
    made, transport = connection(closing("connection", 320))
    made.polite = False
    made.read(1.0)
    assert made.closed_by is not None and not transport.sent


def test_reading_gives_quiet_with_the_time_waited_and_then_the_end_again_and_again() -> None:
    made, _ = connection(None, StreamEnd.RST)
    quiet = made.read(2.0)
    assert isinstance(quiet, Quiet) and quiet.waited_s == 2.0
    assert quiet.describe(CODEC.dialect) == "nothing within 2.0 s"
    assert [made.read(3.0), made.read(3.0)] == [Ended(StreamEnd.RST)] * 2
    assert Ended(StreamEnd.RST).describe(CODEC.dialect) == "connection ended (RST)"


def test_what_arrived_with_the_end_is_handed_out_first() -> None:
    made, _ = connection(OPEN_OK + BARRIER, StreamEnd.FIN)
    names = [a.name for a in (made.read(1.0), made.read(1.0)) if isinstance(a, MethodArrived)]
    assert names == ["channel.open-ok", "exchange.declare-ok"]
    assert made.read(1.0) == Ended(StreamEnd.FIN)


def test_an_end_says_what_the_transport_was_told_of_it() -> None:
    ended = StreamEnded(StreamEnd.FIN)
    ended.__cause__ = OSError("certificate required")
    made, _ = connection(ended)
    for _ in range(2):
        arrival = made.read(1.0)
        assert arrival == Ended(StreamEnd.FIN, "certificate required")
        assert arrival.describe(CODEC.dialect) == "connection ended (FIN): certificate required"


def test_what_a_transport_cannot_read_is_garbled() -> None:
    made, _ = connection(HEARTBEAT, WireError("messages", 8, "binary messages", "a text message"))
    made.read(1.0)
    arrival = made.read(1.0)
    assert isinstance(arrival, Garbled)
    said = "undecodable octets: messages at octet 8: a text message, expected binary messages"
    assert arrival.describe(CODEC.dialect) == said


def test_endless_data_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FLOOD_OCTETS", 100)
    made, _ = connection(*[HEARTBEAT * 4] * 10)
    arrivals = [made.read(1.0) for _ in range(20)]
    last = arrivals[-1]
    assert isinstance(last, Garbled) and "endless data" in str(last.error)
    assert sum(isinstance(a, HeartbeatArrived) for a in arrivals) == 16


def test_a_wait_keeps_what_it_did_not_want_in_order() -> None:
    made, _ = connection(deliver(b"1") + HEARTBEAT + deliver(b"2") + OPEN_OK)
    assert isinstance(wanted("channel.open-ok", made), MethodArrived)
    bodies = [
        a.body for a in (wanted("basic.deliver", made), wanted("basic.deliver", made)) if hasattr(a, "body")
    ]
    assert bodies == [b"1", b"2"]
    assert isinstance(made.wait(lambda a: isinstance(a, HeartbeatArrived), 0.1), HeartbeatArrived)
    assert isinstance(wanted("basic.deliver", made), Quiet)


def test_stashed_takes_out_what_is_wanted_and_keep_puts_back() -> None:
    made, _ = connection(deliver(b"1") + HEARTBEAT + OPEN_OK)
    wanted("channel.open-ok", made)
    (found,) = made.stashed(lambda a: isinstance(a, MethodArrived))
    assert not made.stashed(lambda a: isinstance(a, MethodArrived))
    made.keep(found)
    assert wanted("basic.deliver", made) is found


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ((closing("connection", 504),), MethodArrived),
        ((StreamEnd.FIN,), Ended),
        ((b"AMQP\x00\x01\x00\x00",), object),
        ((frame(5, b""),), Garbled),
        ((None,), Quiet),
    ],
)
def test_a_wait_ends_with_whatever_ends_the_matter(script: tuple[Said, ...], kind: type) -> None:
    made, _ = connection(*script)
    assert isinstance(wanted("channel.open-ok", made), kind)


def test_a_wait_among_a_stream_of_other_things_ends_in_time() -> None:
    made, transport = connection(*[HEARTBEAT] * 10_000)
    assert wanted("channel.open-ok", made, 1.0) == Quiet(1.0)
    assert transport.clock_s < 1.1


def test_another_dialects_header_is_seen() -> None:
    made, _ = connection(b"AMQP\x03\x01\x00\x00")
    header = getattr(wanted("connection.start", made), "header", None)
    assert isinstance(header, ProtocolHeader) and header.octets == b"AMQP\x03\x01\x00\x00"
