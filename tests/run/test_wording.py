"""Baselines and runs with phrases of earlier versions are read as those of today."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.run.baseline import entry_of
from amqpspec.run.wording import _PRESENT, present

ROOT = Path(__file__).parents[2]
TODAY = date(2026, 11, 21)
OLD = "the client went on; the application *"
NEW = "the client continued; the application ended normally"


def row(observed: str) -> CaseRow:
    return CaseRow(
        "a", "amqp-0-9-1", "channel", "a", ("channel/open/state",), "MUST", Outcome.FAIL, "wanted", observed, ""
    )  # fmt: skip


@pytest.mark.parametrize("pattern", [OLD, "the client continued; the application *"])
@pytest.mark.parametrize(
    "observed", [NEW, "the client went on; the application ended as if nothing had happened"]
)
def test_an_entry_matches_in_either_wording(pattern: str, observed: str) -> None:
    item = {
        "case": "a", "verdict": "fail", "observed": pattern, "reason": "r", "link": "l", "expires": date(2027, 1, 1),
    }  # fmt: skip
    entry = entry_of("here", item)
    assert entry.matches(row(observed), TODAY)
    assert not entry.matches(row("the client refused"), TODAY)
    assert not replace(entry, case="b").matches(row(observed), TODAY)


@pytest.mark.parametrize(("old", "new"), _PRESENT)
def test_a_phrase_of_today_stays(old: str, new: str) -> None:
    assert present(f"x {old} y") == f"x {new} y"
    assert present(new) == new


@pytest.mark.parametrize(("old", "new"), _PRESENT)
def test_no_baseline_that_is_shipped_has_an_old_phrase(old: str, new: str) -> None:
    folder = ROOT / "suites/amqpspec/suites/baselines"
    found = [path.name for path in folder.glob("*.yaml") if old in " ".join(path.read_text("utf-8").split())]
    assert found == []
