"""Steps about closing that the connection and channel suites share.

Knows: close methods and what must follow them. Must not know: single cases.
"""

from __future__ import annotations

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, Quiet
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import equals
from amqpspec.run.verdict import Verdict


def closing_of(peer: Peer, name: str, channel: int = 1) -> MethodArrived:
    """The close method that the violation sent last brings about; raises Unmet where it is not the named one."""
    reaction = peer.reaction(channel)
    if not isinstance(reaction.closing, MethodArrived) or reaction.closing.name != name:
        raise Unmet(name, reaction.describe(peer.dialect), reaction)
    return reaction.closing


def names_method(peer: Peer, closing: MethodArrived, name: str) -> Verdict:
    """A close method carries the ids of the method that it punishes."""
    method = peer.dialect.methods[name]
    ids = (closing["class_id"], closing["method_id"])
    return equals(peer, ids, (method.class_id, method.method_id), f"class and method id of {name}:")


def until_end(peer: Peer) -> list[Arrival]:
    """Everything that arrives up to the end of the stream, the end being the last; raises Unmet without one."""
    # Read on past close methods: what stands between them and the end is what the cases judge.
    until_s = peer.now() + peer.context.patience.ending_s
    seen: list[Arrival] = []
    while not seen or not isinstance(seen[-1], Ended):
        seen.append(peer.read(until_s))
        if isinstance(seen[-1], Garbled | Quiet):
            raise Unmet("the end of the connection", seen[-1].describe(peer.dialect), seen[-1])
    return seen


def is_unknown(peer: Peer, queue: str, channel: int = 1) -> bool:
    """Whether a passive declaration finds no such queue."""
    # The cases ask for the queue as a shared one. If it existed, nothing could refuse this question, so
    # any refusal means that it does not.
    peer.send("queue.declare", channel=channel, queue=queue, passive=True)
    return peer.reaction(channel).refusal is not None
