"""Inputs that follow each other on one connection: where the target keeps it, and only there."""

from __future__ import annotations

from typing import Any

import pytest

import amqpspec.fuzz.executor.reusable as keeping
from amqpspec.fuzz.executor.address import Address
from amqpspec.fuzz.executor.loop import Executor
from amqpspec.fuzz.executor.result import End, InputResult, Obedience
from amqpspec.fuzz.executor.tempo import Tempo
from amqpspec.fuzz.inputs.fuzz_input import FuzzInput
from amqpspec.fuzz.inputs.identity import InputId
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.states.follow_up import traces
from amqpspec.fuzz.states.model import BROKEN, Say, Step, Values
from amqpspec.fuzz.states.way_back import can_go_back, way_back
from amqpspec.fuzz.states.ways import octets_of_step, states
from amqpspec.reference.server import ReferenceBroker

DIALECTS = fuzzed_dialects()

TEMPO = Tempo(quiet_s=0.5, settle_s=0.05, refusal_s=5.0, way_s=5.0)
QOS = Say("QOS", "basic.qos", 1, (("prefetch_count", 1),))
NOWHERE = Say("DECLARE", "queue.declare", 1, (("queue", "nowhere"), ("passive", True)))
EMPTY = bytes.fromhex("0000000802000000")
HEARTBEAT = bytes.fromhex("08000000000000ce")
WIRE_HEARTBEAT = bytes.fromhex("01000000000000ce")


def values(number: int) -> Values:
    return Values(queue=f"q{number}", container=f"c{number}")


def item(dialect: str, state: str, octets: bytes, counter: int = 0) -> FuzzInput:
    return FuzzInput(InputId("0" * 8, "C09", "test", state, 0, counter), dialect, state, (octets,), "test")


def said(dialect: str, say: Say) -> bytes:
    return octets_of_step(dialect, Step((say,)), Values())


def harmless(dialect: str, state: str) -> bytes:
    """Something legal that asks for nothing, and in a state with a channel for an answer."""
    if dialect == "amqp-1-0":
        return EMPTY
    if dialect == "amqp-0-10":
        if not states(dialect)[state].channels or state == "attached":
            return said(dialect, Say("HEARTBEAT", "connection.heartbeat"))
        return said(dialect, Say("SYNC", "execution.sync", 1, (("sync", True),)))
    if dialect == "amqp-fast-0-8":
        return said(dialect, Say("PING", "connection.ping", 0, (("respond", True),)))
    if states(dialect)[state].channels:
        return said(dialect, QOS)
    return HEARTBEAT if dialect == "amqp-0-9-1" else WIRE_HEARTBEAT


def run(
    dialect: str, items: list[FuzzInput], connections: int = 1, keep: bool = True
) -> tuple[list[InputResult], int]:
    """Results, and how many connections they took."""
    begun = 0

    class Counted(Executor):
        def _begin(self, item: FuzzInput) -> Any:
            nonlocal begun
            begun += 1
            return super()._begin(item)

    with ReferenceBroker(dialect) as broker:
        executor = Counted(
            Address(broker.host, broker.port), values, TEMPO, connections, thorough=True, keeping=keep
        )
        try:
            return list(executor.run(items)), begun
        finally:
            executor.close()


RETURNING = [
    (dialect, state)
    for dialect in DIALECTS
    for state in states(dialect)
    if can_go_back(dialect, state, traces(dialect, harmless(dialect, state)))
]


def test_there_are_ways_back_into_states_without_links() -> None:
    assert {state for dialect, state in RETURNING if dialect == "amqp-0-9-1"} >= {
        "ready",
        "channel",
        "consuming",
    }
    assert {state for dialect, state in RETURNING if dialect == "amqp-1-0"} == {
        "open",
        "session",
        "session-ended",
    }


def test_there_are_ways_back_to_channels_and_handles() -> None:
    found = {state for dialect, state in RETURNING if dialect == "amqp-fast-0-8"}
    assert found >= {"open", "channel", "handle", "transacted"} and "consuming" not in found


@pytest.mark.parametrize(("dialect", "state"), RETURNING)
def test_a_target_that_goes_on_is_led_back_into_the_state(dialect: str, state: str) -> None:
    items = [item(dialect, state, harmless(dialect, state), n) for n in range(5)]
    found, begun = run(dialect, items)
    assert [(o.reached, o.end, o.obedience, o.disobeys) for o in found] == [
        (True, End.OPEN, Obedience.GOES_ON, "")
    ] * 5
    assert begun == 1 and [o.item.id for o in found] == [i.id for i in items]


