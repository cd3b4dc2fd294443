"""The suite for clients of 1.0: what ties it together, and how answers are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from click.testing import CliRunner

from amqpspec.cli.main import cli
from amqpspec.record.rows import Outcome
from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CannotDo, Client, Encounter
from amqpspec.run.clients.judging import Undecided, answers_violation
from amqpspec.run.clients.watching import Seen
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.dialects import load_dialect, load_ledger
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites.clients_1_0 import _hostile as of
from amqpspec.wire.amqp_1_0.conversations import TypedReading
from amqpspec.wire.amqp_1_0.frames import performative_frame
from amqpspec.wire.conversation import Conversation, Talk

_DIALECT = "amqp-1-0-clients"


def test_what_is_known_of_clients_is_listed() -> None:
    listed = CliRunner().invoke(cli, ["list", "-d", _DIALECT, "client.hostile.fin.*", "--json"])
    assert len(json.loads(listed.stdout)) == 13
    counted = CliRunner().invoke(cli, ["coverage", "-d", _DIALECT, "--json"])
    assert json.loads(counted.stdout)["dialects"][_DIALECT]["open"] == 0


# --- how an answer is read


def _heard(
    *frames: bytes, application: Application = Application.REPORTED, **open_: Any
) -> tuple[Conversation, Ran]:
    talk = Talk(1, ended="FIN", hostile_ns=5, ended_ns=10)
    opened = performative_frame("open", container_id="c", **open_)
    talk.add(Side.CLIENT, 1, HEADERS["amqp"] + opened)
    for frame in frames:
        talk.add(Side.CLIENT, 6, frame)
    return TypedReading().conversation(talk), Ran(application, None, (), "")


def _error(condition: str) -> Mapping[str, Any]:
    return {"error": {"condition": condition}}


@pytest.mark.parametrize(
    ("frame", "refusal"),
    [
        (performative_frame("close", **_error("amqp:not-allowed")), Refusal(Scope.CONNECTION, "amqp:not-allowed")),
        (performative_frame("end", **_error("a:b")), Refusal(Scope.SESSION, "a:b")),
        (performative_frame("detach", handle=0, **_error("a:b")), Refusal(Scope.LINK, "a:b")),
        (performative_frame("disposition", role="receiver", first=0, state="rejected"), Refusal(Scope.DELIVERY)),
        (performative_frame("disposition", role="receiver", first=0, state="modified"), Refusal(Scope.DELIVERY)),
        (performative_frame("disposition", role="receiver", first=0, state="accepted"), Refusal(Scope.SOCKET)),
        (performative_frame("close"), Refusal(Scope.CONNECTION)),
        (performative_frame("end"), Refusal(Scope.SOCKET)),
    ],
)  # fmt: skip
def test_a_refusal_is_read_at_its_scope(frame: bytes, refusal: Refusal) -> None:
    assert of.reading()(*_heard(frame)) == refusal


@pytest.mark.parametrize(("at_ns", "refusal"), [(11, Refusal(Scope.SOCKET)), (8, None)])
def test_what_the_server_says_behind_the_clients_end_refuses_nothing(
    at_ns: int, refusal: Refusal | None
) -> None:
    conversation, ran = _heard()
    talk = conversation.talk
    talk.add(Side.SERVER, at_ns, performative_frame("close", **_error("amqp:connection:forced")))
    assert of.reading()(TypedReading().conversation(talk), ran) == refusal


def test_a_client_that_nobody_watched_may_have_been_done() -> None:
    with pytest.raises(Undecided, match="closed with no error"):
        of.reading()(*_heard(performative_frame("close"), application=Application.UNSEEN))


def test_an_end_is_answered_by_its_like_or_by_more() -> None:
    end, close = performative_frame("end"), performative_frame("close")
    assert of.answering("end")(*_heard(end, close)) == Refusal(Scope.SESSION)
    assert of.answering("end")(*_heard(close)) == Refusal(Scope.CONNECTION)
    assert of.answering("close")(*_heard(end)) == Refusal(Scope.SOCKET)
    assert of.answering("close")(*_heard(application=Application.CRASH)) == Refusal(Scope.SOCKET)


@pytest.mark.parametrize("application", [Application.HANG, Application.MEMORY])
def test_a_client_that_the_harness_ended_has_answered_nothing(application: Application) -> None:
    assert of.answering("end")(*_heard(application=application)) is None


def test_who_takes_frames_of_any_size_is_not_judged_by_one() -> None:
    judge = of.limited("max_frame_size", 1 << 20)
    with pytest.raises(CannotDo, match="max-frame-size is 4294967295"):
        judge(*_heard())
    assert judge(*_heard(application=Application.CRASH)) == Refusal(Scope.SOCKET)
    assert judge(*_heard(max_frame_size=512)) == Refusal(Scope.SOCKET)


def test_silence_counts_where_a_timeout_was_announced() -> None:
    with pytest.raises(CannotDo, match="no idle-time-out"):
        of.silenced(*_heard())
    assert of.silenced(*_heard(idle_time_out=1000)) == Refusal(Scope.SOCKET)
    talk, ran = _heard(idle_time_out=1)
    talk.talk.ended_ns = 7_000_000
    assert of.silenced(talk, ran) is None


@pytest.mark.parametrize("case", ["client.idle-time-out", "client.close.written"])
def test_what_the_server_provoked_is_no_conduct(case: str) -> None:
    conversation, ran = _heard()
    client = Client(Seen(Encounter([conversation], ran, ""), "client.hostile.x"), case, ())
    with pytest.raises(CannotDo):
        list(client.in_turn("connect"))


@pytest.mark.parametrize(
    ("row", "refusal", "application", "outcome"),
    [
        ("violated/framing/type", None, Application.SILENT, Outcome.OBSERVED),
        ("violated/framing/type", Refusal(Scope.SESSION, "a:b"), Application.REPORTED, Outcome.NONSTRICT),
        ("violated/framing/type", Refusal(Scope.SESSION, "a:b"), Application.HANG, Outcome.FAIL),
        ("violated/framing/size/below-header", Refusal(Scope.SESSION), Application.REPORTED, Outcome.FAIL),
        ("survives/message", Refusal(Scope.DELIVERY), Application.HANG, Outcome.NONSTRICT),
        ("survives/message", Refusal(Scope.DELIVERY), Application.CRASH, Outcome.FAIL),
        ("survives/message", Refusal(Scope.LINK), Application.HANG, Outcome.FAIL),
    ],
)
def test_what_a_row_leaves_to_the_client_is_no_failure(
    row: str, refusal: Refusal | None, application: Application, outcome: Outcome
) -> None:
    met = Encounter([Conversation(Talk(1, hostile_ns=1), [])], Ran(application, 0, (), ""), "evidence")
    client = Client(Seen(met), "case", (load_ledger("amqp-1-0-clients")[row],))
    verdict = answers_violation(client, met, lambda talk: refusal, load_dialect("amqp-1-0"))
    assert verdict.outcome is outcome
