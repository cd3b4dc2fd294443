"""Oracles for peers of AMQP 1.0: what ``amqpspec.run.oracles`` is to the 0-9 family.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Passed, Reaction
from amqpspec.run.oracles import as_permitted, borne, holds, judge_arrival, judge_reaction, without_effect
from amqpspec.run.verdict import Verdict

__all__ = [
    "allows",
    "borne",
    "judge_arrival",
    "must_refuse",
    "rejects_violation",
    "well_formed",
    "without_effect",
]


def rejects_violation(
    peer: Peer,
    channel: int = 0,
    *,
    link: Link | None = None,
    delivery: Outgoing | Delivery | int | None = None,
    barrier: bool = True,
    row: str = "",
    within_s: float | None = None,
) -> Verdict:
    """The violation that was sent last is refused with the condition and at the scope that the row states."""
    reaction = peer.reaction(channel, link=link, delivery=delivery, barrier=barrier, within_s=within_s)
    return judge_reaction(peer, reaction, row)


def allows(peer: Peer, channel: int = 0, link: Link | None = None, row: str = "") -> Verdict:
    """What was sent last is not refused: a barrier after it is answered."""
    reaction = peer.reaction(channel, link=link)
    done = isinstance(reaction.arrivals[-1], Passed) and reaction.refusal is None and reaction.closing is None
    return holds(peer, done, reaction, peer.claimed or "no refusal", row)


def well_formed(peer: Peer, *arrivals: FrameArrived, row: str = "") -> Verdict:
    """The values in these frames, in all frames of the target if none are named, are what the tables permit."""
    problems = [p for a in arrivals for p in a.frame.problems] if arrivals else peer.problems
    return as_permitted(peer, problems, row)


def must_refuse(peer: Peer, reaction: Reaction) -> Reaction:
    """A prerequisite: the reaction is a refusal of any kind, else raises Unmet."""
    if reaction.refusal is None and reaction.closing is None:
        raise Unmet("a refusal", reaction.describe(peer.dialect), reaction)
    return reaction
