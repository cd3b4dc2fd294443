"""Oracles over single answers: the refusal that the ledger demands, answers that are late, astray, or not given.

Knows: expectations, outcomes. Must not know: processes, logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amqpspec.fuzz.executor.outcome import Outcome
from amqpspec.fuzz.judge.expectation import Expectation
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.spec.dialects import load_dialect, widest
from amqpspec.spec.model import Refusal

LATE_FACTOR = 12


def keeps(expected: Expectation, actual: Refusal | None) -> bool:
    """Whether a refusal is one that the ledger accepts or tolerates."""
    among = (*expected.accepts, *expected.tolerates)
    return actual is not None and any(
        actual.scope is row.scope and (row.code is None or row.code == actual.code) for row in among
    )


def deviates(outcome: Outcome) -> bool:
    """Whether an input that had to be refused was not, or otherwise than the ledger lays down."""
    expected = outcome.item.expectation
    if not expected.must_refuse or not outcome.reached or outcome.why:
        return False
    return not keeps(expected, outcome.refusal)


def conformance(outcomes: Iterable[Outcome]) -> Iterator[Suspicion]:
    """A suspicion for each answer that breaks the ledger."""
    for outcome in outcomes:
        if deviates(outcome):
            expected = outcome.item.expectation
            dialect = load_dialect(widest(outcome.item.dialect))
            wanted = " or ".join(refusal.describe(dialect) for refusal in expected.accepts)
            top = f"{expected.requirement}: {outcome.reaction}"
            detail = f"{expected.requirement}: expected {wanted}, actual {outcome.reaction}"
            yield Suspicion(Oracle.CONFORMANCE, top, detail, (outcome.item.id,))


def obedience(outcomes: Iterable[Outcome]) -> Iterator[Suspicion]:
    """A suspicion for each kind of target that took an input and then no longer did what it was legally asked."""
    by_top: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        if outcome.disobeys:
            asked = outcome.disobeys.partition(" on channel")[0].partition(",")[0]
            by_top.setdefault(f"{outcome.obedience}: {asked}", []).append(outcome)
    for top, found in by_top.items():
        yield Suspicion(Oracle.OBEDIENCE, top, found[0].disobeys, tuple(o.item.id for o in found))


def astray(outcomes: Iterable[Outcome]) -> Iterator[Suspicion]:
    """A suspicion of all inputs during which something came on a channel that their connection had not used."""
    found = [outcome for outcome in outcomes if outcome.astray]
    if found:
        detail = f"expected answers on channels in use, actual {found[0].astray}"
        yield Suspicion(
            Oracle.LEAK, "answer on a channel that was not used", detail, tuple(o.item.id for o in found)
        )


def late(outcomes: Iterable[Outcome], limit_s: float) -> Iterator[Suspicion]:
    """The slowest first answer beyond the limit, suspected of all inputs that had to wait so long."""
    slow = [o for o in outcomes if (o.timing.latency_s or 0.0) > limit_s or o.timing.slowest_step_s > limit_s]
    if slow:
        worst_s = max(max(o.timing.latency_s or 0.0, o.timing.slowest_step_s) for o in slow)
        slow.sort(key=lambda o: -(o.timing.latency_s or 0.0))
        detail = f"expected an answer within {limit_s:.2f} s, actual {worst_s:.2f} s"
        yield Suspicion(Oracle.LATE, "late answer", detail, tuple(o.item.id for o in slow))
