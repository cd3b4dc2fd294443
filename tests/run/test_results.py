from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from pathlib import Path

from amqpspec.record.journal import Journal, read_cases
from amqpspec.record.observation import VERDICT_CODES
from amqpspec.record.rows import FROM_BEST, CaseRow, Outcome, RunRow, Tally, TargetRow
from amqpspec.reports.outcomes import worst
from amqpspec.run.results import last_attempts
from tests.run.test_baseline import row


def attempts(folder: Path, *verdicts: Outcome) -> CaseRow:
    with Journal(folder) as journal:
        for number, verdict in enumerate(verdicts, start=1):
            journal.case(replace(row("a", verdict), attempt=number))
    (last,) = last_attempts(folder)
    return last


def test_of_several_attempts_the_worst_counts_and_says_so(tmp_path: Path) -> None:
    last = attempts(tmp_path, Outcome.PASS, Outcome.FAIL, Outcome.PASS)
    assert (last.verdict, last.attempt) == (Outcome.FAIL, 2)
    assert last.reason == "attempts differ: 2 pass, 1 fail"


def test_attempts_are_ranked_as_their_recorded_codes_are(tmp_path: Path) -> None:
    for first, second in permutations(Outcome, 2):
        expected = max(first, second, key=VERDICT_CODES.__getitem__)
        assert attempts(tmp_path / f"{first}-{second}", first, second).verdict is expected
        assert worst([first, second]) is expected
    assert [VERDICT_CODES[outcome] for outcome in FROM_BEST] == list(range(len(Outcome)))
    assert VERDICT_CODES[Outcome.PASS] == 2 and VERDICT_CODES[Outcome.FAIL] == 8, "codes are recorded"


def test_attempts_that_agree_need_no_words(tmp_path: Path) -> None:
    last = attempts(tmp_path, Outcome.PASS, Outcome.PASS)
    assert (last.verdict, last.reason) == (Outcome.PASS, "")


def test_a_later_run_of_the_same_attempt_takes_its_place(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.case(row("a", Outcome.FAIL))
        journal.case(row("a", Outcome.PASS))
    assert [(r.verdict, r.reason) for r in last_attempts(tmp_path)] == [(Outcome.PASS, "")]


def test_what_is_withdrawn_does_not_count(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.case(row("a", Outcome.PASS))
        journal.case(row("b", Outcome.PASS))
        journal.void(["a"], "the target died")
        journal.case(row("a", Outcome.FAIL))
    assert {r.id: r.verdict for r in read_cases(tmp_path)} == {"b": Outcome.PASS, "a": Outcome.FAIL}


def test_counts_add_up() -> None:
    tally = Tally.of([*Outcome, Outcome.PASS])
    assert tally.planned == len(Outcome) + 1
    assert tally.planned == tally.run + tally.not_applicable + tally.blocked + tally.excluded
    assert tally.verdicts["pass"] == 2 and "blocked" not in tally.verdicts


def test_rows_survive_a_newer_writer() -> None:
    made = row("a", Outcome.PASS)
    assert CaseRow.from_json({**made.to_json(), "newer": 1}) == made
    run = RunRow("r", TargetRow("t", "amqp://h", "amqp-0-9-1", product="P", version="1"), "0", "now")
    data = run.to_json()
    data["target"]["newer"] = data["newer"] = 1
    assert RunRow.from_json(data) == run
    assert (run.target.label, TargetRow("t", "u", "d").label) == ("P 1", "t")
