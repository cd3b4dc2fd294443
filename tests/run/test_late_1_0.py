"""Absence in AMQP 1.0: on a broker that says by itself what it says 0.2 s after its cause, no verdict is another.

The pairs below are deviations that a late broker shows only after the round trips of a case are over: without
accounting, each of these cases passed.
"""

from __future__ import annotations

import pytest

from amqpspec.record.rows import Outcome
from amqpspec.run.case import Case, load_suite
from amqpspec.run.memory import Conditions, judged_in_memory
from amqpspec.run.verdict import Verdict
from amqpspec.spec.amqp_1_0 import HEADERS
from amqpspec.spec.model import Refusal, Scope
from amqpspec.suites.amqp_1_0._headers import answer_to, first_header
from amqpspec.wire.transport import StreamEnd
from tests.peer.amqp_1_0.fake import peer

_DIALECT, _LATE_S = "amqp-1-0", 0.2
_GOOD = (Outcome.PASS, Outcome.OBSERVED)
_ESCAPED = """
incoming-window-of-partner-ignored  sessions.flow.incoming-window.zero
window-without-the-formula          sessions.flow.window-formula.below-zero
unset-next-incoming-id-is-now       sessions.flow.window-without-next-incoming-id
old-credit-kept                     detach.closed
link-begins-with-credit             links.flow.no-credit
unset-delivery-count-is-now         links.flow.count-unspecified
credit-not-used-up                  flow.link-credit.sender.used
settled-deliveries-disposed-of      definitions.snd-settle-mode.mixed.one-octet
settlement-by-receiver-ignored      transfers.receiver-first
settlement-by-receiver-ignored      disposition.settled
"""


def drive(case: Case, *faults: str) -> Verdict:
    return judged_in_memory(case, Conditions(faults, _LATE_S))


def test_no_case_fails_a_late_broker() -> None:
    cases = [case for case in load_suite(_DIALECT).values() if not case.id.startswith("histories.")]
    verdicts = {case.id: drive(case) for case in cases}
    assert not {id: verdict for id, verdict in verdicts.items() if verdict.outcome not in _GOOD}


@pytest.mark.parametrize("pair", _ESCAPED.split("\n")[1:-1])
def test_no_case_passes_a_late_deviation(pair: str) -> None:
    fault, id = pair.split()
    case = load_suite(_DIALECT)[id]
    clean, broken = drive(case), drive(case, fault)
    assert clean.outcome in _GOOD
    assert (broken.outcome, broken.observed) != (clean.outcome, clean.observed)


@pytest.mark.parametrize(
    ("script", "refusal"),
    [
        ((HEADERS["amqp"], StreamEnd.FIN), Refusal(Scope.HEADER)),
        ((HEADERS["amqp"], None, StreamEnd.FIN), None),
        ((None, HEADERS["amqp"], StreamEnd.FIN), None),
        ((None, HEADERS["amqp"], None), None),
    ],
    ids=["ends", "ends-at-a-second-header", "passes-over-it-and-ends-by-a-time-limit", "passes-over-it"],
)
def test_only_an_end_that_nothing_else_explains_refuses_a_header(
    script: tuple[bytes | StreamEnd | None, ...], refusal: Refusal | None
) -> None:
    made, _ = peer(*script)
    made.connect()
    assert answer_to(made, first_header(made, minor=1)).refusal == refusal
