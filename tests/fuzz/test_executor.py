"""The executor against small servers and the reference brokers: how far inputs get, what arrives, how streams end."""

from __future__ import annotations

import pickle
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.fuzz.campaign.clock import TimeUp
from amqpspec.fuzz.executor import connections
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.client import Client, Unanswered
from amqpspec.fuzz.executor.conversation import Conversation, Filling
from amqpspec.fuzz.executor.decoder import decoder
from amqpspec.fuzz.executor.heard import UNREADABLE
from amqpspec.fuzz.executor.loop import MANY_STUCK, Executor
from amqpspec.fuzz.executor.result import End, InputResult, Obedience
from amqpspec.fuzz.executor.subject import OutOfScope, check_scope
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.executor.tls import Tls
from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.states.model import Say, Step, Values
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.net.ports import free_port
from amqpspec.reference.methods.channel import Channel
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.methods.handlers import CHANNEL_HANDLERS
from amqpspec.reference.phases import Phase
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec.model import Refusal, Scope
from amqpspec.target.url import parse_url
from amqpspec.wire.methods.codec import Call
from tests.certificates import Certificates
from tests.fuzz.kit import address_of, subject_of

QUICK = Tempo(quiet_s=0.2, settle_s=0.05, refusal_s=5.0, way_s=5.0)
PATIENT = Tempo(quiet_s=30.0, settle_s=0.05, refusal_s=30.0, way_s=30.0)


def named(n: int) -> Values:
    return Values(queue=f"q{n}", container=f"c{n}")


def item(state: str, *steps: bytes, dialect: str = "amqp-0-9-1") -> FuzzInput:
    return FuzzInput(InputId("0" * 8, "C09", "test", state, 0, 0), dialect, state, steps, "test")


def results(
    address: Address,
    *items: FuzzInput,
    tempo: Tempo = QUICK,
    values: Filling = named,
    at_once: int = 8,
    **more: bool,
) -> list[InputResult]:
    with closing(Executor(address, values, tempo, at_once, **more)) as executor:
        return list(executor.run(items))


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
        found = results(address_of(broker), *items)
    assert {o.item.state for o in found} == set(states(dialect))
    assert not [(o.item.state, o.why) for o in found if not o.reached]


def test_a_refusal_is_heard_with_code_and_scope(clean: ReferenceBroker) -> None:
    frame_of_type_9 = bytes.fromhex("09000100000000ce")
    (found,) = results(address_of(clean), item("channel", frame_of_type_9))
    assert found.refusal == Refusal(Scope.CONNECTION, 501) or found.refusal == Refusal(Scope.SOCKET)
    assert found.sent_octets > len(frame_of_type_9) and found.received_octets > 0


def test_silence_is_no_refusal(clean: ReferenceBroker) -> None:
    (found,) = results(address_of(clean), item("channel", b"\x01\x00"))
    assert found.reached and found.refusal is None and found.reaction == "silence" and found.end is End.OPEN


def test_a_content_header_of_a_delivery_is_no_protocol_header() -> None:
    header = bytes.fromhex("003c0000" + "0" * 15 + "40000")
    frame = b"\x02\x00\x01" + len(header).to_bytes(4, "big") + header + b"\xce"
    assert [said.name for said in decoder("amqp-0-9-1")(frame)] == ["content header"]


def test_what_cannot_be_read_is_heard_as_such() -> None:
    hear = decoder("amqp-0-9-1")
    assert [said.name for said in hear(b"\x01\x00\x00\x00\x00\x00\x01a\x00")] == [UNREADABLE]


def test_fin_reset_and_header_are_told_apart() -> None:
    with server(lambda taken: None) as address:
        (ended,) = results(address, item("raw", b"AMQP\x00\x00\x09\x01"))
    assert ended.refusal == Refusal(Scope.SOCKET) and ended.end in (End.FIN, End.RST)

    def answer(taken: socket.socket) -> None:
        taken.recv(8)
        taken.sendall(b"AMQP\x00\x00\x09\x01")

    with server(answer) as address:
        (answered,) = results(address, item("raw", b"AMQP\x07\x07\x07\x07"))
    assert answered.refusal == Refusal(Scope.HEADER) and answered.arrivals == ("protocol-header",)


def test_a_refused_connect_ends_the_batch() -> None:
    found = results(Address("127.0.0.1", free_port()), *[item("raw", b"x")] * 50)
    assert found and all(o.end is End.REFUSED and not o.reached for o in found)
    assert len(found) < 50


