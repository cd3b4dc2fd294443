"""Behaviour that the specifications of 0-10 and AMQP/Fast allow: a target that differs in it is not failed."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference.amqp_0_10 import connection as assemblies
from amqpspec.reference.amqp_0_10.heartbeats import Heartbeats
from amqpspec.reference.amqp_0_10.session import Session
from amqpspec.reference.amqp_1_0 import connection as frames
from amqpspec.reference.amqp_1_0.announcing import open_fields
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


# --- texts that leave room


@pytest.mark.parametrize(
    ("dialect", "fault", "name", "wanted"),
    [
        ("amqp-0-9-1", "standard-exchanges-can-be-deleted", "exchange.delete.standard", Outcome.OBSERVED),
        ("amqp-0-9-1", "standard-exchanges-deleted-though-refused", "exchange.delete.standard", Outcome.FAIL),
        ("amqp-wire-9-1", "not-refused:grammar/method-payload", "method.payload.goes-on", Outcome.OBSERVED),
        ("amqp-wire-9-1", "wrong-code:grammar/method-payload", "method.payload.goes-on", Outcome.FAIL),
        (FAST, "not-refused:frames/fixed-fields", "frames.fixed-fields.short", Outcome.OBSERVED),
        (FAST, "truncated-commands-executed", "frames.fixed-fields.short", Outcome.FAIL),
        (FAST, "not-refused:frames/fixed-fields", "frames.fixed-fields.long", Outcome.OBSERVED),
        (FAST, "wrong-scope:frames/fixed-fields", "frames.fixed-fields.long", Outcome.FAIL),
        (
            "amqp-1-0",
            "unsettled-map-though-nothing-is",
            "attach.unsettled.reattaching",
            Outcome.NONSTRICT,
        ),
    ],
)
def test_what_a_text_leaves_open(dialect: str, fault: str, name: str, wanted: Outcome) -> None:
    assert outcome(dialect, name, fault) is wanted


def test_an_idle_timeout_may_differ_between_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count(2000, 500)

    def opening(faulty: Any) -> dict[str, Any]:
        return {**open_fields(faulty), "idle_time_out": next(numbers)}

    monkeypatch.setattr(frames, "open_fields", opening)
    name = "connections.idle-timeout.independent"
    assert outcome("amqp-1-0", name) is Outcome.OBSERVED
    assert outcome("amqp-1-0", name, "own-idle-timeout-kept-for-both") is Outcome.FAIL
