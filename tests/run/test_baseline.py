from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from amqpspec.record.rows import BlockedBy, CaseRow, Outcome
from amqpspec.run.baseline import Baseline, BaselineError, apply, read_baseline
from amqpspec.run.exits import Exit
from amqpspec.run.results import judge

TODAY = date(2026, 11, 21)
ENTRY = {
    "case": "a",
    "verdict": "fail",
    "reason": "known",
    "link": "https://example.org",
    "expires": "2027-01-01",
    "observed": "seen",
}


def row(name: str, verdict: Outcome, observed: str = "seen", reason: str = "") -> CaseRow:
    return CaseRow(
        name,
        "amqp-0-9-1",
        "channel",
        name,
        ("channel/open/state",),
        "MUST",
        verdict,
        "wanted",
        observed,
        reason,
    )


def baseline(folder: Path, versions: str = "", **changes: str) -> Baseline:
    keys = {**ENTRY, **changes}
    lines = "".join(f"    {key}: {value}\n" for key, value in keys.items())
    path = folder / "baseline.yaml"
    path.write_text(f"target: t\nversions: '{versions}'\nentries:\n  -\n{lines}", encoding="utf-8")
    return read_baseline(path)


def code(rows: list[CaseRow], known: Baseline | None, **flags: bool) -> Exit:
    wanted = {"strict": False, "partial": False, **flags}
    return judge(rows, known, TODAY, **wanted).exit_code


def test_a_known_deviation_is_excused_with_its_reason(tmp_path: Path) -> None:
    rows, stale = apply([row("a", Outcome.FAIL)], baseline(tmp_path), TODAY)
    assert (rows[0].baseline, rows[0].reason) == ("known", "known (https://example.org)")
    assert stale == []
    assert code([row("a", Outcome.FAIL)], baseline(tmp_path)) is Exit.CONFORMING


@pytest.mark.parametrize(
    ("changes", "rows", "why"),
    [
        ({}, [row("a", Outcome.PASS)], "not seen any more"),
        ({"verdict": "nonstrict"}, [row("a", Outcome.FAIL)], "not seen any more"),
        ({"observed": "other"}, [row("a", Outcome.FAIL)], "not seen any more"),
        ({"expires": "2026-01-01"}, [row("a", Outcome.FAIL)], "expired on 2026-01-01"),
        ({}, [row("b", Outcome.PASS)], "no such case"),
    ],
)
def test_what_is_stale_is_said(
    tmp_path: Path, changes: dict[str, str], rows: list[CaseRow], why: str
) -> None:
    _, stale = apply(rows, baseline(tmp_path, **changes), TODAY)
    assert why in stale[0]["why"]


def test_what_a_race_shows_now_and_then_is_excused_and_never_stale(tmp_path: Path) -> None:
    known = baseline(tmp_path, flaky="true")
    assert apply([row("a", Outcome.FAIL)], known, TODAY)[0][0].baseline == "known"
    assert apply([row("a", Outcome.PASS)], known, TODAY)[1] == []
    assert apply([row("b", Outcome.PASS)], known, TODAY)[1][0]["why"].startswith("no such case")
    late = baseline(tmp_path, flaky="true", expires="2026-01-01")
    assert apply([row("a", Outcome.PASS)], late, TODAY)[1][0]["why"].startswith("expired")


def test_exit_codes() -> None:
    assert code([row("a", Outcome.PASS)], None) is Exit.CONFORMING
    assert code([row("a", Outcome.FAIL)], None) is Exit.DEVIATIONS
    assert code([row("a", Outcome.NONSTRICT)], None) is Exit.CONFORMING
    assert code([row("a", Outcome.NONSTRICT)], None, strict=True) is Exit.DEVIATIONS
    assert code([row("a", Outcome.INCONCLUSIVE)], None) is Exit.DEVIATIONS
    assert code([row("a", Outcome.ERROR), row("b", Outcome.FAIL)], None) is Exit.HARNESS
    assert code([row("a", Outcome.PASS)], None, partial=True) is Exit.HARNESS
    assert code([], None) is Exit.HARNESS
    assert code([row("a", Outcome.NOT_APPLICABLE)], None) is Exit.HARNESS


@pytest.mark.parametrize("by", BlockedBy)
def test_what_blocks_decides_whom_it_concerns(by: BlockedBy, tmp_path: Path) -> None:
    """Only what our own configuration lacks is no deviation; and a run of nothing else has judged nothing."""
    blocked = replace(row("b", Outcome.BLOCKED), blocked_by=by)
    ours = by is BlockedBy.HOOK
    assert code([row("c", Outcome.PASS), blocked], None) is (Exit.CONFORMING if ours else Exit.DEVIATIONS)
    assert code([blocked], None) is (Exit.HARNESS if ours else Exit.DEVIATIONS)
    marked, _ = apply([blocked], baseline(tmp_path), TODAY)
    assert marked[0].baseline == ("" if ours else "unexpected")


@pytest.mark.parametrize("by", BlockedBy)
def test_an_entry_is_stale_only_where_the_target_could_have_deviated(by: BlockedBy, tmp_path: Path) -> None:
    """A case that was never judged reveals nothing about its entry."""
    _, stale = apply([replace(row("a", Outcome.BLOCKED), blocked_by=by)], baseline(tmp_path), TODAY)
    assert bool(stale) == (by is BlockedBy.PREREQUISITE)


def test_a_stale_entry_has_its_own_exit_code(tmp_path: Path) -> None:
    assert code([row("a", Outcome.PASS)], baseline(tmp_path)) is Exit.STALE
    assert code([row("a", Outcome.PASS), row("b", Outcome.FAIL)], baseline(tmp_path)) is Exit.DEVIATIONS


def test_a_baseline_is_for_a_range_of_versions(tmp_path: Path) -> None:
    known = baseline(tmp_path, versions=">=3.10,<3.11")
    assert known.applies_to("3.10.8")
    assert not known.applies_to("3.11.0")
    assert not known.applies_to("unversioned")
    assert baseline(tmp_path).applies_to("unversioned")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "not YAML"),
        ("[]", "expected a mapping with the key 'entries'"),
        ("entries: [1]", "entry 1: expected a mapping"),
        ("entries: [{case: a, verdict: fail, reason: r, link: l, expires: 2027-01-01}]", "excuse any result"),
        ("entries: [{case: a}]", "entry 1: expected key 'verdict', actual: missing"),
        ("entries: [{colour: red}]", "entry 1: unknown key 'colour'"),
        ("versions: x\nentries: []", "key 'versions'"),
        (
            "entries: [{case: a, verdict: pass, reason: r, link: l, expires: 2027-01-01}]",
            "key 'verdict': expected one of",
        ),
        (
            "entries: [{case: a, verdict: fail, reason: r, link: l, expires: never}]",
            "key 'expires': expected a date",
        ),
        (
            "entries: [{case: a, verdict: fail, reason: r, link: l, expires: 2027-01-01, observed: []}]",
            "key 'observed'",
        ),
    ],
)
def test_mistakes_in_a_baseline_are_said(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "b.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BaselineError, match=said):
        read_baseline(path)
