"""The reaction of a target in a case, in a form that the lake can compare between targets.

Knows: the facts of a row. Must not know: sentences, cases, brokers, the lake.

The sentences of a case contain names of queues, texts of errors, tags and payloads, which differ between any two
targets without meaning. The facts contain what can be equal: the chosen way, scope and code of a refusal, the kinds
of arrivals. The verdict comes first, so that targets with different verdicts have different reactions. FIN and RST
are not part of it, because no specification requires either and brokers differ; ``end_state`` has them. A case that
was not judged has no reaction.
"""

from __future__ import annotations

from amqpspec.record.rows import CaseRow, Facts, Outcome

_WITHOUT = frozenset({
    Outcome.NOT_APPLICABLE, Outcome.EXCLUDED, Outcome.BLOCKED, Outcome.INCONCLUSIVE, Outcome.ERROR,
})  # fmt: skip
_LONGEST = 300


def case_reaction(case: CaseRow) -> str | None:
    """Verdict and facts in one line; None if the case was not judged."""
    if case.verdict in _WITHOUT:
        return None
    return ": ".join(filter(None, (case.verdict.value, _words(case.facts))))[:_LONGEST]


def arrivals_in_words(facts: Facts) -> str:
    """The arrivals, in order."""
    return ", then ".join(facts.arrivals)


def _words(facts: Facts) -> str:
    refusal = (
        ""
        if facts.refusal is None
        else f"refusal at {facts.refusal.scope}, code {facts.refusal.code or 'none'}"
    )
    return "; ".join(filter(None, (facts.way, refusal, arrivals_in_words(facts))))
