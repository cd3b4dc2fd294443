"""What a target did in a case, as two targets have it in common: the reaction that the lake compares.

Knows: the facts of a row. Must not know: sentences, cases, brokers, the lake.

A case's sentences are written for one reader of one run: names of queues, texts of errors, tags and payloads stand in
them, which differ between any two targets and mean nothing. Facts hold what two targets can have in common: the way
that was chosen, scope and code of a refusal, the kinds of what arrived. The verdict stands in front, so that two
targets that were judged otherwise did not react alike. How TCP ended (FIN or RST) is no part of it: no specification
asks for one or the other, and brokers differ in it all the time; ``end_state`` has it. A case that was never judged has
no reaction: nothing follows from it.
"""

from __future__ import annotations

from amqpspec.record.rows import CaseRow, Facts, Outcome

_WITHOUT = frozenset({
    Outcome.NOT_APPLICABLE, Outcome.EXCLUDED, Outcome.BLOCKED, Outcome.INCONCLUSIVE, Outcome.ERROR,
})  # fmt: skip
_LONGEST = 300


def case_reaction(case: CaseRow) -> str | None:
    """Verdict and facts in one line; None where nothing was judged."""
    if case.verdict in _WITHOUT:
        return None
    return ": ".join(filter(None, (case.verdict.value, _words(case.facts))))[:_LONGEST]


def arrivals_in_words(facts: Facts) -> str:
    """What arrived, in order."""
    return ", then ".join(facts.arrivals)


def _words(facts: Facts) -> str:
    refusal = (
        ""
        if facts.refusal is None
        else f"refusal at {facts.refusal.scope}, code {facts.refusal.code or 'none'}"
    )
    return "; ".join(filter(None, (facts.way, refusal, arrivals_in_words(facts))))
