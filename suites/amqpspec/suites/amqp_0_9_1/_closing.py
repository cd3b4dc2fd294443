"""Steps about closing that the connection and channel suites share.

Knows: close methods and what must follow them. Must not know: single cases.
"""

from __future__ import annotations

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended, Garbled, HeaderArrived, Quiet, Reaction
from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import equals, holds
from amqpspec.run.verdict import Verdict


def closing_of(peer: Peer, name: str, channel: int = 1) -> MethodArrived:
    """The close method that the violation sent last brings about; raises Unmet if it is not the named one."""
    reaction = peer.reaction(channel)
    if not isinstance(reaction.closing, MethodArrived) or reaction.closing.name != name:
        raise Unmet(name, reaction.describe(peer.dialect), reaction)
    return reaction.closing


def names_method(peer: Peer, closing: MethodArrived, name: str) -> Verdict:
    """A close method carries the ids of the method that it punishes."""
    method = peer.dialect.methods[name]
    ids = (closing["class_id"], closing["method_id"])
    return equals(peer, ids, (method.class_id, method.method_id), f"class and method id of {name}:")


def answer_to(peer: Peer, octets: bytes) -> Reaction:
    """What the target does about octets in place of its protocol header.

    Where the socket has not ended within the patience for answers, the right header follows: a target that passes over
    the wrong one continues then, and the end by its time limit for logins is no answer.
    """
    peer.send_header(octets)
    first = peer.reaction(0, barrier=False, within_s=peer.patience_s)
    if not isinstance(first.arrivals[-1], Quiet):
        return first
    peer.send_header()
    more = peer.reaction(0, barrier=False)
    arrivals = (*first.arrivals[:-1], *more.arrivals)
    goes_on = any(isinstance(a, MethodArrived) and a.name == "connection.start" for a in more.arrivals)
    return Reaction(arrivals) if goes_on else peer.reaction_of(arrivals)


def answer_is_served(peer: Peer) -> Verdict:
    """The protocol header in answer to the one that was sent last is served on the next connection.

    Versions from 0-10 on are served by the same header in return, and the conversation continues. Raises Unmet.
    """
    reaction = peer.reaction(0, barrier=False)
    offered = next((a.header.octets for a in reaction.arrivals if isinstance(a, HeaderArrived)), None)
    if offered is None:
        raise Unmet("a protocol header", reaction.describe(peer.dialect), reaction)
    again = peer.another()
    again.send_header(offered)
    start = again.arrival("connection.start", channel=0)
    served = isinstance(start, MethodArrived) and start.name == "connection.start"
    # A version that is not served would be answered by the end, not by silence or more octets.
    if isinstance(start, HeaderArrived) and start.header.octets == offered:
        served = not isinstance(again.read(again.now() + again.patience_s), Ended)
    observed = f"header {offered.hex(' ')}, then {start.describe(peer.dialect)}"
    return holds(peer, served, observed, seen=start)


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


def is_locked(peer: Peer, arrival: Arrival) -> bool:
    """Whether an answer says that someone else holds what there is; which code that has belongs to another row."""
    names = ("resource-locked", "access-refused", "not-allowed")
    locked = [peer.dialect.constants_by_name[name].value for name in names]
    return arrival.refusal is not None and arrival.refusal.code in locked


def is_unknown(peer: Peer, queue: str) -> bool:
    """Whether a passive declaration by another connection finds no such queue: it ends as one of a name never used."""
    # The cases ask for the queue as a shared one. Which code a missing queue has belongs to another row.
    refusals = []
    for name in (queue, peer.name("never")):
        other = peer.another().open_channel()
        other.send("queue.declare", queue=name, passive=True)
        refusals.append(other.reaction().refusal)
    return refusals[0] is not None and refusals[0] == refusals[1]
