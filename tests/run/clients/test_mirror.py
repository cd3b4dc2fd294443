"""Conversations with their sides exchanged: one mirror of each encounter, for all cases and threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.clients import mirror
from amqpspec.run.clients.client import Client, Encounter
from amqpspec.run.clients.mirror import asked_of_server, mirrored
from amqpspec.run.clients.watching import Seen
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Side
from amqpspec.wire.conversation import Conversation
from tests.run.clients.recorded import UNSEEN, conversation, reading
from tests.waiting import PATIENCE_S

_DIALECT = "amqp-0-9-1-clients"


def _seen() -> Seen:
    talk = conversation(_DIALECT, "connect")
    return Seen(Encounter([reading(_DIALECT).conversation(talk)], UNSEEN, "x"))


def _met(seen: Seen) -> list[Encounter]:
    """The encounters that a case about servers works with."""
    found: list[Encounter] = []

    def body(client: Client) -> Verdict:
        found.extend(client.in_turn("connect", "send"))
        return Verdict(Outcome.PASS, "an encounter", "an encounter")

    assert asked_of_server(Client(seen, "case", ()), body).facts.role == "server"
    return found


def test_all_cases_work_with_one_mirror_of_an_encounter() -> None:
    seen, other = _seen(), _seen()
    [first], [second], [another] = _met(seen), _met(seen), _met(other)
    assert first is second and another is not first
    told = [one.sender for one in seen.clean("connect").conversations[0].said]
    assert {Side.CLIENT, Side.SERVER} == set(told)
    assert [one.sender for one in first.conversations[0].said] == [mirror._OTHER[sender] for sender in told]


def test_cases_that_run_at_once_work_with_the_same_mirror(monkeypatch: pytest.MonkeyPatch) -> None:
    both = Barrier(2)

    def late(talk: Conversation) -> Conversation:
        """Neither has finished when the other begins."""
        both.wait(PATIENCE_S)
        return mirrored(talk)

    monkeypatch.setattr(mirror, "mirrored", late)
    seen = _seen()
    with ThreadPoolExecutor(2) as pool:
        [first], [second] = pool.map(_met, [seen, seen])
    [third] = _met(seen)
    assert first is second is third
