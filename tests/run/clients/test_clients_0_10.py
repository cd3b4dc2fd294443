"""The suite for clients of 0-10: what a lenient server forgives, and how answers are read."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from amqpspec.run.clients.agent import Application, Ran
from amqpspec.run.clients.client import CannotDo
from amqpspec.run.clients.judging import Undecided
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
from amqpspec.spec.model import Refusal, Scope, Side
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.conversations import AssemblyReading
from amqpspec.wire.amqp_0_10.frames import encode_assembly
from amqpspec.wire.conversation import Conversation, Talk
from tests.run.clients.command import agent, client, verdicts_of

_client = partial(client, "amqp-0-10")
_agent = partial(agent, "amqp-0-10")


@pytest.mark.parametrize("is_lenient", [False, True])
def test_a_missing_locale_is_forgiven_by_name_and_still_a_deviation(tmp_path: Path, is_lenient: bool) -> None:
    cases = ["client.start-ok.locale", "client.accept.once"]
    words = ["--command", _agent("locale-missing"), *cases, *(["--lenient"] if is_lenient else [])]
    verdicts = verdicts_of(_client(tmp_path, *words))
    assert verdicts == {cases[0]: "fail", cases[1]: "pass" if is_lenient else "not-applicable"}
    note = json.loads((tmp_path / "run" / "results.json").read_text())["meta"]["note"]
    assert note.startswith("forgiven: locale-missing (") is is_lenient


# --- how an answer is read


_TUNED = {"channel_max": 9, "max_frame_size": 8192, "heartbeat": 1}


def _heard(
    *frames: bytes,
    application: Application = Application.REPORTED,
    tuned: dict[str, Any] | None = None,
    server: bytes = b"",
) -> tuple[Conversation, Ran]:
    talk = Talk(1, ended="FIN", hostile_ns=5, ended_ns=10)
    tune_ok = encode_assembly("connection.tune-ok", 0, **(_TUNED if tuned is None else tuned))
    talk.add(Side.CLIENT, 1, TABLES.protocol_header + tune_ok)
    talk.add(Side.SERVER, 5, TABLES.protocol_header + server)
    for frame in frames:
        talk.add(Side.CLIENT, 6, frame)
    return AssemblyReading().conversation(talk), Ran(application, None, (), "")


_CLOSE = encode_assembly("connection.close", 0, reply_code=200)
_REJECT = encode_assembly("message.reject", 0, transfers=((0, 0),), code=1)
_DETACHED = encode_assembly("session.detached", 0, name=b"s", code=0)


@pytest.mark.parametrize(
    ("frame", "refusal"),
    [
        (encode_assembly("connection.close", 0, reply_code=501), Refusal(Scope.CONNECTION, 501)),
        (encode_assembly("execution.exception", 0, error_code=503), Refusal(Scope.SESSION, 503)),
        (encode_assembly("session.detached", 0, name=b"s", code=3), Refusal(Scope.SESSION, "not-attached")),
        (_REJECT, Refusal(Scope.DELIVERY, "unroutable")),
        (_CLOSE, Refusal(Scope.CONNECTION, 200)),
        (_DETACHED, Refusal(Scope.SOCKET)),
        (encode_assembly("message.accept", 0, transfers=((0, 0),)), Refusal(Scope.SOCKET)),
    ],
)  # fmt: skip
def test_a_refusal_is_read_at_its_scope(frame: bytes, refusal: Refusal) -> None:
    assert of.reading()(*_heard(frame)) == refusal


def test_a_close_with_200_refuses_nothing_where_the_application_learned_of_nothing() -> None:
    assert of.reading()(*_heard(_CLOSE, application=Application.SILENT)) is None


def test_a_server_that_rejects_a_message_refuses_nothing() -> None:
    assert of.reading()(*_heard(server=_REJECT)) == Refusal(Scope.SOCKET)


def test_an_end_is_answered_by_its_like_or_by_more() -> None:
    judge = of.answering(Scope.SESSION, "session.detach", "session.detached")
    assert judge(*_heard(_DETACHED, _CLOSE)) == Refusal(Scope.SESSION)
    assert judge(*_heard(_CLOSE)) == Refusal(Scope.CONNECTION)
    assert judge(*_heard()) == Refusal(Scope.SOCKET)


def test_a_client_that_goes_on_with_the_handshake_has_not_left() -> None:
    judge = of.leaving("connection.open")
    assert judge(*_heard(encode_assembly("connection.open", 0, virtual_host="/"))) is None
    assert judge(*_heard()) == Refusal(Scope.SOCKET)


def test_who_takes_frames_of_any_size_is_not_judged_by_one() -> None:
    judge = of.limited("max_frame_size", 0xFFFF)
    for tuned in ({"channel_max": 1}, {"channel_max": 1, "max_frame_size": 0xFFFF}):
        with pytest.raises(CannotDo, match="max-frame-size is"):
            judge(*_heard(tuned=tuned))
        assert judge(*_heard(tuned=tuned, application=Application.CRASH)) == Refusal(Scope.SOCKET)
    assert judge(*_heard()) == Refusal(Scope.SOCKET)


def test_silence_counts_where_a_heartbeat_was_chosen() -> None:
    with pytest.raises(CannotDo, match="no heartbeat"):
        of.silenced(*_heard(tuned={"channel_max": 1}))
    assert of.silenced(*_heard()) == Refusal(Scope.SOCKET)
    talk, ran = _heard()
    talk.talk.ended_ns = 7_000_000_000
    assert of.silenced(talk, ran) is None


def test_what_an_application_learned_is_known_where_it_was_watched() -> None:
    assert of.learned(*_heard()) is True
    assert of.learned(*_heard(application=Application.SILENT)) is False
    with pytest.raises(Undecided):
        of.learned(*_heard(application=Application.UNSEEN))
