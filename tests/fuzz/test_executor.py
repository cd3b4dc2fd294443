"""The executor against small servers and the reference brokers: how far inputs get, what is heard, how streams end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fuzz.catalogue import FuzzInput, cells
from fuzz.executor.client import Client, Unanswered
from fuzz.executor.conversation import Conversation, Tempo
from fuzz.executor.hearing import UNREADABLE, hearing
from fuzz.executor.loop import Address, Executor
from fuzz.executor.outcome import End, Outcome
from fuzz.executor.subject import OutOfScope, Subject, check_scope
from fuzz.identity import InputId
from fuzz.states import Values, states
from harness.net.ports import free_port
from harness.reference.server import ReferenceBroker
from harness.spec.model import Refusal, Scope

QUICK = Tempo(quiet_s=0.2, settle_s=0.05, refusal_s=5.0, way_s=5.0)


def named(n: int) -> Values:
    return Values(queue=f"q{n}", container=f"c{n}")


def item(state: str, *steps: bytes, dialect: str = "amqp-0-9-1") -> FuzzInput:
    return FuzzInput(InputId("0" * 8, "C09", "test", state, 0, 0), dialect, state, steps, "test")


def outcomes(address: Address, *items: FuzzInput, tempo: Tempo = QUICK) -> list[Outcome]:
    executor = Executor(address, named, tempo, 8)
    try:
        return list(executor.run(items))
    finally:
        executor.close()


@contextmanager
def server(serve: Callable[[socket.socket], None]) -> Iterator[Address]:
    """Accepts one connection after the other, and lets ``serve`` have each."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def accept() -> None:
            while True:
                try:
                    taken, _ = listening.accept()
                except OSError:
                    return
                with taken:
                    serve(taken)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Address("127.0.0.1", listening.getsockname()[1])
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0"])
def test_every_state_is_reached(dialect: str) -> None:
    items = [item(name, b"\x00", dialect=dialect) for name in states(dialect)]
    with ReferenceBroker(dialect) as broker:
        found = outcomes(Address(broker.host, broker.port), *items)
    assert {o.item.state for o in found} == set(states(dialect))
    assert not [(o.item.state, o.why) for o in found if not o.reached]


def test_a_refusal_is_heard_with_code_and_scope() -> None:
    frame_of_type_9 = bytes.fromhex("09000100000000ce")
    with ReferenceBroker("amqp-0-9-1") as broker:
        (found,) = outcomes(Address(broker.host, broker.port), item("channel", frame_of_type_9))
    assert found.refusal == Refusal(Scope.CONNECTION, 501) or found.refusal == Refusal(Scope.SOCKET)
    assert found.sent_octets > len(frame_of_type_9) and found.received_octets > 0


def test_silence_is_no_refusal() -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        (found,) = outcomes(Address(broker.host, broker.port), item("channel", b"\x01\x00"))
    assert found.reached and found.refusal is None and found.reaction == "silence" and found.end is End.OPEN


def test_a_content_header_of_a_delivery_is_no_protocol_header() -> None:
    header = bytes.fromhex("003c0000" + "0" * 15 + "40000")
    frame = b"\x02\x00\x01" + len(header).to_bytes(4, "big") + header + b"\xce"
    assert [said.name for said in hearing("amqp-0-9-1")(frame)] == ["content header"]


def test_what_cannot_be_read_is_heard_as_such() -> None:
    hear = hearing("amqp-0-9-1")
    assert [said.name for said in hear(b"\x01\x00\x00\x00\x00\x00\x01a\x00")] == [UNREADABLE]


def test_fin_reset_and_header_are_told_apart() -> None:
    with server(lambda taken: None) as address:
        (ended,) = outcomes(address, item("raw", b"AMQP\x00\x00\x09\x01"))
    assert ended.refusal == Refusal(Scope.SOCKET) and ended.end in (End.FIN, End.RST)

    def answer(taken: socket.socket) -> None:
        taken.recv(8)
        taken.sendall(b"AMQP\x00\x00\x09\x01")

    with server(answer) as address:
        (answered,) = outcomes(address, item("raw", b"AMQP\x07\x07\x07\x07"))
    assert answered.refusal == Refusal(Scope.HEADER) and answered.arrivals == ("protocol-header",)


