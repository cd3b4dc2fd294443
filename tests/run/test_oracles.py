"""From a reaction to a verdict, by the row: what is accepted, what is tolerated, how strongly it binds."""

from __future__ import annotations

import pytest

from amqpspec.peer.context import Unmet
from amqpspec.peer.events import Ended, Quiet, Reaction
from amqpspec.peer.methods.arrivals import refusal_of
from amqpspec.peer.methods.peer import Peer
from amqpspec.record.rows import Facts, Outcome
from amqpspec.run import oracles
from amqpspec.run.methods import oracles as methods_oracles
from amqpspec.run.verdict import Verdict
from amqpspec.spec.model import Level, Refusal, Requirement, Scope
from amqpspec.wire.transport import StreamEnd
from tests.peer.fake import BARRIER, FakeTransport, Said, closing, context, method

NOT_FOUND, ACCESS = Refusal(Scope.CHANNEL, 404), Refusal(Scope.CHANNEL, 403)
MUST = Requirement(
    "a/must", Level.MUST, "server", "a.b", "it is refused", accepts=(NOT_FOUND,), tolerates=(ACCESS,)
)
SHOULD = Requirement("a/should", Level.SHOULD, "server", "a.b", "it should hold")
ANY_CODE = Requirement("a/any", Level.MUST, "server", "a.b", "it ends", accepts=(Refusal(Scope.CONNECTION),))


def peer(*script: Said, rows: tuple[Requirement, ...] = (MUST, SHOULD, ANY_CODE)) -> Peer:
    return Peer(context(FakeTransport(*script), requirements=rows))


@pytest.mark.parametrize(
    ("script", "row", "outcome"),
    [
        ((closing("channel", 404),), "", Outcome.PASS),
        ((closing("channel", 403),), "", Outcome.NONSTRICT),
        ((closing("channel", 406),), "", Outcome.FAIL),
        ((closing("connection", 404), StreamEnd.FIN), "", Outcome.FAIL),
        ((StreamEnd.RST,), "", Outcome.FAIL),
        ((None, BARRIER), "", Outcome.FAIL),
        ((None, None), "", Outcome.FAIL),
        ((None, BARRIER), "a/should", Outcome.NONSTRICT),
        ((closing("connection", 320), StreamEnd.FIN), "a/any", Outcome.PASS),
        ((closing("connection", 999), StreamEnd.RST), "a/any", Outcome.PASS),
    ],
)
def test_a_violation_is_rejected_as_the_row_says(
    script: tuple[Said, ...], row: str, outcome: Outcome
) -> None:
    assert methods_oracles.rejects_violation(peer(*script), row=row).outcome is outcome


def test_a_verdict_names_what_the_row_accepts() -> None:
    verdict = methods_oracles.rejects_violation(peer(closing("channel", 406, "why")))
    assert verdict.expected == "channel exception 404 not-found"
    assert verdict.observed == "channel.close 406 precondition-failed ('why')"
    assert verdict.facts == Facts(Refusal(Scope.CHANNEL, 406), ("channel.close 406",))


def test_what_was_seen_is_told_in_words_and_kept_as_data() -> None:
    seen = peer(closing("channel", 404, "gone")).read(1.0)
    told = oracles.holds(peer(), True, seen)
    assert told.observed == "channel.close 404 not-found ('gone')"
    assert told.facts == Facts(Refusal(Scope.CHANNEL, 404), ("channel.close 404",))
    assert oracles.holds(peer(), True, "2 messages; gone", seen=seen).facts == told.facts
    assert oracles.holds(peer(), True, "2 messages").facts == Facts()


def test_without_refusals_the_claim_or_the_row_is_expected() -> None:
    made = peer(None, BARRIER, rows=(SHOULD,))
    assert methods_oracles.rejects_violation(made).expected == "it should hold"
    claimed = peer(None, BARRIER, rows=(SHOULD,))
    claimed.claim("that it holds")
    assert methods_oracles.rejects_violation(claimed).expected == "that it holds"


@pytest.mark.parametrize(("condition", "row", "outcome"), [
    (True, "", Outcome.PASS), (False, "", Outcome.FAIL), (False, "a/should", Outcome.NONSTRICT),
])  # fmt: skip
def test_holds(condition: bool, row: str, outcome: Outcome) -> None:
    assert oracles.holds(peer(), condition, "seen", row=row).outcome is outcome


def test_equals_shows_both_values() -> None:
    verdict = oracles.equals(peer(), 1, 2, "count")
    assert (verdict.outcome, verdict.expected, verdict.observed) == (Outcome.FAIL, "count 2", "count 1")
    assert oracles.equals(peer(), "x", "x").outcome is Outcome.PASS


def test_a_may_is_observed_either_way() -> None:
    assert oracles.observed_either_way(peer(), "it did") == Verdict(
        Outcome.OBSERVED, "it is refused", "it did", Facts(way="it did")
    )
    end = Ended(StreamEnd.RST)
    assert oracles.observed_either_way(peer(), "refused", end) == Verdict(
        Outcome.OBSERVED,
        "it is refused",
        "refused: connection ended (RST)",
        Facts(Refusal(Scope.SOCKET), ("end",), "refused"),
    )
    assert oracles.observed_either_way(peer(), "no", Quiet(1.0), "it did not").observed == "it did not"


@pytest.mark.parametrize(
    ("script", "outcome"),
    [
        ((None, BARRIER), Outcome.PASS),
        ((None, closing("channel", 404)), Outcome.FAIL),
        ((None, None), Outcome.FAIL),
        ((StreamEnd.FIN,), Outcome.FAIL),
    ],
)
def test_allows(script: tuple[Said, ...], outcome: Outcome) -> None:
    assert methods_oracles.allows(peer(*script)).outcome is outcome


def test_ends_connection() -> None:
    assert oracles.ends_connection(peer(), Ended(StreamEnd.RST)).outcome is Outcome.PASS
    assert oracles.ends_connection(peer(), Quiet(1.0)).outcome is Outcome.FAIL


def test_does_not_apply_is_not_a_pass() -> None:
    assert oracles.does_not_apply(peer(), "it has none").outcome is Outcome.NOT_APPLICABLE


def test_an_arrival_is_judged_like_a_reaction() -> None:
    made = peer(closing("channel", 404))
    assert oracles.judge_arrival(made, made.read(1.0)).outcome is Outcome.PASS
    assert oracles.judge_arrival(peer(), Quiet(1.0)).outcome is Outcome.FAIL


def test_the_worst_of_several_is_the_first_of_its_kind() -> None:
    verdicts = [Verdict(o, "x", n) for o, n in (
        (Outcome.PASS, "1"), (Outcome.FAIL, "2"), (Outcome.NONSTRICT, "3"), (Outcome.FAIL, "4"),
    )]  # fmt: skip
    assert oracles.worst(verdicts).observed == "2"


def test_a_prerequisite_refusal() -> None:
    made = peer(method("queue.purge-ok", message_count=0))
    refused = Reaction((), *refusal_of((Ended(StreamEnd.FIN),)))
    assert oracles.must_refuse(made, refused) is refused
    with pytest.raises(Unmet, match="expected a refusal"):
        oracles.must_refuse(made, made.reaction())


def test_silence_where_an_answer_is_owed_is_no_tolerance() -> None:
    silent, answered = Reaction((Quiet(1.0),)), Reaction(())
    assert oracles.borne(peer(), silent).outcome is Outcome.OBSERVED
    assert oracles.borne_aloud(peer(), silent).outcome is Outcome.FAIL
    assert oracles.borne_aloud(peer(), answered).outcome is Outcome.OBSERVED
