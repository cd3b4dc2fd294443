"""Handshakes that go as far as a case wants, and steps that are refused before open."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.opening import is_one
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.peer.events import Reaction
from amqpspec.run.oracles import judge_reaction, observed_either_way, worst
from amqpspec.run.verdict import Verdict
from amqpspec.suites.mechanisms import needs_mechanism

Step = Callable[[Peer], object]
_AGAIN = "connection.secure"
_DECIDING = (_AGAIN, "connection.tune", "connection.open-ok", "session.attached", "session.detached")


def before_open(
    peer: Peer, steps: Iterable[Step], judge: Callable[[Peer, Reaction], Verdict] = judge_reaction
) -> Verdict:
    """Each step, on a separate connection, is refused, whether at once or silently."""
    verdicts = []
    for step in steps:
        one = peer.another()
        step(one)
        verdicts.append(judge(peer, _reaction(one)))
    return worst(verdicts)


def refused_or_asked_again(peer: Peer, reaction: Reaction) -> Verdict:
    """A login that fails is refused, or challenged again, which is recorded."""
    if is_one(reaction.arrivals[-1], (_AGAIN,), None):
        return observed_either_way(peer, "asks again", reaction)
    return judge_reaction(peer, reaction)


def _reaction(peer: Peer) -> Reaction:
    """The result of a step; who is let in is not refused by being dropped for lateness afterwards."""
    last = peer.wait(lambda arrival: is_one(arrival, _DECIDING, None), peer.context.patience.ending_s)
    return peer.reacted([last])


def greeted_with(peer: Peer, mechanism: str) -> None:
    """Receive connection.start, which offers a mechanism; raises OutOfReach if it does not."""
    needs_mechanism(mechanism, [str(name) for name in peer.greet()["mechanisms"].items])


def proposal(peer: Peer) -> AssemblyArrived:
    """Connection.tune, after a login."""
    peer.greet()
    peer.start_ok()
    return peer.offered()
