"""Oracles for peers of the 0-9 family, in addition to the neutral ones of ``amqpspec.run.oracles``.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from amqpspec.peer.methods.arrivals import MethodArrived
from amqpspec.peer.methods.peer import Peer
from amqpspec.run.oracles import holds, judge_reaction
from amqpspec.run.verdict import Verdict


def rejects_violation(
    peer: Peer,
    channel: int = 1,
    *,
    barrier: bool = True,
    row: str = "",
    within_s: float | None = None,
) -> Verdict:
    """The violation that was sent last is refused with the code and at the scope that the row states.

    ``row`` names another covered row than the first; ``barrier`` and ``within_s`` go to ``Peer.reaction``.
    """
    return judge_reaction(peer, peer.reaction(channel, barrier=barrier, within_s=within_s), row)


def allows(peer: Peer, channel: int = 1, row: str = "") -> Verdict:
    """What was sent last is not refused: a barrier after it on the same channel is answered."""
    reaction = peer.reaction(channel)
    done = isinstance(reaction.arrivals[-1], MethodArrived) and reaction.refusal is None
    return holds(peer, done, reaction, peer.claimed or "no exception", row)