def test_a_refused_connect_ends_the_batch() -> None:
    found = outcomes(Address("127.0.0.1", free_port()), *[item("raw", b"x")] * 50)
    assert found and all(o.end is End.REFUSED and not o.reached for o in found)
    assert len(found) < 50


def test_a_target_that_does_not_answer_is_given_up() -> None:
    hold = threading.Event()

    def keep(taken: socket.socket) -> None:
        hold.wait(30)

    with server(keep) as address:
        found = outcomes(address, *[item("channel", b"x")] * 100, tempo=Tempo(0.05, 0.05, 0.05, 0.05))
        hold.set()
    assert len(found) < 50
    assert {o.why for o in found} == {"no connection.start in time"}


def test_deadlines_need_no_clock_of_their_own() -> None:
    talk = Conversation(item("raw", b"abc"), Values(), QUICK, now_s=100.0)
    talk.connected(100.0)
    assert bytes(talk.out) == b"abc"
    talk.out.clear()
    talk.flushed(100.5)
    reactions = []
    for now_s in (100.6, 100.8):
        talk.tick(now_s)
        reactions.append(talk.outcome and talk.outcome.reaction)
    assert reactions == [None, "silence"]


def test_latency_counts_from_the_last_octet() -> None:
    talk = Conversation(item("raw", b"abc"), Values(), QUICK, now_s=0.0)
    talk.connected(0.0)
    talk.out.clear()
    talk.flushed(1.0)
    talk.heard(b"AMQP\x00\x00\x09\x01", 1.125)
    talk.ended(End.FIN, 1.2)
    assert talk.outcome is not None and talk.outcome.timing.latency_s == 0.125


def test_the_offered_limits_are_agreed_to() -> None:
    cell = next(c for c in cells("amqp-0-9-1") if c.state == "channel")
    with ReferenceBroker("amqp-0-9-1") as broker:
        subject = Subject("reference", "amqp-0-9-1", Address(broker.host, broker.port))
        (found,) = outcomes(subject.address, cell.input(0))
        with Client(subject.address, subject.dialect, subject.values, 5.0) as client:
            client.enter("channel")
            assert client.values.frame_max_octets > 4096
    assert found.reached


def test_a_client_says_what_was_expected() -> None:
    with pytest.raises(Unanswered, match="cannot connect") as told:
        Client(Address("127.0.0.1", free_port()), "amqp-0-9-1", Values(), 1.0)
    assert told.value.refused_connect
    with (
        server(lambda taken: None) as address,
        Client(address, "amqp-0-9-1", Values(), 5.0) as client,
        pytest.raises(Unanswered, match="stream"),
    ):
        client.enter("channel")


def test_a_wrong_login_is_told() -> None:
    with ReferenceBroker("amqp-0-9-1") as broker:
        address = Address(broker.host, broker.port)
        with (
            Client(address, "amqp-0-9-1", Values(vhost="nowhere"), 5.0) as client,
            pytest.raises(Unanswered, match=r"expected connection\.open-ok"),
        ):
            client.enter("channel")


def test_only_loopback_is_in_scope(tmp_path: Path) -> None:
    for host in ("localhost", "127.0.0.1", "127.8.9.1", "::1"):
        check_scope(host, None)
    with pytest.raises(OutOfScope, match="expected a loopback address"):
        check_scope("192.0.2.7", None)
    scope = tmp_path / "scope"
    scope.write_text("# ours\nbroker.example  # lent\n", encoding="utf-8")
    check_scope("broker.example", scope)
    with pytest.raises(OutOfScope, match="not among them"):
        check_scope("other.example", scope)