def test_an_alarm_while_a_connection_begins_leaves_no_socket_open(
    clean: ReferenceBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[socket.socket] = []

    def alarmed(self: Executor, connection: connections.Connection) -> bool:
        made.append(connection.on)
        raise TimeUp

    monkeypatch.setattr(Executor, "_connects", alarmed)
    with pytest.raises(TimeUp):
        results(address_of(clean), item("raw", b"x"))
    assert [on.fileno() for on in made] == [-1]


def test_a_target_that_does_not_answer_is_given_up() -> None:
    hold = threading.Event()

    def keep(taken: socket.socket) -> None:
        hold.wait(30)

    with server(keep) as address:
        found = results(address, *[item("channel", b"x")] * 100, tempo=Tempo(0.05, 0.05, 0.05, 0.05))
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
        reactions.append(talk.result and talk.result.reaction)
    assert reactions == [None, "silence"]


def test_latency_counts_from_the_last_octet() -> None:
    talk = Conversation(item("raw", b"abc"), Values(), QUICK, now_s=0.0)
    talk.connected(0.0)
    talk.out.clear()
    talk.flushed(1.0)
    talk.heard(b"AMQP\x00\x00\x09\x01", 1.125)
    talk.ended(End.FIN, 1.2)
    assert talk.result is not None and talk.result.timing.latency_s == 0.125


def test_the_offered_limits_are_agreed_to(clean: ReferenceBroker) -> None:
    cell = next(c for c in cells("amqp-0-9-1") if c.state == "channel")
    subject = subject_of(clean)
    (found,) = results(subject.address, cell.input(0))
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


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (Values(vhost="nowhere"), r"expected connection\.open-ok"),
        (Values(mechanism="EXTERNAL"), r"mechanism EXTERNAL; offered: .*PLAIN"),
    ],
    ids=["virtual host", "mechanism"],
)
def test_a_wrong_login_is_told(clean: ReferenceBroker, values: Values, told: str) -> None:
    with (
        Client(address_of(clean), "amqp-0-9-1", values, 5.0) as client,
        pytest.raises(Unanswered, match=told),
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


@contextmanager
def counted(least_held: int) -> Iterator[tuple[Address, list[int], list[int]]]:
    """A server that holds connections until so many are there at once; returns how many it held, and what it ended."""
    held: list[socket.socket] = []
    most, ended = [0], [0]
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listening:

        def accept() -> None:
            while True:
                try:
                    taken, _ = listening.accept()
                except OSError:
                    return
                if most[0] >= least_held > 0:
                    taken.close()
                    ended[0] += 1
                    continue
                held.append(taken)
                most[0] = max(most[0], len(held))

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield Address("127.0.0.1", listening.getsockname()[1]), most, ended
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)
        for one in held:
            one.close()


def test_silent_inputs_are_waited_for_many_at_a_time_few_of_them_on_the_way() -> None:
    beginning: list[int] = []

    class Watched(Executor):
        def _has_room(self) -> bool:
            beginning.append(self._beginning)
            return super()._has_room()

    tempo = Tempo(quiet_s=3.0, settle_s=0.05, refusal_s=5.0, way_s=10.0, partial_s=3.0)
    with counted(0) as (address, most, _), closing(Watched(address, named, tempo, 128)) as executor:
        found = list(executor.run([item("raw", b"x")] * 128))
    assert len(found) == 128 and all(o.reached for o in found) and most[0] == 128
    tempo = replace(tempo, way_s=0.2)
    with counted(0) as (address, most, _), closing(Watched(address, named, tempo, 128)) as executor:
        list(executor.run([item("channel", b"x")] * 128))
    # Those that time out make room for others, until enough of them have shown that the target is stuck.
    assert 0 < most[0] < 64 + MANY_STUCK and max(beginning) == 64 and min(beginning) >= 0


def test_a_target_that_ends_connections_on_their_way_is_given_fewer() -> None:
    with counted(1) as (address, _, ended), closing(Executor(address, named, QUICK, 128)) as executor:
        found = list(executor.run([item("channel", b"x")] * 40))
        assert executor._room == 16 and ended[0] > 0
    assert len(found) == 40 and not any(o.reached for o in found)


# --- TLS and logins


