"""Legal conduct that rules for clients of 0-10 once failed, and violations that look like it."""

from __future__ import annotations

from functools import partial
from typing import Any
from uuid import UUID

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.clients.agent import Application
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.spec.amqp_0_10 import DIALECT as TABLES
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import encode_assembly as a
from amqpspec.wire.amqp_0_10.values import Array, Packed
from tests.run.clients.deeds import sent
from tests.run.clients.talks import C, Part, S, hostile_after, talk_of
from tests.run.clients.talks import verdict as verdict_in

_DIALECT = "amqp-0-10-clients"
_verdict = partial(verdict_in, _DIALECT)
_PASS, _FAIL, _NONSTRICT = Outcome.PASS, Outcome.FAIL, Outcome.NONSTRICT
_OPEN = Outcome.INCONCLUSIVE
_UNSEEN, _REPORTED = Application.UNSEEN, Application.REPORTED


def _login(*early: Part) -> list[Part]:
    """Up to an open connection; a client says something after tune-ok."""
    header = TABLES.protocol_header
    tuned: dict[str, Any] = {"channel_max": 10, "max_frame_size": 60_000}
    start = a(
        "connection.start", 0, mechanisms=Array("str16", ("PLAIN",)), locales=Array("str16", ("en_US",))
    )
    return [
        (C, header),
        (S, header + start),
        (C, a("connection.start-ok", 0, mechanism="PLAIN", locale="en_US", response=b"x")),
        (S, a("connection.tune", 0, heartbeat_min=0, heartbeat_max=10, **tuned)),
        (C, a("connection.tune-ok", 0, **tuned)),
        *early,
        (C, a("connection.open", 0, virtual_host="/")),
        (S, a("connection.open-ok", 0)),
    ]


def _attached(name: bytes = b"n", channel: int = 1, first: int = 0) -> list[Part]:
    return [
        (C, a("session.attach", channel, name=name)),
        (S, a("session.attached", channel, name=name)),
        (C, a("session.command-point", channel, command_id=first, command_offset=0)),
    ]


_BYE: list[Part] = [(C, a("connection.close", 0, reply_code=200)), (S, a("connection.close-ok", 0))]
_POINT: Part = (S, a("session.command-point", 1, command_id=0, command_offset=0))
_SUBSCRIBE: Part = (C, a("message.subscribe", 1, queue="q", destination="d"))
_ACCEPT: Part = (C, a("message.accept", 1, transfers=((0, 0),)))
_TX: dict[str, Part] = {name: (C, a(f"tx.{name}", 1)) for name in ("select", "commit", "rollback")}
_DETACH: tuple[Part, ...] = (
    (C, a("session.detach", 1, name=b"n")),
    (S, a("session.detached", 1, name=b"n", code=0)),
)


def _transfer(**args: Any) -> Part:
    return S, a("message.transfer", 1, destination="d", body=b"x", header=[], **args)


def _working(*parts: Part) -> list[Part]:
    return [*_login(), *_attached(), _POINT, _SUBSCRIBE, *parts, *_BYE]


def test_a_heartbeat_may_come_before_open() -> None:
    beat: Part = (C, a("connection.heartbeat", 0))
    assert _verdict("client.handshake.order", talk_of([*_login(beat), *_BYE])) is _PASS
    early = talk_of([*_login(*_attached()), *_BYE])
    assert _verdict("client.handshake.order", early) is _FAIL


@pytest.mark.parametrize(
    ("case", "parts", "outcome"),
    [
        # A transfer is accepted once, unless a rollback discards that.
        ("client.accept.once", (_TX["select"], _transfer(), _ACCEPT, _TX["rollback"], _ACCEPT, _TX["commit"]), _PASS),
        ("client.accept.once", (_TX["select"], _transfer(), _ACCEPT, _TX["commit"], _ACCEPT), _FAIL),
        ("client.accept.once", (_transfer(), _ACCEPT, _TX["select"], _TX["rollback"], _ACCEPT), _FAIL),
        ("client.accept.once",
         (_transfer(), _ACCEPT, *_DETACH, *_attached(first=2), _POINT, _transfer(), _ACCEPT), _PASS),
        ("client.accept.once", (_transfer(), _ACCEPT, *_DETACH, *_attached(first=2), _ACCEPT), _FAIL),
        # What is accepted was transferred in the session, and acquired.
        ("client.accept.acquired", (_transfer(), *_DETACH, *_attached(first=1), _ACCEPT), _PASS),
        ("client.accept.acquired", (_transfer(), *_DETACH, *_attached(b"other"), _ACCEPT), _FAIL),
        ("client.accept.acquired", (_transfer(acquire_mode=1), _ACCEPT), _FAIL),
        ("client.accept.acquired",
         (_transfer(acquire_mode=1), (C, a("message.acquire", 1, transfers=((0, 0),))), _ACCEPT), _PASS),
    ],
)  # fmt: skip
def test_what_may_be_accepted(case: str, parts: tuple[Part, ...], outcome: Outcome) -> None:
    assert _verdict(case, talk_of(_working(*parts))) == outcome


