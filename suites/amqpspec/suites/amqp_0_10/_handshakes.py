"""Handshakes that go as far as a case wants, and steps that are refused before open."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.opening import is_one
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import Reaction
from amqpspec.run.oracles import judge_reaction, worst
from amqpspec.run.verdict import Verdict

Step = Callable[[Peer], object]
_DECIDING = ("connection.tune", "connection.open-ok", "session.attached", "session.detached")


def before_open(peer: Peer, steps: Iterable[Step]) -> Verdict:
    """Each step, on a separate connection, is refused, whether at once or silently."""
    verdicts = []
    for step in steps:
        one = peer.another()
        step(one)
        verdicts.append(judge_reaction(peer, _reaction(one)))
    return worst(verdicts)


def _reaction(peer: Peer) -> Reaction:
    """The result of a step; who is let in is not refused by being dropped for lateness afterwards."""
    last = peer.wait(lambda arrival: is_one(arrival, _DECIDING, None), peer.context.patience.ending_s)
    return peer.reacted([last])


def proposal(peer: Peer) -> AssemblyArrived:
    """Connection.tune, after a login."""
    peer.greet()
    peer.start_ok()
    return peer.offered()
