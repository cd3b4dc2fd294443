"""A dialect of the 0-9 family that the house does not know: its entry is all that the reference broker needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from amqpspec.dialects.amqp_0_9_1 import AMQP_0_9_1
from amqpspec.reference.faults import all_faults
from amqpspec.reference.methods.by_ledger import faults_by_ledger
from amqpspec.reference.methods.connection import Connection
from amqpspec.reference.server import ReferenceBroker
from amqpspec.spec import dialects
from amqpspec.spec.amqp_0_9_1 import DIALECT as BASE
from amqpspec.spec.dialects import Entry, entries, load_ledger, register
from amqpspec.spec.methods import MethodDialect
from amqpspec.wire.greeting import ProtocolHeader
from tests.reference.talk import Talk, closed, ready

TOY = "toy-0-10"
HEADER = b"AMQP\x00\x00\x0a\x02"
PURGE = BASE.methods["queue.purge"]


def without_purge() -> MethodDialect:
    """0-9-1 with another protocol header, and without purge."""
    classes = tuple(
        replace(c, methods=tuple(m for m in c.methods if not m.name.startswith("queue.purge")))
        for c in BASE.classes
    )
    return replace(
        BASE, id=TOY, title="A toy", classes=classes, protocol_header=HEADER, accepted_headers=(HEADER,),
        signs_in_field_names="",
    )  # fmt: skip


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialects, "_known", dict(entries()))
    register(
        Entry(
            id=TOY,
            tables=without_purge,
            judged_as=AMQP_0_9_1.id,
            reference=AMQP_0_9_1.reference,
            faults=AMQP_0_9_1.faults,
        )
    )


@pytest.fixture
def broker(toy: None) -> Iterator[ReferenceBroker]:
    with ReferenceBroker(TOY) as running:
        yield running


def test_it_is_greeted_in_its_own_version(broker: ReferenceBroker) -> None:
    with Talk(broker.url, TOY) as talk:
        talk.octets(HEADER)
        start = talk.hear("connection.start")
        assert (start["version_major"], start["version_minor"]) == (0, 10)


def test_another_header_is_answered_by_its_own(broker: ReferenceBroker) -> None:
    with Talk(broker.url, TOY) as talk:
        talk.octets(BASE.protocol_header)
        answer = talk.next()
        assert isinstance(answer, ProtocolHeader) and answer.octets == HEADER
        assert talk.ended()


def test_a_message_goes_in_and_out(broker: ReferenceBroker) -> None:
    with ready(broker.url, TOY) as talk:
        talk.ask("queue.declare", queue="q")
        talk.publish("", "q", b"body")
        got = talk.get("q", no_ack=True)
        assert got is not None and (got[0]["routing_key"], got[1]) == ("q", b"body")
        assert talk.get("q") is None


def test_a_method_that_it_lacks_is_refused(broker: ReferenceBroker) -> None:
    with ready(broker.url, TOY) as talk, Talk(broker.url) as base:
        talk.ask("queue.declare", queue="q")
        talk.octets(base.method("queue.purge", queue="q"))
        close = talk.hear("connection.close")
        assert (close["class_id"], close["method_id"]) == (PURGE.class_id, PURGE.method_id)


def test_names_of_fields_have_the_signs_that_its_tables_allow(broker: ReferenceBroker) -> None:
    with ready(broker.url, TOY) as talk:
        talk.say("queue.declare", queue="q", arguments={"x-expires": 1})
        closed(talk, "connection", 502, "queue.declare")


def test_it_has_the_faults_that_its_entry_names() -> None:
    assert all_faults(TOY) == all_faults("amqp-0-9-1")
    with ReferenceBroker(TOY, ["get-empty-not-said"]) as broken, ready(broken.url, TOY) as talk:
        talk.ask("queue.declare", queue="q")
        talk.say("basic.get", queue="q")
        talk.silent()


def test_a_connection_asks_its_tables_how_long_a_handshake_waits() -> None:
    register(
        replace(
            entries()[TOY],
            id="toy-that-waits",
            tables=lambda: replace(without_purge(), handshake_pause_s=9.0),
        )
    )
    with ReferenceBroker("toy-that-waits") as broker, Talk(broker.url, "toy-that-waits") as talk:
        talk.octets(HEADER)
        talk.hear("connection.start")
        talk.say("connection.tune-ok", 0, channel_max=0, frame_max=0, heartbeat=0)
        assert broker._core is not None
        (connection,) = broker._core.connections
        assert isinstance(connection, Connection) and connection.pause_s == 9.0
        talk.socket.settimeout(0.2)
        with pytest.raises(TimeoutError):
            talk.next()


def test_a_ledger_is_all_that_faults_need() -> None:
    assert set(faults_by_ledger("amqp-0-9-1").by_name) == set(all_faults("amqp-0-9-1"))
    found = faults_by_ledger("amqp-wire-9-1")
    rows = load_ledger("amqp-wire-9-1")
    assert found.refusals.row_of("wire/table/malformed") is rows["field-tables/format"]
    assert found.behaviours["frame-larger-than-agreed"].breaks == ("general-frame-format/size-sent",)
    assert all(rows[row].testable for fault in found.by_name.values() for row in fault.breaks)
    assert {name for name in found.by_name if ":" in name} <= set(all_faults("amqp-wire-9-1"))


def test_a_dialect_with_a_ledger_of_its_own_refuses_by_it() -> None:
    ledger = entries()["amqp-wire-9-1"].ledger
    register(
        replace(
            entries()[TOY], id="toy-1", judged_as="", ledger=ledger, faults=lambda: faults_by_ledger("toy-1")
        )
    )
    fault = "wrong-code:data-fields/strings/short-zero-octet"
    assert fault in all_faults("toy-1")
    for faults, code in (((), 502), ((fault,), 503)):
        with ReferenceBroker("toy-1", faults) as broker, ready(broker.url, "toy-1") as talk:
            talk.say("queue.declare", queue="a\0b")
            assert talk.hear("connection.close")["reply_code"] == code
