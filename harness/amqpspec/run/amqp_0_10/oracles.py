"""Oracles for peers of AMQP 0-10, in addition to the neutral ones of ``amqpspec.run.oracles``.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from typing import Any

from amqpspec.peer.amqp_0_10.arrivals import AssemblyArrived
from amqpspec.peer.amqp_0_10.peer import Peer
from amqpspec.run.oracles import as_permitted, holds, judge_reaction
from amqpspec.run.verdict import Verdict


def rejects_violation(
    peer: Peer,
    channel: int = 0,
    *,
    barrier: bool = True,
    row: str = "",
    within_s: float | None = None,
) -> Verdict:
    """The violation that was sent last is refused with the code and at the scope that the row states.

    ``row`` names another covered row than the first; ``barrier`` and ``within_s`` go to ``Peer.reaction``.
    """
    return judge_reaction(peer, peer.reaction(channel, barrier=barrier, within_s=within_s), row)


def rejects(peer: Peer, command: str, /, **args: Any) -> Verdict:
    """A command on channel 0 that violates the row is refused; see ``rejects_violation``."""
    peer.send(command, **args)
    return rejects_violation(peer)


def allows(peer: Peer, channel: int = 0, row: str = "") -> Verdict:
    """What was sent last is not refused: a barrier after it on the same channel is answered."""
    reaction = peer.reaction(channel)
    last = reaction.arrivals[-1]
    done = isinstance(last, AssemblyArrived) and last.name == "session.completed" and reaction.refusal is None
    return holds(peer, done, reaction, peer.claimed or "no exception", row)


def well_formed(peer: Peer, row: str = "") -> Verdict:
    """What the target has sent so far is what the tables permit."""
    return as_permitted(peer, peer.problems, row)
