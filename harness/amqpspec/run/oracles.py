"""Oracles: from what a target did to a verdict, by the requirement row that the case names first.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended, Quiet, Reaction
from amqpspec.peer.line import Line
from amqpspec.record.rows import BlockedBy, Outcome
from amqpspec.run.verdict import Seen, Verdict, facts_of
from amqpspec.spec.model import Level, Refusal, Requirement
from amqpspec.wire.transport import StreamEnded

_SHOWN_PROBLEMS = 3


def judge_reaction(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """A reaction that was already watched, against the refusals that the row accepts and tolerates."""
    requirement = requirement_of(peer, row)
    dialect = peer.dialect
    expected = " or ".join(refusal.describe(dialect) for refusal in requirement.accepts)
    expected = expected or peer.claimed or requirement.paraphrase
    return verdict_on(peer, graded(requirement, reaction.refusal), expected, reaction)


def graded(requirement: Requirement, refusal: Refusal | None) -> Outcome:
    """The outcome of a refusal, or None, by a row: one that it accepts, one that it tolerates, or a deviation."""
    if _among(refusal, requirement.accepts):
        return Outcome.PASS
    return Outcome.NONSTRICT if _among(refusal, requirement.tolerates) else broken(requirement)


def judge_arrival(peer: Line, arrival: Arrival, row: str = "") -> Verdict:
    """What came in place of something that was owed, against the refusals that the row accepts and tolerates."""
    return judge_reaction(peer, peer.reaction_of([arrival]), row)


def verdict_on(peer: Line, outcome: Outcome, expected: str, seen: Seen) -> Verdict:
    """An outcome with what was seen, as text and as data."""
    return Verdict(outcome, expected, seen.describe(peer.dialect), facts_of(seen))


def requirement_of(peer: Line, row: str = "") -> Requirement:
    """The row a case is judged by: the named one, else the first that it covers."""
    return next(r for r in peer.context.requirements if not row or r.id == row)


def holds(
    peer: Line,
    condition: bool,
    observed: str | Seen,
    expected: str = "",
    row: str = "",
    seen: Seen | None = None,
) -> Verdict:
    """Pass where the condition holds, else a deviation as strong as the row; ``expected`` defaults to the claim.

    ``observed`` is what was seen, or a sentence; with a sentence, ``seen`` is the part of it that is data.
    """
    outcome = Outcome.PASS if condition else broken(requirement_of(peer, row))
    expected = expected or peer.claimed or requirement_of(peer, row).paraphrase
    if isinstance(observed, str):
        return Verdict(outcome, expected, observed, facts_of(seen))
    return verdict_on(peer, outcome, expected, observed)


def as_permitted(peer: Line, problems: Sequence[object], row: str = "") -> Verdict:
    """Pass where a target's frames have no problems: their values are what the tables permit."""
    observed = "; ".join(map(str, problems[:_SHOWN_PROBLEMS])) or "as the tables permit"
    return holds(peer, not problems, observed, peer.claimed or "values as the tables permit", row)


def equals(peer: Line, actual: Any, wanted: Any, what: str = "value", row: str = "") -> Verdict:
    """Pass where a value is the wanted one."""
    return holds(peer, actual == wanted, f"{what} {actual!r}", f"{what} {wanted!r}", row)


def observed_either_way(peer: Line, way: str, seen: Seen | None = None, observed: str = "") -> Verdict:
    """A MAY: record which way the target went, and by what it showed that, if by anything; both are conforming.

    ``way`` holds nothing that differs from run to run; ``observed`` is a sentence where ``way: seen`` is none.
    """
    expected = peer.claimed or requirement_of(peer).paraphrase
    parts = [way, *([seen.describe(peer.dialect)] if seen is not None else [])]
    return Verdict(
        Outcome.OBSERVED, expected, observed or ": ".join(filter(None, parts)), facts_of(seen, way)
    )


def ends_connection(peer: Line, arrival: Arrival, row: str = "") -> Verdict:
    """The target ended the connection by itself."""
    return holds(
        peer,
        isinstance(arrival, Ended),
        arrival,
        "the target closes the connection",
        row,
    )


