"""How the answer of a client to a hostile server is read: a refusal, or going on."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.judging import Undecided
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites.clients_0_9_1._hostile import OCTETS
from amqpspec.suites.clients_0_9_1._judging import LEAVING, refusal_by
from amqpspec.suites.clients_0_9_1._methods import starts
from amqpspec.wire.conversation import Talk
from amqpspec.wire.methods.conversations import MethodReading

of = OCTETS
_READING = MethodReading(of.dialect_id)
_C, _S = Side.CLIENT, Side.SERVER
_PUBLISH = (_C, of.method("basic.publish", 1, routing_key="x"))


def _close(side: Side, code: int, scope: str = "connection") -> tuple[Side, bytes]:
    return side, of.method(f"{scope}.close", 0 if scope == "connection" else 1, reply_code=code)


def _read(
    after: Sequence[tuple[Side, bytes]],
    application: Application = Application.REPORTED,
    ended: str = "FIN",
    *,
    is_left: bool = False,
    leaving: bool = False,
    stopped_ns: int | None = None,
) -> Refusal | None:
    """The server misbehaves at 10 ns; then this is said, a frame a nanosecond; the socket ends at 100 ns."""
    talk = Talk(1, hostile_ns=10, ended=ended, ended_ns=100 if ended else None, is_left=is_left)
    talk.add(_C, 1, b"AMQP\0\0\x09\x01")
    for at_ns, (side, octets) in enumerate(after, 11):
        talk.add(side, at_ns, octets)
    ran = Ran(application, None, (), "", stopped_ns=stopped_ns)
    return refusal_by(_READING.conversation(talk), ran, leaving=leaving)


@pytest.mark.parametrize(
    ("after", "application", "refusal"),
    [
        ([_close(_C, 501)], Application.SILENT, Refusal(Scope.CONNECTION, 501)),
        ([_PUBLISH, _close(_C, 503)], Application.SILENT, Refusal(Scope.CONNECTION, 503)),
        ([_close(_C, 504, "channel")], Application.SILENT, Refusal(Scope.CHANNEL, 504)),
        ([_close(_C, 200)], Application.REPORTED, Refusal(Scope.CONNECTION, 200)),
        ([_close(_C, 200)], Application.SILENT, None),
        ([_close(_C, 0)], Application.SILENT, None),
        ([_close(_C, 0)], Application.HANG, None),
        ([_close(_C, 200, "channel")], Application.REPORTED, Refusal(Scope.SOCKET)),
        ([_PUBLISH], Application.REPORTED, Refusal(Scope.SOCKET)),
        ([], Application.CRASH, Refusal(Scope.SOCKET)),
        ([], Application.HANG, None),
        ([_PUBLISH], Application.SILENT, None),
        ([_PUBLISH, _close(_S, 503)], Application.REPORTED, None),
        ([_close(_C, 501), _close(_S, 503)], Application.REPORTED, Refusal(Scope.CONNECTION, 501)),
        ([_close(_C, 501)], Application.UNSEEN, Refusal(Scope.CONNECTION, 501)),
        ([], Application.UNSEEN, Refusal(Scope.SOCKET)),
    ],
)
def test_what_counts_as_a_refusal(
    after: Sequence[tuple[Side, bytes]], application: Application, refusal: Refusal | None
) -> None:
    assert _read(after, application) == refusal


@pytest.mark.parametrize("application", [Application.HANG, Application.MEMORY])
@pytest.mark.parametrize(
    ("after", "stopped_ns", "refusal"),
    [
        ([], 101, Refusal(Scope.SOCKET)),
        ([_PUBLISH], 101, Refusal(Scope.SOCKET)),
        ([], 99, None),
        ([], None, None),
        ([_close(_C, 200)], 101, None),
        ([_close(_C, 200, "channel")], 101, None),
    ],
)
def test_a_socket_that_ended_before_the_harness_ended_the_process_was_ended_by_the_client(
    application: Application,
    after: Sequence[tuple[Side, bytes]],
    stopped_ns: int | None,
    refusal: Refusal | None,
) -> None:
    assert _read(after, application, stopped_ns=stopped_ns) == refusal


@pytest.mark.parametrize("application", [Application.REPORTED, Application.UNSEEN])
def test_a_client_that_logs_in_where_it_has_to_leave_refuses_only_by_an_error(
    application: Application,
) -> None:
    start_ok = (_C, of.method("connection.start-ok", 0))
    assert _read([start_ok, _close(_C, 200)], application, leaving=True) is None
    assert _read([start_ok, _close(_C, 503)], application, leaving=True) == Refusal(Scope.CONNECTION, 503)
    assert _read([_close(_C, 200)], leaving=True) == Refusal(Scope.CONNECTION, 200)


def test_start_ok_is_going_on_wherever_a_start_is_to_be_left() -> None:
    assert {provocation.row for provocation in starts(OCTETS, (0, 10), b"AMQP\x00\x00\x0a\x00")} <= set(
        LEAVING
    )


@pytest.mark.parametrize(("after", "ended"), [([_close(_C, 200)], "FIN"), ([_close(_C, 0)], "FIN"), ([], "")])
def test_what_has_two_meanings_is_not_decided_where_nobody_watched(
    after: Sequence[tuple[Side, bytes]], ended: str
) -> None:
    with pytest.raises(Undecided):
        _read(after, Application.UNSEEN, ended)


def test_what_came_before_the_violation_is_no_answer_to_it() -> None:
    talk = Talk(1, hostile_ns=10, ended="FIN", ended_ns=100)
    talk.add(_C, 5, b"AMQP\0\0\x09\x01" + _close(_C, 504, "channel")[1])
    ran = Ran(Application.SILENT, None, (), "")
    assert refusal_by(_READING.conversation(talk), ran) is None


@pytest.mark.parametrize(("is_left", "refusal"), [(False, Refusal(Scope.SOCKET)), (True, None)])
def test_an_end_that_the_server_made_first_is_not_the_clients(is_left: bool, refusal: Refusal | None) -> None:
    assert _read([], is_left=is_left) == refusal


@pytest.mark.parametrize("scope", ["channel", "connection"])
def test_an_end_that_the_servers_close_explains_is_no_refusal(scope: str) -> None:
    close, own = _close(_S, 406, scope), _close(_C, 200)
    assert _read([close]) is None
    assert _read([close, own]) is None
    assert _read([own, close]) == Refusal(Scope.CONNECTION, 200)


def test_a_server_that_closes_with_200_explains_nothing() -> None:
    assert _read([_close(_S, 200, "channel")]) == Refusal(Scope.SOCKET)
