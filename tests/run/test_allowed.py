"""Behaviour that the specifications of 0-10 and AMQP/Fast allow: a target that differs in it is not failed."""

from __future__ import annotations

from typing import Any

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference.amqp_0_10 import connection as assemblies
from amqpspec.reference.amqp_0_10.heartbeats import Heartbeats
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_fast_0_8 import connection as commands
from amqpspec.reference.amqp_fast_0_8 import handle_commands, handles, opening
from amqpspec.run.case import load_suite
from amqpspec.run.memory import Conditions, judged_in_memory

GREEN = (Outcome.PASS, Outcome.OBSERVED)
ASSEMBLIES, FAST = "amqp-0-10", "amqp-fast-0-8"


def outcome(dialect: str, name: str, *faults: str) -> Outcome:
    return judged_in_memory(load_suite(dialect)[name], Conditions(faults)).outcome


@pytest.mark.parametrize(
    ("dialect", "fault", "name"),
    [
        (
            ASSEMBLIES,
            "not-refused:connection/tune-ok/max-frame-size/minimum/chosen",
            "connection.tune-ok.max-frame-size.minimum",
        ),
        (ASSEMBLIES, "not-refused:encoding/map/malformed", "encoding.map.malformed"),
        (ASSEMBLIES, "not-refused:encoding/type-codes/reserved", "encoding.type-codes.reserved"),
        (FAST, "one-more-challenge", "response.incomplete"),
        (FAST, "one-more-challenge", "plain.case"),
        (FAST, "socket-kept-after-close", "close.any-time"),
        (FAST, "tune-option-nobody-knows", "tuning.server-options"),
    ],
)
def test_what_only_another_rule_forbids_is_recorded(dialect: str, fault: str, name: str) -> None:
    assert outcome(dialect, name, fault) in GREEN


def test_a_close_without_a_text_is_nonstrict() -> None:
    assert outcome(ASSEMBLIES, "connection.close.reason", "reasons-left-out") is Outcome.NONSTRICT


def test_types_that_are_optional_block_the_cases_that_need_them() -> None:
    missing = "only-types-that-are-required"
    assert outcome(ASSEMBLIES, "exchange.type.topic", missing) is Outcome.BLOCKED
    assert outcome(ASSEMBLIES, "exchange.required-instances.types", missing) in GREEN


# --- AMQP 0-10


@pytest.mark.parametrize(
    "name",
    [
        "tx.rollback",
        "tx.rollback.session-end",
        "message.accept.order",
        "message.cancel.pending",
        "session.detach",
    ],
)
def test_sessions_may_begin_with_any_timeout(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = Session.__init__

    def lasting(self: Session, *args: Any, **options: Any) -> None:
        begin(self, *args, **options)
        self.timeout_s = 300

    monkeypatch.setattr(Session, "__init__", lasting)
    assert outcome(ASSEMBLIES, name) in GREEN


@pytest.mark.parametrize("name", ["connection.close-ok", "connection.close.last"])
def test_the_server_may_leave_the_end_to_the_client(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assemblies.Connection, "end_socket", assemblies.Connection.release)
    assert outcome(ASSEMBLIES, name) in GREEN


def test_heartbeats_to_a_client_that_wants_none_are_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    start = Heartbeats.start
    monkeypatch.setattr(Heartbeats, "start", lambda self, interval_s: start(self, interval_s or 10))
    assert outcome(ASSEMBLIES, "connection.tune-ok.heartbeat") is Outcome.OBSERVED


# --- AMQP/Fast


@pytest.mark.parametrize("name", ["close.any-time", "channel.close.any-time", "handle.close.answered"])
def test_any_code_of_success_confirms(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "_SUCCESS", 299)
    assert outcome(FAST, name) in GREEN


def test_an_index_has_no_order(monkeypatch: pytest.MonkeyPatch) -> None:
    def reversed_list(numbers: list[int], faulty: Any) -> bytes:
        return b" ".join(handles.listed(numbers, faulty).split()[::-1])

    monkeypatch.setattr(handle_commands, "listed", reversed_list)
    assert {outcome(FAST, name) for name in load_suite(FAST) if "index" in name or "query" in name} <= {
        *GREEN
    }


@pytest.mark.parametrize("name", ["ping.respond", "frames.size", "tune.exchange", "connection.summary.tune"])
def test_a_target_may_ask_for_a_ping_at_any_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = opening.COMMANDS["connection.ping"]

    def asks_first(connection: commands.Connection, args: opening.Args) -> None:
        if args["respond"]:
            connection.reply("connection.ping", respond=True)
        answer(connection, args)

    monkeypatch.setitem(opening.COMMANDS, "connection.ping", asks_first)
    assert outcome(FAST, name) in GREEN
