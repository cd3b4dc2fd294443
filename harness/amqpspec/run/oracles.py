"""Oracles: from what a target did to a verdict, by the requirement row that the case names first.

Knows: rows, reactions, verdicts. Must not know: single cases, targets' names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Arrival, Ended, Reaction
from amqpspec.peer.line import Line
from amqpspec.record.rows import Outcome
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Level, Refusal, Requirement
from amqpspec.wire.transport import StreamEnded


def judge_reaction(peer: Line, reaction: Reaction, row: str = "") -> Verdict:
    """A reaction that was already watched, against the refusals that the row accepts and tolerates."""
    requirement = requirement_of(peer, row)
    dialect = peer.dialect
    expected = " or ".join(refusal.describe(dialect) for refusal in requirement.accepts)
    expected = expected or peer.claimed or requirement.paraphrase
    observed = reaction.describe(dialect)
    if _among(reaction.refusal, requirement.accepts):
        return Verdict(Outcome.PASS, expected, observed)
    if _among(reaction.refusal, requirement.tolerates):
        return Verdict(Outcome.NONSTRICT, expected, observed)
    return Verdict(_broken(requirement), expected, observed)


def requirement_of(peer: Line, row: str = "") -> Requirement:
    """The row a case is judged by: the named one, else the first that it covers."""
    return next(r for r in peer.context.requirements if not row or r.id == row)


def holds(peer: Line, condition: bool, observed: str, expected: str = "", row: str = "") -> Verdict:
    """Pass where the condition holds, else a deviation as strong as the row; ``expected`` defaults to the claim."""
    outcome = Outcome.PASS if condition else _broken(requirement_of(peer, row))
    return Verdict(outcome, expected or peer.claimed or requirement_of(peer, row).paraphrase, observed)


def equals(peer: Line, actual: Any, wanted: Any, what: str = "value", row: str = "") -> Verdict:
    """Pass where a value is the wanted one."""
    return holds(peer, actual == wanted, f"{what} {actual!r}", f"{what} {wanted!r}", row)


def observed_either_way(peer: Line, way: str) -> Verdict:
    """A MAY: record which way the target went; both are conforming."""
    return Verdict(Outcome.OBSERVED, peer.claimed or requirement_of(peer).paraphrase, way)


def ends_connection(peer: Line, arrival: Arrival, row: str = "") -> Verdict:
    """The target ended the connection by itself."""
    return holds(
        peer,
        isinstance(arrival, Ended),
        arrival.describe(peer.dialect),
        "the target closes the connection",
        row,
    )


def lives_on(peer: Any, reaction: Reaction) -> Verdict:
    """The target still opens connections, whatever it did about what was sent last; looked at twice."""
    expected, observed = peer.claimed or "the target lives on", reaction.describe(peer.dialect)
    try:
        for _ in range(2):
            peer.another().open_connection()
    except (Unmet, StreamEnded) as gone:
        return Verdict(
            Outcome.FAIL, expected, f"{observed}; then no other connection could be opened: {gone}"
        )
    return Verdict(Outcome.PASS, expected, f"{observed}; then other connections were opened")


def does_not_apply(peer: Line, why: str) -> Verdict:
    """What the case is about is an option that this target does not offer, as it says itself."""
    return Verdict(Outcome.NOT_APPLICABLE, peer.claimed or requirement_of(peer).paraphrase, why)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Of several verdicts the first of the worst; for cases that try the same thing at several places."""
    order = (Outcome.PASS, Outcome.OBSERVED, Outcome.NONSTRICT, Outcome.INCONCLUSIVE, Outcome.FAIL)
    return max(verdicts, key=lambda verdict: order.index(verdict.outcome))


def must_refuse(peer: Line, reaction: Reaction) -> Reaction:
    """A prerequisite: the reaction is a refusal of any kind, else raises Unmet."""
    if reaction.refusal is None:
        raise Unmet("a refusal", reaction.describe(peer.dialect))
    return reaction


def _among(refusal: Refusal | None, rows: Iterable[Refusal]) -> bool:
    return refusal is not None and any(
        refusal.scope is row.scope and (row.code is None or row.code == refusal.code) for row in rows
    )


def _broken(requirement: Requirement) -> Outcome:
    return Outcome.NONSTRICT if requirement.level is Level.SHOULD else Outcome.FAIL
