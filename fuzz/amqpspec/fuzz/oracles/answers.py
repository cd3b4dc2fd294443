"""Oracles over single answers: the refusal that the ledger demands, answers that are astray, or not given.

Knows: expectations, results. Must not know: processes, logs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from amqpspec.fuzz.executor.result import InputResult
from amqpspec.fuzz.judge.expectation import Expectation
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.spec.dialects import load_dialect, widest
from amqpspec.spec.model import Refusal


def keeps(expected: Expectation, actual: Refusal | None) -> bool:
    """Whether the ledger accepts or tolerates a refusal."""
    among = (*expected.accepts, *expected.tolerates)
    return actual is not None and any(
        actual.scope is row.scope and (row.code is None or row.code == actual.code) for row in among
    )


def deviates(result: InputResult) -> bool:
    """Whether an input that has to be refused was not, or not in the way that the ledger requires."""
    expected = result.item.expectation
    if not expected.must_refuse or not result.reached or result.why:
        return False
    return not keeps(expected, result.refusal)


def conformance(results: Iterable[InputResult]) -> Iterator[Suspicion]:
    """Yield a suspicion for each kind of answer that violates the ledger."""
    for result in results:
        if deviates(result):
            expected = result.item.expectation
            dialect = load_dialect(widest(result.item.dialect))
            wanted = " or ".join(refusal.describe(dialect) for refusal in expected.accepts)
            top = f"{expected.requirement}: {result.reaction}"
            detail = f"{expected.requirement}: expected {wanted}, actual {result.reaction}"
            yield Suspicion(Oracle.CONFORMANCE, top, detail, (result.item.id,))


def obedience(results: Iterable[InputResult]) -> Iterator[Suspicion]:
    """Yield a suspicion for each kind of target that accepted an input and then no longer obeyed legal requests."""
    by_top: dict[str, list[InputResult]] = {}
    for result in results:
        if result.disobeys:
            asked = result.disobeys.partition(" on channel")[0].partition(",")[0]
            by_top.setdefault(f"{result.obedience}: {asked}", []).append(result)
    for top, found in by_top.items():
        yield Suspicion(Oracle.OBEDIENCE, top, found[0].disobeys, tuple(o.item.id for o in found))


def astray(results: Iterable[InputResult]) -> Iterator[Suspicion]:
    """Yield a suspicion of all inputs during which something arrived on a channel that was not in use."""
    found = [result for result in results if result.astray]
    if found:
        detail = f"expected answers on channels in use, actual {found[0].astray}"
        yield Suspicion(
            Oracle.LEAK, "answer on a channel that was not used", detail, tuple(o.item.id for o in found)
        )
