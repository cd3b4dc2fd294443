"""Oracles for peers of AMQP/Fast, in addition to the neutral ones of ``amqpspec.run.oracles``.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from dataclasses import replace

from amqpspec.peer.amqp_fast_0_8.peer import Peer
from amqpspec.peer.amqp_fast_0_8.watching import Barrier
from amqpspec.peer.events import Arrival, Passed, Reaction
from amqpspec.peer.line import Line
from amqpspec.record.rows import Outcome
from amqpspec.run.oracles import holds, requirement_of, verdict_on
from amqpspec.run.oracles import judge_reaction as _judge_reaction
from amqpspec.run.verdict import Verdict
from amqpspec.spec.amqp_fast_0_8 import DIALECT

_INTERNAL_ERROR = next(code.value for code in DIALECT.reply_codes if code.name == "internal-error")


def judge_reaction(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """Like the neutral oracle; where any code will do, 541 will not.

    By it a target says that it has failed itself: the violation was not refused, it broke something.
    """
    if reaction.code == _INTERNAL_ERROR:
        return verdict_on(
            peer, Outcome.FAIL, "a refusal that does not call the target itself broken", reaction
        )
    return _judge_reaction(peer, reaction, row)


def rejects_violation(
    peer: Peer, channel: int = 1, handle: int = 1, *, barrier: Barrier = "channel", row: str = ""
) -> Verdict:
    """The violation that was sent last is refused with the code and on the level that the row states.

    Before OPEN, the target has to refuse it in place of the next step: an end after that is one of impatience.
    """
    reaction = peer.reaction(channel, handle, barrier=barrier)
    steps = [] if peer.is_open else _steps_taken(peer)
    if steps:
        return verdict_on(peer, Outcome.FAIL, "a refusal", Reaction((*steps, *reaction.arrivals)))
    return judge_reaction(peer, reaction, row)


def _steps_taken(peer: Peer) -> list[Arrival]:
    """Steps of the login that no one has waited for; a further CHALLENGE asks the last question again."""
    challenges = sum(frame.name == "connection.challenge" for frame in peer.listener.frames)
    kinds = ["connection.tune", "connection.reply 2"]
    if challenges == 1:
        kinds.append("connection.challenge")
    return peer.stashed(lambda arrival: arrival.kind.startswith(tuple(kinds)))


def allows(
    peer: Peer, channel: int = 1, handle: int = 1, *, barrier: Barrier = "channel", row: str = ""
) -> Verdict:
    """What was sent last is not refused: a barrier after it is answered."""
    reaction = peer.reaction(channel, handle, barrier=barrier)
    done = isinstance(reaction.arrivals[-1], Passed)
    return holds(peer, done, reaction, peer.claimed or "no refusal", row)


def borne(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """A breach that the target may refuse or bear with: which of them is recorded, a refusal has to be the row's."""
    if reaction.refusal is not None:
        verdict = judge_reaction(peer, reaction, row)
        return replace(verdict, outcome=Outcome.OBSERVED) if verdict.outcome is Outcome.PASS else verdict
    names = " or ".join(refusal.describe(peer.dialect) for refusal in requirement_of(peer, row).accepts)
    if not isinstance(reaction.arrivals[-1], Passed):
        return verdict_on(peer, Outcome.FAIL, f"no refusal, or {names}", reaction)
    return verdict_on(peer, Outcome.OBSERVED, peer.claimed or f"no refusal, or {names}", reaction)
