"""Peers whose target turns contents off in the middle of a case: they wait, and prove nothing if it stays like that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from amqpspec.net.stream import Endpoint
from amqpspec.peer.amqp_0_10.peer import Peer as AssemblyPeer
from amqpspec.peer.context import Context, Login, Patience, Unmet, Withheld
from amqpspec.peer.methods.peer import Peer
from amqpspec.reference.server import ReferenceBroker
from amqpspec.run.recorded import NO_TRANSCRIPT, Budget, Streams
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.transport import StreamEnd
from tests.peer.fake import (
    BARRIER,
    OPENED,
    START,
    TUNE,
    FakeTransport,
    closing,
    context,
    deliver,
    method,
    peer,
)

OFF, ON = method("channel.flow", active=False), method("channel.flow", active=True)
BLOCKED = method("connection.blocked", 0, reason="memory")
UNBLOCKED = method("connection.unblocked", 0)
CHANNEL = method("channel.open-ok")


def opened(*script: bytes | StreamEnd | None) -> tuple[Peer, FakeTransport]:
    made, transport = peer(OPENED, CHANNEL, *script)
    made.open_channel()
    return made, transport


def contents(transport: FakeTransport) -> int:
    return transport.names().count("basic.publish")


def test_contents_wait_until_they_are_turned_on_again() -> None:
    made, transport = opened(deliver(b"before") + OFF, ON, None)
    made.publish("q", b"x")
    assert transport.names()[-3:] == ["channel.flow-ok", "channel.flow-ok", "basic.publish"]
    assert made.delivery().body == b"before"
    assert [flow["active"] for flow in made.pending("channel.flow")] == []
    assert [made.expect("channel.flow")["active"] for _ in range(2)] == [False, True]


def test_contents_that_stay_turned_off_prove_nothing() -> None:
    made, transport = opened(OFF)
    made.claim("what was published")
    with pytest.raises(Withheld, match=r"contents turned off \(channel.flow\)"):
        made.publish("q", b"x")
    assert not contents(transport) and made.claimed == "" and "withdrawn" in transport.notes[-1]


def test_another_channel_and_a_channel_opened_again_are_active() -> None:
    made, transport = opened(OFF, None, CHANNEL)
    made.publish("q", b"x", channel=2)
    made.call("channel.open")
    made.publish("q", b"x")
    assert contents(transport) == 2 and not made.paused


def test_a_case_about_flow_sends_what_it_likes() -> None:
    made, transport = opened(OFF)
    made.polite = False
    made.publish("q", b"x")
    assert contents(transport) == 1 and "channel.flow-ok" not in transport.names()


@pytest.mark.parametrize("between", [(), (None,)])
@pytest.mark.parametrize("end", [closing("channel", 404), closing("connection", 320), StreamEnd.FIN])
def test_an_end_ends_the_wait(end: bytes | StreamEnd, between: tuple[None, ...]) -> None:
    made, transport = opened(OFF, *between, end)
    made.publish("q", b"x")
    assert contents(transport) == 1 and "channel.close-ok" not in transport.names()
    assert made.reaction(barrier=False).refusal is not None


def test_what_keeps_arriving_does_not_prolong_the_wait() -> None:
    made, transport = opened(OFF, *[deliver(b"x")] * 6000)
    with pytest.raises(Withheld):
        made.publish("q", b"x")
    assert not contents(transport)


def test_the_target_is_asked_to_say_that_it_blocks_publishers() -> None:
    made, _ = peer(START + TUNE)
    assert made.usual_properties["capabilities"] == {"connection.blocked": True}
    draft = Peer(replace(context(), dialect="amqp-0-9-1"))
    assert "capabilities" not in draft.usual_properties


def test_publishers_wait_until_they_are_unblocked() -> None:
    made, transport = opened(BLOCKED, UNBLOCKED)
    made.publish("q", b"x")
    assert contents(transport) == 1
    made, transport = opened(BLOCKED)
    with pytest.raises(Withheld, match="publishers blocked"):
        made.publish("q", b"x")


@pytest.mark.parametrize(
    "act",
    [
        lambda made: made.delivery(),
        lambda made: made.reaction(),
        lambda made: made.reaction(barrier=False),
        lambda made: made.expect_end(),
    ],
)
def test_silence_of_a_target_that_blocks_publishers_proves_nothing(act: Callable[[Peer], object]) -> None:
    made, _ = opened(BLOCKED)
    made.claim("an answer")
    with pytest.raises(Withheld):
        act(made)
    assert made.claimed == ""


def test_an_answer_of_a_target_that_blocks_publishers_is_judged() -> None:
    made, _ = opened(BLOCKED, BARRIER, BARRIER, closing("connection", 320))
    made.barrier()
    assert made.reaction(barrier=False).code == 320


def test_silence_without_a_block_is_silence() -> None:
    made, _ = opened(BLOCKED, UNBLOCKED)
    with pytest.raises(Unmet) as unmet:
        made.delivery()
    assert not isinstance(unmet.value, Withheld)


def test_a_block_of_another_publisher_explains_silence() -> None:
    first, second = FakeTransport(OPENED, CHANNEL, None, BLOCKED), FakeTransport(OPENED, CHANNEL)
    made = Peer(context(first, second))
    made.open_channel()
    made.publish("q", b"x")
    listener = made.another().open_channel()
    with pytest.raises(Withheld):
        listener.delivery()
    made.hang_up()
    with pytest.raises(Unmet) as unmet:
        listener.delivery()
    assert not isinstance(unmet.value, Withheld)
    made.publish("q", b"x")  # on a connection that is gone, nothing is waited for


# --- a broker


def test_a_broker_turns_contents_off_and_on() -> None:
    with ReferenceBroker("rabbitmq-0-9-1") as broker:
        made = _connected(broker)
        queue = made.queue()
        broker.flow(False)
        later = threading.Timer(0.3, broker.flow, (True,))
        later.start()
        made.publish(queue, b"x")
        later.join()
        message = made.get(queue)
        assert message is not None and message.body == b"x"
        broker.flow(False)
        with pytest.raises(Withheld):
            made.publish(queue, b"x")
        broker.block("no memory")
        with pytest.raises(Withheld):
            made.expect("basic.deliver")
        made.hang_up()


def _connected(broker: ReferenceBroker) -> Peer:
    streams = Streams(Endpoint(broker.host, broker.port), NO_TRANSCRIPT, Budget(1e12))
    made = Context("rabbitmq-0-9-1", (), streams.dial, Login(), patience=Patience(1.0, 0.1, 1.0))
    return Peer(made).open_channel()


# --- AMQP 0-10


def stop(channel: int = 0, destination: str = "") -> bytes:
    return encode_assembly("message.stop", channel, destination=destination)


def credit(value: int) -> bytes:
    return encode_assembly("message.flow", 0, destination="", unit=0, value=value)


def assembly(*script: bytes | StreamEnd | None) -> tuple[AssemblyPeer, FakeTransport]:
    transport = FakeTransport(*script)
    made = Context("amqp-0-10", (), lambda: transport, patience=Patience(1.0, 0.1, 1.0))
    return AssemblyPeer(made), transport


def test_a_transfer_waits_for_credit_after_a_stop() -> None:
    made, transport = assembly(stop(), credit(0), credit(5))
    made.publish("q", b"x")
    assert transport.sent and not made.stopped
    made, transport = assembly(stop(), None, credit(0), credit(5))  # the credit arrives while it waits
    made.publish("q", b"x")
    assert transport.sent and not made.stopped
    made, transport = assembly(stop())
    with pytest.raises(Withheld, match=r"message\.stop"):
        made.publish("q", b"x")
    assert not transport.sent
    made.polite = False
    made.publish("q", b"x")
    assert transport.sent


def test_a_stop_is_of_one_destination_and_one_session() -> None:
    made, transport = assembly(stop(1), stop(0, "other"))
    made.publish("q", b"x")
    assert transport.sent and len(made.stopped) == 2
    for end in (StreamEnd.FIN, encode_assembly("session.detached", 0, name=b"s", code=1)):
        for between in ((), (None,)):
            made, transport = assembly(stop(1, "x"), stop(), *between, end)
            made.publish("q", b"x")
            assert transport.sent
    made, _ = assembly(stop(), encode_assembly("session.detached", 0, name=b"s", code=0))
    made.publish("q", b"x")
    assert not made.stopped