def borne(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """A breach that the target may refuse or bear with: which of them is recorded, a refusal has to be the row's."""
    if reaction.refusal is not None or reaction.closing is not None:
        verdict = judge_reaction(peer, reaction, row)
        return replace(verdict, outcome=Outcome.OBSERVED) if verdict.outcome is Outcome.PASS else verdict
    expected = peer.claimed or f"no refusal, or {_named(peer, row)}"
    return verdict_on(peer, Outcome.OBSERVED, expected, reaction)


def borne_aloud(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """Like ``borne``, for a reaction that ends with an answer owed in any case: silence in its place is a failure."""
    if reaction.arrivals and isinstance(reaction.arrivals[-1], Quiet):
        expected = peer.claimed or f"an answer to what follows, or {_named(peer, row)}"
        return verdict_on(peer, Outcome.FAIL, expected, reaction)
    return borne(peer, reaction, row)


def without_effect(peer: Line, reaction: Reaction, effect: str = "", row: str = "") -> Verdict:
    """A breach that the target has to refuse or to pass over; ``effect`` tells the result, where anything did."""
    if reaction.refusal is not None or reaction.closing is not None:
        return judge_reaction(peer, reaction, row)
    expected = peer.claimed or f"no effect, or {_named(peer, row)}"
    if effect:
        return holds(peer, False, effect, expected, row, reaction)
    observed = f"{reaction.describe(peer.dialect)}, and no effect"
    return Verdict(Outcome.OBSERVED, expected, observed, facts_of(reaction))


def lives_on(peer: Any, reaction: Reaction) -> Verdict:
    """The target still opens connections, whatever it did about what was sent last; checks twice."""
    expected, observed = peer.claimed or "the target continues to run", reaction.describe(peer.dialect)
    try:
        for _ in range(2):
            peer.another().open_connection()
    except (Unmet, StreamEnded) as gone:
        observed = f"{observed}; then no other connection could be opened: {gone}"
        return Verdict(Outcome.FAIL, expected, observed, facts_of(reaction))
    return Verdict(
        Outcome.PASS, expected, f"{observed}; then other connections were opened", facts_of(reaction)
    )


def does_not_apply(peer: Line, why: str) -> Verdict:
    """What the case is about is an option that this target does not offer, as it says itself."""
    expected = peer.claimed or requirement_of(peer).paraphrase
    return Verdict(Outcome.NOT_APPLICABLE, expected, why, blocked_by=BlockedBy.PROFILE)


_ORDER = (Outcome.PASS, Outcome.OBSERVED, Outcome.NONSTRICT, Outcome.INCONCLUSIVE, Outcome.FAIL)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several verdicts the first of the worst; for cases that try the same thing at several places."""
    return max(verdicts, key=lambda verdict: _ORDER.index(verdict.outcome))


def best(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several verdicts the first of the best; for answers that more than one row allows."""
    return min(verdicts, key=lambda verdict: _ORDER.index(verdict.outcome))


def must_refuse(peer: Line, reaction: Reaction) -> Reaction:
    """A prerequisite: the reaction is a refusal of any kind, else raises Unmet."""
    if reaction.refusal is None:
        raise Unmet("a refusal", reaction.describe(peer.dialect), reaction)
    return reaction


def _named(peer: Line, row: str) -> str:
    """The refusals that a row accepts, as text."""
    accepted = requirement_of(peer, row).accepts
    return " or ".join(refusal.describe(peer.dialect) for refusal in accepted) or "a refusal"


def _among(refusal: Refusal | None, rows: Iterable[Refusal]) -> bool:
    return refusal is not None and any(
        refusal.scope is row.scope and (row.code is None or row.code == refusal.code) for row in rows
    )


def broken(requirement: Requirement) -> Outcome:
    """The outcome of a deviation from a row."""
    return Outcome.NONSTRICT if requirement.level is Level.SHOULD else Outcome.FAIL


def outlived(peer: Any, verdict: Verdict, witness: Callable[[], object] | None = None) -> Verdict:
    """The verdict on hostile octets, unless the target is gone: then no other connection can be opened.

    ``witness`` asks something on a connection that was open before, and raises Unmet without an answer: a target that
    blocks new connections of a hostile client still serves that one.
    """
    with suppress(Unmet, StreamEnded):
        if witness is not None:
            witness()
            return verdict
    try:
        for _ in range(2):
            peer.another().open_connection()
    except (Unmet, StreamEnded) as gone:
        observed = f"{verdict.observed}; then no other connection could be opened: {gone}"
        expected = f"{verdict.expected}; the target continues to run"
        return replace(verdict, outcome=Outcome.FAIL, expected=expected, observed=observed)
    return verdict
