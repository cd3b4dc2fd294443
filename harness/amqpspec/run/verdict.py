"""A verdict: what was expected, what was observed, and the outcome; as sentences, and as data.

Knows: outcomes, facts of arrivals. Must not know: how a case reached it. The transcript is the third part of the
evidence; the runner attaches it to every verdict.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from amqpspec.peer.events import Arrival, Reaction
from amqpspec.record.rows import NO_FACTS, BlockedBy, Facts, Outcome

Seen = Arrival | Reaction
"""What an oracle looks at."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a case says: an outcome never comes without what was expected and what was observed.

    ``facts`` hold what was observed if it is more than a sentence, ``blocked_by`` why nothing was judged.
    """

    outcome: Outcome
    expected: str
    observed: str
    facts: Facts = NO_FACTS
    blocked_by: BlockedBy | None = None

    def __post_init__(self) -> None:
        if not self.expected or not self.observed:
            raise ValueError("expected a verdict with both expected and observed, actual: one is empty")


def by_time(verdict: Verdict, quiet_s: float, slowest_s: float) -> Verdict:
    """A verdict in which only the wait shows that something did not arrive says how long the case waited, and why."""
    if not quiet_s:
        return verdict
    quiet_s, facts = round(quiet_s, 3), replace(verdict.facts, quiet_s=round(quiet_s, 3))
    if verdict.outcome is Outcome.OBSERVED:  # which holds nothing that differs from run to run
        return replace(verdict, facts=facts)
    said = f"nothing more within {quiet_s:.1f} s, the slowest answer took {slowest_s:.1f} s"
    return replace(verdict, observed=f"{verdict.observed}; {said}", facts=facts)


def facts_of(seen: Seen | None, way: str = "") -> Facts:
    """What was seen as data, and the way that the target chose."""
    if seen is None:
        return Facts(way=way)
    arrivals = seen.arrivals if isinstance(seen, Reaction) else (seen,)
    return Facts(seen.refusal, tuple(arrival.kind for arrival in arrivals), way)