def over_tls(port: int, query: str) -> Address:
    url = parse_url(f"amqps://guest:guest@localhost:{port}/?{query}")
    return Address(url.host, url.port, Tls.of(url))


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-1-0"])
def test_every_state_is_reached_over_tls(dialect: str, tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    items = [item(name, b"\x00", dialect=dialect) for name in states(dialect)]
    with ReferenceBroker(dialect, tls=certificates.server) as broker:
        address = over_tls(broker.port, f"cacertfile={certificates.ca}")
        found = results(address, *items)
        with Client(address, dialect, Values(), 5.0) as client:
            client.enter("channel" if dialect == "amqp-0-9-1" else "session")
    assert not [(o.item.state, o.why) for o in found if not o.reached] and len(found) == len(items)


def test_a_refusal_and_large_inputs_go_through_tls(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    empty = bytes.fromhex("08000000000000ce")
    with ReferenceBroker("amqp-0-9-1", tls=certificates.server) as broker:
        address = over_tls(broker.port, f"cacertfile={certificates.ca}")
        many, bad = results(
            address, item("channel", empty * 100_000), item("channel", bytes.fromhex("09000100000000ce"))
        )
    if many.item.octets != empty * 100_000:
        many, bad = bad, many
    assert many.reached and not many.why and many.refusal is None and many.sent_octets > 800_000
    assert bad.refusal in (Refusal(Scope.CONNECTION, 501), Refusal(Scope.SOCKET))


def test_a_stream_without_tls_agreed_reaches_no_state(tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    with ReferenceBroker("amqp-0-9-1", tls=certificates.server) as broker:
        (found,) = results(over_tls(broker.port, f"cacertfile={certificates.other}"), item("raw", b"x"))
        assert not found.reached and found.why == "fin while waiting for the stream"
        with pytest.raises(Unanswered, match="no TLS with localhost"):
            Client(over_tls(broker.port, f"cacertfile={certificates.other}"), "amqp-0-9-1", Values(), 5.0)


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-1-0"])
def test_a_client_certificate_logs_in(dialect: str, tmp_path: Path) -> None:
    certificates = Certificates(tmp_path)
    name = "channel" if dialect == "amqp-0-9-1" else "session"
    nobody = Values(user="nobody", password="wrong", mechanism="EXTERNAL")
    with ReferenceBroker(dialect, tls=certificates.server) as broker:
        address = over_tls(broker.port, f"cacertfile={certificates.ca}&certfile={certificates.client}")
        (found,) = results(address, item(name, b"\x00", dialect=dialect), values=lambda n: nobody)
    assert found.reached


@pytest.mark.parametrize(
    ("dialect", "mechanism"),
    [("rabbitmq-0-9-1", "AMQPLAIN"), ("amqp-1-0", "ANONYMOUS"), ("amqp-1-0", "NONE")],
)
def test_each_mechanism_leads_into_every_state(dialect: str, mechanism: str) -> None:
    spoken = "amqp-1-0" if dialect == "amqp-1-0" else "amqp-0-9-1"
    items = [item(name, b"\x00", dialect=spoken) for name in states(spoken)]

    def filled(n: int) -> Values:
        return replace(named(n), mechanism=mechanism)

    with ReferenceBroker(dialect) as broker:
        found = results(address_of(broker), *items, values=filled)
    assert not [(o.item.state, o.why) for o in found if not o.reached] and len(found) == len(items)


# --- going on after an input


def asked(found: FuzzInput, dialect: str = "amqp-0-9-1", tempo: Tempo = PATIENT) -> InputResult:
    with ReferenceBroker(dialect) as broker:
        (result,) = results(address_of(broker), found, tempo=tempo, at_once=1, thorough=True)
    assert result.reached
    return result


def method(name: str, channel: int = 1, **args: object) -> bytes:
    return octets_of_step("amqp-0-9-1", Step((Say(name, name, channel, tuple(args.items())),)), Values())


def performative(name: str, channel: int = 0, **args: object) -> bytes:
    return octets_of_step("amqp-1-0", Step((Say(name, name, channel, tuple(args.items())),)), Values())


HEARTBEAT = bytes.fromhex("08000000000000ce")
WINDOWS = {"incoming_window": 1, "next_outgoing_id": 0, "outgoing_window": 1}


@pytest.mark.parametrize(
    ("dialect", "state", "octets"),
    [
        ("amqp-0-9-1", "channel", method("basic.qos", prefetch_count=1)),
        ("amqp-0-9-1", "channel", method("basic.recover-async")),
        ("amqp-0-9-1", "channel", method("queue.declare", queue="none", passive=True)),
        ("amqp-0-9-1", "ready", HEARTBEAT),
        ("amqp-0-9-1", "tune", HEARTBEAT),
        ("amqp-0-9-1", "open", method("connection.open", 0, virtual_host="/")),
        ("amqp-0-9-1", "raw", b"AMQP\x00\x00\x09\x01"),
        ("amqp-0-9-1", "limits", method("channel.open", 2)),
        ("amqp-1-0", "session", performative("flow", **WINDOWS)),
        ("amqp-1-0", "session", bytes.fromhex("0000000802000000")),
        ("amqp-1-0", "open", performative("begin", 1, **WINDOWS)),
        ("amqp-1-0", "sasl-header", performative("sasl-init", mechanism="ANONYMOUS")),
        ("amqp-1-0", "header", performative("open", container_id="bent", max_frame_size=4096)),
    ],
)
def test_a_clean_broker_goes_on(dialect: str, state: str, octets: bytes) -> None:
    found = asked(item(state, octets, dialect=dialect), dialect)
    assert (found.obedience, found.disobeys, found.astray) == (Obedience.GOES_ON, "", "")


def test_a_channel_that_was_refused_leaves_the_others_alone() -> None:
    found = asked(item("channel", method("queue.declare", queue="none", passive=True)))
    assert found.refused == Refusal(Scope.CHANNEL, 404) and found.obedience is Obedience.GOES_ON


def test_what_a_lying_size_swallows_is_no_disobedience() -> None:
    found = asked(item("channel", bytes.fromhex("0100010000ffff") + b"\x00\x14"), tempo=QUICK)
    assert found.obedience is Obedience.SILENT and not found.disobeys and found.reaction == "silence"


def test_after_a_close_nothing_is_asked() -> None:
    found = asked(item("channel", method("connection.close", 0, reply_code=200, reply_text="bye")))
    assert found.obedience is Obedience.NOT_ASKED


def test_a_broker_that_reads_no_more_no_longer_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def mute(channel: Channel, call: Call) -> None:
        channel.send("basic.qos-ok")
        channel.connection.core.flush()
        assert isinstance(channel.connection, Connection)
        channel.connection.phase = Phase.MUTE

    monkeypatch.setitem(CHANNEL_HANDLERS, "basic.qos", mute)
    found = asked(item("channel", method("basic.qos")), tempo=replace(PATIENT, refusal_s=1.0))
    assert found.reaction == "answer basic.qos-ok" and found.end is End.OPEN
    assert found.obedience is Obedience.SILENT
    assert found.disobeys == "expected channel.open-ok on channel 2, actual nothing"


def test_an_answer_on_a_foreign_channel_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def astray(channel: Channel, call: Call) -> None:
        channel.connection.send(7 if channel.number == 2 else channel.number, "basic.qos-ok")

    monkeypatch.setitem(CHANNEL_HANDLERS, "basic.qos", astray)
    found = asked(item("channel", method("basic.qos")))
    assert found.obedience is Obedience.WRONG
    assert found.disobeys == "expected basic.qos-ok on channel 2, actual basic.qos-ok on channel 7"


def test_an_answer_to_the_input_on_a_foreign_channel_is_astray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(
        CHANNEL_HANDLERS, "basic.qos", lambda channel, call: channel.connection.send(9, "basic.qos-ok")
    )
    found = asked(item("channel", method("basic.qos")))
    assert found.astray == "basic.qos-ok on channel 9"


def test_one_in_so_many_is_asked_and_always_the_same() -> None:
    octets = method("basic.qos")

    def many(state: str) -> list[FuzzInput]:
        return [replace(item(state, octets), id=item(state).id._replace(counter=n)) for n in range(40)]

    with ReferenceBroker("amqp-0-9-1") as broker:
        address = address_of(broker)
        excused = many("consuming")
        runs = [{o.item.id.counter for o in results(address, *excused) if o.obedience} for _ in range(2)]
        without_excuse = [o for o in results(address, *many("channel")) if o.obedience]
    assert runs[0] == runs[1] and 0 < len(runs[0]) < 20
    assert len(without_excuse) == 40


def test_an_input_that_owes_no_answer_is_read_when_what_follows_is_answered(clean: ReferenceBroker) -> None:
    (found,) = results(address_of(clean), item("channel", method("basic.recover-async")), tempo=PATIENT)
    assert found.reaction == "silence" and found.obedience is Obedience.GOES_ON


@pytest.mark.parametrize("dialect", ["amqp-0-9-1", "amqp-wire-9-1", "amqp-1-0"])
def test_nothing_is_claimed_of_a_clean_broker(dialect: str) -> None:
    every = [cell.input(0) for cell in cells(dialect) if cell.inputs]
    items = [found for found in every if len(found.octets) < 4096][::3]
    with ReferenceBroker(dialect) as broker:
        found = results(address_of(broker), *items, at_once=32, thorough=True)
    assert [(str(o.item.id), o.disobeys, o.astray) for o in found if o.disobeys or o.astray] == []
    assert sum(o.obedience is Obedience.GOES_ON for o in found) > len(found) // 10


def test_outcomes_can_be_sent_to_another_process() -> None:
    found = asked(item("channel", method("basic.qos")))
    assert pickle.loads(pickle.dumps(found)) == found
