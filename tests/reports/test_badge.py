"""The badge: well-formed, says the score, and takes its colour from the worst that happened."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reports.badge import (
    AMBER_FILL,
    GREEN_FILL,
    GREY_FILL,
    RED_FILL,
    badge,
    fill_of,
    write_badge,
)
from amqpspec.reports.load import LoadedRun
from tests.reports import synthetic
from tests.reports.test_palette import contrast

SVG = "{http://www.w3.org/2000/svg}"


def only(
    run: LoadedRun, *outcomes: Outcome, baseline: str = "", strict: bool = False, partial: bool = False
) -> LoadedRun:
    row = synthetic.hostile_case()
    cases: list[CaseRow] = [
        replace(row, id=f"{number}", verdict=outcome, baseline=baseline)
        for number, outcome in enumerate(outcomes)
    ]
    tally = Tally.of(outcomes)
    return replace(
        run,
        cases=tuple(cases),
        tally=tally,
        requirements={},
        meta=replace(run.meta, strict=strict, partial=partial),
    )


def test_the_badge_says_the_score(harbor: LoadedRun, tmp_path: Path) -> None:
    write_badge(tmp_path / "badge.svg", harbor)
    root = ET.parse(tmp_path / "badge.svg").getroot()
    assert [text.text for text in root.iter(f"{SVG}text")] == [
        "amqp-0-9-1",
        "partial: 23 of 27 requirements judged",
    ]
    assert root.get("aria-label") == "amqp-0-9-1: partial: 23 of 27 requirements judged"
    write_badge(tmp_path / "whole.svg", only(harbor, Outcome.PASS, Outcome.NONSTRICT))
    assert "1/2 pass" in (tmp_path / "whole.svg").read_text("utf-8")
    assert RED_FILL in (tmp_path / "badge.svg").read_text("utf-8")


def test_text_cannot_break_out() -> None:
    root = ET.fromstring(badge('<b> & "quotes"', "</text>", GREEN_FILL))
    assert [text.text for text in root.iter(f"{SVG}text")] == ['<b> & "quotes"', "</text>"]


def test_colours_follow_the_worst(harbor: LoadedRun) -> None:
    good = (Outcome.PASS, Outcome.OBSERVED)
    assert fill_of(only(harbor, *good)) == GREEN_FILL
    assert fill_of(only(harbor, *good, Outcome.NOT_APPLICABLE)) == GREEN_FILL
    assert fill_of(only(harbor, *good, Outcome.EXCLUDED)) == AMBER_FILL
    assert fill_of(only(harbor, *good, Outcome.BLOCKED)) == AMBER_FILL
    assert fill_of(only(harbor, *good, Outcome.NONSTRICT)) == AMBER_FILL
    assert fill_of(only(harbor, *good, Outcome.NONSTRICT, strict=True)) == RED_FILL
    assert fill_of(only(harbor, Outcome.PASS, Outcome.FAIL)) == RED_FILL
    assert fill_of(only(harbor, Outcome.PASS, Outcome.FAIL, baseline="known")) == AMBER_FILL
    assert fill_of(only(harbor, *good, partial=True)) == GREY_FILL
    assert fill_of(only(harbor)) == GREY_FILL


@pytest.mark.parametrize("fill", [GREEN_FILL, AMBER_FILL, RED_FILL, GREY_FILL, "#30363d"])
def test_white_text_is_legible(fill: str) -> None:
    assert contrast("#ffffff", fill) >= 4.5
