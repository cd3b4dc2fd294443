"""The suite for clients of the 9.1 wire draft: what it takes from its family, and what a client must not notice."""

from __future__ import annotations

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.reference.faults import all_faults
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import Client, Encounter
from amqpspec.run.clients.judging import Undecided, does_its_duty, takes_no_notice
from amqpspec.run.clients.watching import Seen
from amqpspec.run.methods.agent_wire_9_1 import row_of
from amqpspec.spec.dialects import load_dialect, load_ledger
from amqpspec.spec.model import Refusal, Scope
from amqpspec.suites.clients_wire_9_1._family import OCTETS
from amqpspec.wire.conversation import Conversation, Talk
from tests.run.clients.deeds import sent

_DIALECT, _FAMILY = "amqp-wire-9-1-clients", "amqp-0-9-1-clients"
_CONFIRMS = "violated/confirm/published"
_FUNCTIONAL = ("basic", "channel", "connection", "queue", "tx")


def _met(row: str, talk: Talk, ran: Ran) -> tuple[Client, Encounter]:
    """A client that is judged by a row of the draft, and the one connection that it made."""
    met = Encounter([Conversation(talk, [])], ran, "evidence")
    return Client(Seen(met), "case", (load_ledger(_DIALECT)[row],)), met


def test_every_rule_of_the_family_rules_here_but_confirms() -> None:
    here, family = load_ledger(_DIALECT), load_ledger(_FAMILY)
    clients = {row.id for row in family.values() if row.binds == "client"}
    assert {row_of(id) for id in clients - {_CONFIRMS}} <= set(here)
    cases = {id for id, case in load_suite(_FAMILY).items() if case.requirements[0].binds == "client"}
    missing = cases - set(load_suite(_DIALECT))
    assert missing == {id for id in cases if "confirm" in id or "unasked-ack" in id}


def test_rows_of_the_draft_are_those_of_its_ledger() -> None:
    known = load_ledger("amqp-wire-9-1")
    for row in load_ledger(_DIALECT).values():
        id = row.id.removeprefix("violated/")
        methods = row.section.partition(".")[0].partition(",")[0] in _FUNCTIONAL
        assert methods or id in known or id in ("end", "heartbeat-frames/missed", "wire/method/server-only")


def test_mistakes_of_the_family_are_mistakes_here() -> None:
    assert set(all_faults(_FAMILY)) < set(all_faults(_DIALECT))


def test_frames_have_a_cycle_octet_and_can_lie() -> None:
    frame = OCTETS.frame_of("heartbeat", b"x", 7)
    assert frame == b"\x08\x00\x00\x07\x00\x00\x00\x01x\xce"
    assert (OCTETS.channel_of(frame), OCTETS.payload_of(frame)) == (7, b"x")
    lie = sent(OCTETS.lying_size(99, 2), frame)
    assert lie == frame + b"\x01\x00\x00\x07\x00\x00\x00\x63\x00\x00"


@pytest.mark.parametrize(
    ("row", "refusal", "application", "outcome"),
    [
        ("amq_wlp_trace_02", None, Application.SILENT, Outcome.PASS),
        ("amq_wlp_trace_02", None, Application.REPORTED, Outcome.FAIL),
        ("amq_wlp_trace_02", None, Application.HANG, Outcome.FAIL),
        ("amq_wlp_trace_02", Refusal(Scope.CONNECTION, 501), Application.REPORTED, Outcome.FAIL),
        ("structured-content/support", None, Application.SILENT, Outcome.PASS),
        ("structured-content/support", Refusal(Scope.CONNECTION, 540), Application.REPORTED, Outcome.PASS),
    ],
)
def test_what_a_client_must_not_notice(
    row: str, refusal: Refusal | None, application: Application, outcome: Outcome
) -> None:
    client, met = _met(row, Talk(1, hostile_ns=1), Ran(application, 0, (), ""))
    verdict = takes_no_notice(client, met, lambda talk: refusal, load_dialect("amqp-wire-9-1"))
    assert verdict.outcome is outcome


def test_what_nobody_watched_is_not_decided() -> None:
    def unseen(talk: Conversation) -> Refusal | None:
        raise Undecided("the client closed with 200, at once or when it was done")

    client, met = _met("amq_wlp_trace_02", Talk(1, hostile_ns=1), Ran(Application.UNSEEN, None, (), ""))
    verdict = takes_no_notice(client, met, unseen, load_dialect("amqp-wire-9-1"))
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_a_server_that_could_not_misbehave_gives_no_verdict() -> None:
    talk = Talk(1, hostile_ns=1, amiss="ValueError: cannot be encoded")
    client, met = _met("amq_wlp_trace_02", talk, Ran(Application.SILENT, 0, (), ""))
    with pytest.raises(RuntimeError, match="cannot be encoded"):
        takes_no_notice(client, met, lambda talk: None, load_dialect("amqp-wire-9-1"))
    with pytest.raises(RuntimeError, match="cannot be encoded"):
        does_its_duty(client, met, lambda talk, ran: True)
