"""The conduct of servers of 0-10: each rule can be broken."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.case import load_suite
from amqpspec.run.clients.provoking import provocations_of
from amqpspec.suites.clients_0_10 import _hostile as of
from amqpspec.wire.amqp_0_10.frames import encode_assembly, encode_frame
from amqpspec.wire.amqp_0_10.instructions import CONTROL
from amqpspec.wire.conversation import Talk
from tests.run.clients.recorded import Conduct, pausing

_DIALECT = "amqp-0-10-clients"
CONDUCT = Conduct(
    _DIALECT, ("connect", "publish", "publish-transactional", "consume", "get", "large", "return", "refused")
)
Change = Callable[[bytes], bytes]
"""From the server's assembly to what is said in its place."""


def test_every_rule_is_broken_below() -> None:
    hostile = {case for case, *_ in _HOSTILE}
    elsewhere = {case for case, *_ in _BROKEN} | {"server.heartbeat.interval"}
    assert hostile | elsewhere == set(CONDUCT.rules)


def _hostile() -> list[tuple[str, str]]:
    """Each rule, with every hostile server for clients that breaks it."""
    rows = {case.covers[0].removeprefix("server/"): case.id for case in CONDUCT.rules.values()}
    broken = {id: case.covers[0].removeprefix("violated/") for id, case in load_suite(_DIALECT).items()}
    said = (id for id in provocations_of(_DIALECT) if ".silence." not in id)
    return [(rows[broken[id]], id) for id in said if broken[id] in rows]


_HOSTILE = _hostile()


@pytest.mark.parametrize(("case", "hostile"), _HOSTILE)
def test_a_rule_that_a_hostile_server_breaks_is_found(case: str, hostile: str) -> None:
    hostility = provocations_of(_DIALECT)[hostile]
    scenario = next(scenario for after, scenario in of.POINTS.values() if after == hostility.after)

    def change(assembly: bytes) -> bytes:
        return b"".join(octets for octets in hostility.deed(assembly) if isinstance(octets, bytes))

    CONDUCT.found(case, CONDUCT.changed(scenario, hostility.after, change))


def _then(name: str, channel: int = 0, **args: Any) -> Change:
    return lambda assembly: assembly + encode_assembly(name, channel, **args)


_BROKEN: tuple[tuple[str, str, str, Change], ...] = (
    ("server.handshake.order", "connect", "connection.tune", lambda a: a + a),
    ("server.handshake.order", "connect", "connection.start", lambda a: encode_assembly("connection.open-ok", 0)),
    ("server.side", "connect", "connection.open-ok", _then("connection.open", virtual_host="/")),
    ("server.frame.size", "consume", "message.transfer", lambda a: a + encode_frame(bytes(20_000), type=CONTROL)),
    ("server.control.readable", "publish", "session.attached",
     lambda a: a + of.lying("session.flush", of.channel_of(a), extra=b"x")),
    ("server.command.readable", "publish", "session.attached",
     lambda a: a + of.pointed(0, of.lying("execution.sync", of.channel_of(a), extra=b"x"))),
    ("server.session.attached", "publish", "session.attached", _then("session.flush", 3)),
    ("server.session.command-point", "publish", "session.attached", _then("execution.sync")),
    ("server.completed", "publish", "session.completed", lambda a: of.again(a, commands=((0, 40),))),
    ("server.transfer.destination", "consume", "message.transfer", lambda a: of.again(a, destination="nobody")),
    ("server.close.last", "connect", "connection.close-ok", _then("connection.heartbeat")),
    ("server.close.codes", "connect", "session.attached",
     _then("connection.close", reply_code=7, reply_text="x")),
)  # fmt: skip


@pytest.mark.parametrize(("case", "scenario", "after", "change"), _BROKEN)
def test_a_broken_rule_is_found(case: str, scenario: str, after: str, change: Change) -> None:
    CONDUCT.found(case, CONDUCT.changed(scenario, after, change))


def _pausing(gap_s: float, before: bytes = b"") -> Talk:
    """A client that chose a heartbeat of one second, and a server that pauses once."""
    beat = encode_assembly("connection.heartbeat", 0)
    return pausing(CONDUCT.conversation("connect").chunks[:-2], before + beat, (0.9, gap_s, 1.1))


@pytest.mark.parametrize(
    ("gap_s", "outcome"), [(1.9, Outcome.PASS), (2.1, Outcome.NONSTRICT), (60, Outcome.NONSTRICT)]
)
def test_silence_of_a_server_is_found(gap_s: float, outcome: Outcome) -> None:
    assert CONDUCT.verdicts(_pausing(gap_s))["server.heartbeat.interval"].outcome is outcome


def test_a_server_that_may_be_stuck_is_not_silent() -> None:
    stuck = encode_assembly("connection.heartbeat", 0) * 9_000
    assert CONDUCT.verdicts(_pausing(60, stuck))["server.heartbeat.interval"].outcome is Outcome.PASS