def test_a_channel_that_the_target_closed_is_opened_again() -> None:
    items = [item("amqp-0-9-1", "channel", said("amqp-0-9-1", NOWHERE), n) for n in range(5)]
    found, begun = run("amqp-0-9-1", items)
    assert [o.reaction for o in found] == ["channel 404"] * 5 and begun == 1
    assert {o.obedience for o in found} == {Obedience.GOES_ON} and not any(o.astray for o in found)


def test_so_many_share_a_connection_and_no_more() -> None:
    items = [item("amqp-0-9-1", "channel", said("amqp-0-9-1", QOS), n) for n in range(40)]
    found, begun = run("amqp-0-9-1", items)
    assert len(found) == 40 and begun == 3


def test_without_keeping_each_has_a_connection_of_its_own() -> None:
    items = [item("amqp-0-9-1", "channel", said("amqp-0-9-1", QOS), n) for n in range(5)]
    assert run("amqp-0-9-1", items, keep=False)[1] == 5


def test_inputs_of_other_states_have_connections_of_their_own() -> None:
    items = [
        item("amqp-0-9-1", state, harmless("amqp-0-9-1", state), n)
        for n, state in enumerate(["channel", "ready"] * 4)
    ]
    found, begun = run("amqp-0-9-1", items)
    assert begun == 8 and {o.item.id for o in found} == {i.id for i in items}


def test_an_input_that_ends_the_connection_ends_the_sharing() -> None:
    legal, broken = said("amqp-0-9-1", QOS), bytes.fromhex("0100010000000000")
    items = [item("amqp-0-9-1", "channel", octets, n) for n, octets in enumerate([legal, broken] * 3)]
    found, begun = run("amqp-0-9-1", items)
    assert begun == 3 and [o.reaction.split()[0] for o in found] == ["answer", "socket"] * 3


def test_where_the_way_back_leads_nowhere_inputs_go_on_connections_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    astray = (Step((Say("OPEN", "channel.open", 1),), ("channel.open-ok",)),)  # it is open: an error
    monkeypatch.setattr(keeping, "way_back", lambda *_: astray)
    items = [item("amqp-0-9-1", "channel", said("amqp-0-9-1", QOS), n) for n in range(9)]
    found, begun = run("amqp-0-9-1", items, connections=3)
    assert begun == 9 and all(o.reached for o in found)
    assert {o.item.id for o in found} == {i.id for i in items}


@pytest.mark.parametrize("name", ["channel.close", "channel.open", "channel.flow", "connection.close"])
def test_behind_what_opens_or_closes_nobody_knows_the_way_back(name: str) -> None:
    octets = said("amqp-0-9-1", Say("SAY", name, int(name.startswith("channel"))))
    assert not can_go_back("amqp-0-9-1", "channel", traces("amqp-0-9-1", octets))


def test_behind_half_a_frame_or_other_channels_nobody_knows_the_way_back() -> None:
    elsewhere = Say("QOS", "basic.qos", 7, (("prefetch_count", 1),))
    assert not can_go_back("amqp-0-9-1", "channel", BROKEN)
    assert not can_go_back("amqp-0-9-1", "channel", traces("amqp-0-9-1", said("amqp-0-9-1", elsewhere)))
    assert not can_go_back("amqp-1-0", "attached", traces("amqp-1-0", EMPTY))


def test_the_way_back_closes_what_is_open_and_opens_what_was() -> None:
    words = [step.words for step in way_back("amqp-0-9-1", "channel", None, 2)]
    assert words == [
        "C:CLOSE C:CLOSE S:CHANNEL.CLOSE-OK S:CHANNEL.CLOSE-OK",
        "C:CHANNEL.OPEN S:CHANNEL.OPEN-OK",
    ]
    assert (
        next(step.words for step in way_back("amqp-0-9-1", "channel", 1, 2)) == "C:CLOSE S:CHANNEL.CLOSE-OK"
    )
    assert [step.words for step in way_back("amqp-1-0", "session", None, None)] == [
        "C:END S:END",
        "C:BEGIN S:BEGIN",
    ]
    assert way_back("amqp-0-9-1", "ready", None, None) == ()