@pytest.mark.parametrize(("body", "outcome"), [(b"one", _PASS), (b"two", _FAIL)])
def test_a_message_keeps_its_id_when_it_is_sent_again(body: bytes, outcome: Outcome) -> None:
    message = Packed("message.message-properties", {"message_id": UUID(int=5)})

    def published(key: str, octets: bytes) -> Part:
        header = [Packed("message.delivery-properties", {"routing_key": key}), message]
        return C, a("message.transfer", 1, destination="", body=octets, header=header)

    talk = talk_of(_working(published("a", b"one"), published("b", body)))
    assert _verdict("client.message-id.unique", talk) == outcome


@pytest.mark.parametrize(
    ("case", "octets"),
    [
        ("client.session.commands", a("execution.sync", 1)),
        ("client.session.attached-first", a("session.flush", 1, completed=True)),
    ],
)
def test_nothing_is_said_on_a_channel_after_the_clients_detach(case: str, octets: bytes) -> None:
    said: Part = (C, octets)
    assert _verdict(case, talk_of(_working(said, *_DETACH))) is _PASS
    assert _verdict(case, talk_of(_working(*_DETACH, said))) is _FAIL
    answered: list[Part] = [(S, _DETACH[0][1]), (C, _DETACH[1][1]), said]
    assert _verdict(case, talk_of(_working(*answered))) is _FAIL
    crossed: list[Part] = [(S, _DETACH[0][1]), said, (C, _DETACH[1][1])]
    assert _verdict(case, talk_of(_working(*crossed))) is _PASS


# --- the answer to a hostile end


def test_an_end_names_the_clients_session() -> None:
    load_suite(_DIALECT)
    attached = a("session.attached", 3, name=b"theirs")
    for case, name in (("detach.consume", "session.detach"), ("exception.bare", "session.detached")):
        hostility = provocations_of(_DIALECT)[f"client.hostile.{case}"]
        assert hostility.after == "session.attached"
        octets = sent(hostility.deed, attached)
        assert octets.startswith(attached)
        code: dict[str, Any] = {"code": 0} if name == "session.detached" else {}
        assert octets.endswith(a(name, 3, name=b"theirs", **code))
        assert of.channel_of(octets) == 3


@pytest.mark.parametrize(
    ("channel", "name", "outcome"), [(1, b"n", _PASS), (2, b"m", _NONSTRICT), (1, b"m", _NONSTRICT)]
)
def test_a_detach_is_answered_for_its_session(channel: int, name: bytes, outcome: Outcome) -> None:
    clean = [*_login(), *_attached(), *_attached(b"m", 2)]
    answer: Part = (C, a("session.detached", channel, name=name, code=0))
    talk = hostile_after(clean, [(S, a("session.detach", 1, name=b"n")), answer, *_BYE])
    assert _verdict("client.hostile.detach.publish", talk, application=_REPORTED) == outcome


@pytest.mark.parametrize(
    ("case", "ended"),
    [
        ("client.hostile.detach.publish", a("session.detach", 1, name=b"n")),
        ("client.hostile.close.normal.transfer", a("connection.close", 0, reply_code=200)),
    ],
)
def test_an_end_that_an_unseen_client_may_still_answer_is_not_decided(case: str, ended: bytes) -> None:
    talk = hostile_after([*_login(), *_attached()], [(S, ended)], "")
    assert _verdict(case, talk, application=_UNSEEN) is _OPEN
    assert _verdict(case, talk, application=Application.HANG) is _FAIL


@pytest.mark.parametrize("case", ["client.endures.gap", "client.hostile.delivery.endless"])
def test_a_reset_after_too_much_may_be_the_end_of_the_process(case: str) -> None:
    clean = [*_login(), *_attached()]
    assert _verdict(case, hostile_after(clean, [], "RST"), application=_UNSEEN) is _OPEN
    assert _verdict(case, hostile_after(clean, [], "FIN"), application=_UNSEEN) is _PASS
    assert _verdict(case, hostile_after(clean, [], "RST"), application=Application.CRASH) is _FAIL
    close: Part = (C, a("connection.close", 0, reply_code=501))
    assert _verdict(case, hostile_after(clean, [close], "RST"), application=_UNSEEN) is _PASS


_LEAVE: Part = (C, a("session.detach", 1, name=b"n"))
_GONE: Part = (S, a("session.detached", 1, name=b"n", code=0))


@pytest.mark.parametrize(
    ("after", "outcome"),
    [
        ([_LEAVE, _POINT, _GONE], _PASS),
        ([_LEAVE, _GONE, _POINT], _FAIL),
        ([_LEAVE, (C, a("session.attach", 1, name=b"n")), _GONE, _POINT], _PASS),
        ([_LEAVE, _GONE, *_attached(), _POINT], _PASS),
    ],
)
def test_a_server_is_silent_once_it_has_answered_a_detach(after: list[Part], outcome: Outcome) -> None:
    talk = talk_of([*_login(), *_attached(), *after, *_BYE])
    assert _verdict("server.session.attached", talk) is outcome
