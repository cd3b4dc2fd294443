"""Two runs beside each other: each change is named once, for what it is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from amqpspec.record.rows import CaseRow, Outcome, RunRow, Tally, TargetRow
from amqpspec.reports.compare import Kind, compare_runs, markdown
from amqpspec.reports.load import LoadedRun


def case(
    name: str,
    verdict: Outcome,
    reason: str = "",
    baseline: str = "",
    observed: str = "seen",
    *,
    attempts_differ: bool = False,
) -> CaseRow:
    return CaseRow(
        name,
        "d",
        "channel",
        name,
        (f"channel/{name}",),
        "MUST",
        verdict,
        "wanted",
        observed,
        reason,
        baseline,
        attempts_differ=attempts_differ,
    )


def run(*cases: CaseRow, version: str = "1", suite: str = "0.1") -> LoadedRun:
    target = TargetRow("t", "", "d", "", "Broker", version)
    meta = RunRow("id", target, suite, "2026-11-21T02:00:00Z")
    return LoadedRun(Path(), meta, cases, {}, Tally.of(c.verdict for c in cases), 0, ())


PASS, FAIL, BLOCKED = Outcome.PASS, Outcome.FAIL, Outcome.BLOCKED


def kinds(before: LoadedRun, after: LoadedRun) -> dict[str, Kind]:
    return {change.case: change.kind for change in compare_runs(before, after).changes}


def test_each_change_has_its_kind() -> None:
    before = run(
        case("same", PASS), case("broke", PASS), case("mended", FAIL), case("gone", PASS), case("stuck", FAIL),
        case("shaky", PASS),
    )  # fmt: skip
    after = run(
        case("same", PASS), case("broke", FAIL), case("mended", PASS), case("stuck", BLOCKED),
        case("shaky", PASS, attempts_differ=True), case("new", PASS), case("newly-bad", FAIL),
    )  # fmt: skip
    assert kinds(before, after) == {
        "broke": Kind.REGRESSED, "newly-bad": Kind.NEW_FAILURE, "gone": Kind.LOST, "shaky": Kind.FLAKY,
        "mended": Kind.FIXED, "stuck": Kind.CHANGED, "new": Kind.NEW,
    }  # fmt: skip
    assert compare_runs(before, after).worse == 4


def test_the_same_runs_differ_in_nothing() -> None:
    one = run(case("a", PASS), case("b", FAIL), case("c", PASS, attempts_differ=True))
    assert (kinds(one, one), compare_runs(one, one).worse) == ({}, 0)


def test_what_the_baseline_knows_is_told_and_not_worse() -> None:
    found = compare_runs(run(case("a", PASS)), run(case("a", FAIL, baseline="known")))
    assert (found.changes[0].kind, found.worse) == (Kind.REGRESSED, 0)
    assert any("(known)" in line for line in markdown(found))


def test_it_says_whose_version_moved() -> None:
    one = run(case("a", PASS))
    moved = [
        compare_runs(one, replace_meta(one, version, suite)).moved
        for version, suite in (("1", "0.1"), ("2", "0.1"), ("1", "0.2"), ("2", "0.2"))
    ]
    assert len(set(moved)) == 4
    assert moved[1].startswith("the target has another version")
    assert moved[2].startswith("the suite has another version")


def replace_meta(of: LoadedRun, version: str, suite: str) -> LoadedRun:
    meta = of.meta
    return replace(of, meta=replace(meta, suite_version=suite, target=replace(meta.target, version=version)))


def test_coverage_that_came_and_went() -> None:
    found = compare_runs(run(case("a", PASS)), run(case("b", PASS)))
    assert found.covered == (["channel/b"], ["channel/a"])


def test_a_targets_words_cannot_break_the_note() -> None:
    hostile = "a|b\n<img src=x> `c` [d](e)"
    note = list(markdown(compare_runs(run(case("a", PASS)), run(case("a", FAIL, observed=hostile)))))
    (row,) = [line for line in note if line.startswith("| `a`")]
    assert row.count("|") - row.count("\\|") == 5
    assert "\\<img" in row
    assert "\n" not in row


def test_a_long_list_is_cut_and_says_so() -> None:
    after = run(*(case(f"c{number:03}", FAIL) for number in range(60)))
    note = list(markdown(compare_runs(run(), after)))
    assert sum(line.startswith("| `c") for line in note) == 50
    assert any("and 10 more" in line for line in note)
