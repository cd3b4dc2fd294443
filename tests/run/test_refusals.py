"""What a target answers is never an error of the harness: each case, each answer, each legal refusal in its place.

``python -m tests.run.test_refusals DIALECT [EVERY [CASE ...]]`` drives every EVERY-th of them, all if nothing is
said, and prints those that end in an error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.case import Case, load_suite
from amqpspec.run.memory import Conditions, judged_in_memory
from amqpspec.run.verdict import Verdict
from amqpspec.spec.dialects import widest
from tests.run.refusing import FAMILIES, Plan

_SAMPLE = 300
_UNTIMED = ("histories.",)
"""Cases that search for seconds: too dear for this many runs."""


def drive(case: Case, plan: Plan) -> Verdict:
    """Run a case against a target that follows a plan."""
    meddling = partial(FAMILIES[case.dialect], widest(case.dialect), plan)
    return judged_in_memory(case, Conditions(meddle=meddling, limit_s=5.0, calls=20_000))


def plans(case: Case) -> Iterator[Plan]:
    """Every answer of the clean broker with every refusal that is legal there."""
    seen = Plan()
    drive(case, seen)
    for at, kinds in enumerate(seen.steps):
        for kind in kinds:
            yield Plan(kind, at)


def cases(dialect: str) -> list[Case]:
    return [case for case in load_suite(dialect).values() if not case.id.startswith(_UNTIMED)]


def errors(driven: Iterable[tuple[Case, Plan]]) -> Iterator[str]:
    """Those that end in an error of the harness."""
    for case, plan in driven:
        verdict = drive(case, plan)
        if verdict.outcome is Outcome.ERROR:
            yield f"{case.id}: {plan.kind} at answer {plan.at}: {verdict.observed}"


@pytest.mark.parametrize("dialect", sorted(FAMILIES))
def test_no_refusal_is_an_error_of_ours(dialect: str) -> None:
    every = [(case, plan) for case in cases(dialect) for plan in plans(case)]
    # A stride that is prime to what repeats, so that a sample meets each case, each step and each kind.
    assert not list(errors(every[:: max(1, len(every) // _SAMPLE)]))


@pytest.mark.parametrize("kind", ["end", "end-bare", "close", "detach-open", "unattached", "fin"])
def test_links_that_are_not_recovered(kind: str) -> None:
    case = load_suite("amqp-1-0")["links.recovering.full-state"]
    assert not list(errors((case, plan) for plan in plans(case) if plan.kind == kind))


if __name__ == "__main__":
    dialect, stride, chosen = sys.argv[1], int((sys.argv[2:] or ["1"])[0]), sys.argv[3:]
    every = [
        (case, plan) for case in cases(dialect) if not chosen or case.id in chosen for plan in plans(case)
    ]
    print(f"{dialect}: {len(every[::stride])} of {len(every)} refusals", flush=True)
    for error in errors(every[::stride]):
        print(error, flush=True)
