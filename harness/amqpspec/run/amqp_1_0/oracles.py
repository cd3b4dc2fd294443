"""Oracles for peers of AMQP 1.0: what ``amqpspec.run.oracles`` is to the 0-9 family.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from amqpspec.peer.amqp_1_0.arrivals import Passed, refusal_of
from amqpspec.peer.amqp_1_0.books import Delivery, FrameArrived, Link, Outgoing
from amqpspec.peer.amqp_1_0.peer import Peer
from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Reaction
from amqpspec.peer.line import Line
from amqpspec.record.rows import Outcome
from amqpspec.run.oracles import holds, judge_reaction, requirement_of, verdict_on
from amqpspec.run.verdict import Verdict, facts_of
from amqpspec.spec.model import Refusal

_SHOWN_PROBLEMS = 3


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


def judge_arrival(peer: Peer, arrival: Arrival, row: str = "") -> Verdict:
    """What came in place of something that was owed, against the refusals that the row accepts and tolerates."""
    return judge_reaction(peer, Reaction((arrival,), *refusal_of((arrival,))), row)


def borne(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """A breach that the target may refuse or bear with: which of them is recorded, a refusal has to be the row's."""
    if reaction.refusal is not None or reaction.closing is not None:
        verdict = judge_reaction(peer, reaction, row)
        return replace(verdict, outcome=Outcome.OBSERVED) if verdict.outcome is Outcome.PASS else verdict
    expected = peer.claimed or f"no refusal, or {_refusals(peer, row)}"
    return verdict_on(peer, Outcome.OBSERVED, expected, reaction)


def without_effect(peer: Line, reaction: Reaction, effect: str = "", row: str = "") -> Verdict:
    """A breach that the target has to refuse or to pass over; ``effect`` tells what came of it, where anything did."""
    if reaction.refusal is not None or reaction.closing is not None:
        return judge_reaction(peer, reaction, row)
    expected = peer.claimed or f"no effect, or {_refusals(peer, row)}"
    if effect:
        return holds(peer, False, effect, expected, row, reaction)
    observed = f"{reaction.describe(peer.dialect)}, and no effect"
    return Verdict(Outcome.OBSERVED, expected, observed, facts_of(reaction))


def allows(peer: Peer, channel: int = 0, link: Link | None = None, row: str = "") -> Verdict:
    """What was sent last is not refused: a barrier behind it is answered."""
    reaction = peer.reaction(channel, link=link)
    done = isinstance(reaction.arrivals[-1], Passed) and reaction.refusal is None and reaction.closing is None
    return holds(peer, done, reaction, peer.claimed or "no refusal", row)


def well_formed(peer: Peer, *arrivals: FrameArrived, row: str = "") -> Verdict:
    """The values in these frames, in all frames of the target where none are named, are what the tables permit."""
    problems = [p for a in arrivals for p in a.frame.problems] if arrivals else peer.problems
    observed = "; ".join(str(problem) for problem in problems[:_SHOWN_PROBLEMS]) or "as the tables permit"
    return holds(peer, not problems, observed, peer.claimed or "values as the tables permit", row)


def must_refuse(peer: Peer, reaction: Reaction) -> Reaction:
    """A prerequisite: the reaction is a refusal of any kind, else raises Unmet."""
    if reaction.refusal is None and reaction.closing is None:
        raise Unmet("a refusal", reaction.describe(peer.dialect), reaction)
    return reaction


def _refusals(peer: Line, row: str) -> str:
    accepted: Iterable[Refusal] = requirement_of(peer, row).accepts
    return " or ".join(refusal.describe(peer.dialect) for refusal in accepted) or "a refusal"
