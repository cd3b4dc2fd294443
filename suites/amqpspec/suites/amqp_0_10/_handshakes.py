"""Handshakes that go as far as a case wants, and steps that are refused before open."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.oracles import judge_reaction, worst
from amqpspec.run.verdict import Verdict

Step = Callable[[Peer], object]


def before_open(peer: Peer, steps: Iterable[Step]) -> Verdict:
    """Each step, on a connection of its own, is refused, whether at once or without a word."""
    verdicts = []
    for step in steps:
        one = peer.another()
        step(one)
        verdicts.append(judge_reaction(peer, one.reaction(barrier=False)))
    return worst(verdicts)


def proposal(peer: Peer) -> AssemblyArrived:
    """Connection.tune, behind a login."""
    peer.greet()
    peer.start_ok()
    return peer.offered()
