"""Peers against their reference brokers, in memory and on a clock of its own.

What a case drives is tried by what cases do with it: each keeps its verdict without a socket. Beside that stand the
ways of a peer that a conforming target never shows: what is not owed, what does not arrive, what ends early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from amqpspec.peer.amqp_0_10.peer import Peer as AssemblyPeer
from amqpspec.peer.amqp_fast_0_8.peer import Peer as FastPeer
from amqpspec.peer.context import OutOfReach, Unmet
from amqpspec.record.rows import Outcome
from amqpspec.run.case import Case, load_suite
from amqpspec.run.memory import MemoryTarget, judged_in_memory
from amqpspec.spec.dialects import runnable_dialects
from amqpspec.suites import walking

ASSEMBLIES, FAST = "amqp-0-10", "amqp-fast-0-8"
GOOD = (Outcome.PASS, Outcome.OBSERVED)
Driven = Callable[..., Any]


@pytest.fixture
def target(request: pytest.FixtureRequest) -> Iterator[MemoryTarget]:
    """The reference broker of the dialect that a test names."""
    made = MemoryTarget(request.param)
    yield made
    made.close()


@pytest.fixture
def few_walks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few walks reach each way of a peer; a self-test takes them all."""
    monkeypatch.setattr(walking, "_STAGES", ((6, 12), (1, 40)))


def judged(case: Case) -> str:
    verdict = judged_in_memory(case)
    return "" if verdict.outcome in GOOD else f"{verdict.outcome}: {verdict.expected}; {verdict.observed}"


@pytest.mark.parametrize(
    "case",
    [case for dialect in runnable_dialects() for case in load_suite(dialect).values()],
    ids=lambda case: f"{case.dialect}-{case.id}",
)
def test_each_case_has_its_verdict_without_a_socket(case: Case, few_walks: None) -> None:
    assert judged(case) == ""


# --- AMQP 0-10


@pytest.mark.parametrize("target", [ASSEMBLIES], indirect=True)
def test_what_is_refused_before_a_claim_is_unmet(target: MemoryTarget) -> None:
    peer = AssemblyPeer(target.context())
    peer.open_session()
    with pytest.raises(Unmet, match=r"completion of command 0.*execution\.exception 404"):
        peer.call("queue.delete", queue="missing")


@pytest.mark.parametrize("target", [ASSEMBLIES], indirect=True)
def test_a_result_that_does_not_come_is_unmet(target: MemoryTarget) -> None:
    peer = AssemblyPeer(target.context())
    peer.open_session()
    number = peer.send("execution.sync", sync=True)
    with pytest.raises(Unmet, match="a result of command 0"):
        peer.result(number)
    assert peer.completion(number) is None, "told before"


@pytest.mark.parametrize("target", [ASSEMBLIES], indirect=True)
def test_messages_come_whole_in_order_and_once(target: MemoryTarget) -> None:
    peer = AssemblyPeer(target.context())
    peer.open_session()
    queues = [peer.queue() for _ in "12"]
    sent = [b"first", b"", b"x" * 200_000]
    for body in sent:
        peer.publish(queues[0], body)
    destination = peer.subscribe(queues[0], messages=2)
    found = peer.transfers(2)
    assert [(t["destination"], t.body or b"") for t in found] == [(destination, body) for body in sent[:2]]
    peer.barrier()
    assert peer.pending("message.transfer") == []
    peer.flow(destination, messages=1)
    third = peer.transfer()
    assert third.body == sent[2]
    peer.accept([*found, third])
    assert peer.drain(queues[0]) == [] == peer.drain(queues[1])


@pytest.mark.parametrize("target", [ASSEMBLIES], indirect=True)
def test_channels_beyond_what_is_offered_are_out_of_reach(target: MemoryTarget) -> None:
    peer = AssemblyPeer(target.context())
    peer.open_connection(channel_max=2)
    peer.attach(1)
    with pytest.raises(OutOfReach, match="channel-max is 2, the case needs channel 2"):
        peer.attach(2)
    with pytest.raises(OutOfReach, match="is offered, the case needs 70000"):
        peer.another().open_connection(channel_max=70_000)


@pytest.mark.parametrize("target", [ASSEMBLIES], indirect=True)
def test_a_reaction_ends_with_the_session_or_passes_a_barrier(target: MemoryTarget) -> None:
    peer = AssemblyPeer(target.context())
    peer.open_session()
    peer.send("queue.declare", queue="mine", exclusive=True)
    assert peer.reaction().refusal is None
    peer.send("queue.declare", queue="amq.mine")
    reaction = peer.reaction()
    assert reaction.refusal is not None and reaction.refusal.code == 530
    assert not peer.sessions[0].attached


# --- AMQP/Fast


@pytest.mark.parametrize("target", [FAST], indirect=True)
def test_a_second_login_of_fast_stands_beside_the_first(target: MemoryTarget) -> None:
    first = FastPeer(target.context())
    second = first.another()
    for peer in (first, second):
        peer.open_connection()
    assert first.ended is None is second.ended
    with pytest.raises(Unmet, match="320 client-active"):
        FastPeer(target.context()).open_connection()
