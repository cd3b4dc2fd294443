"""``fuzz report``: the reports of a campaign again, also where it was killed, continued, or is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.report import one_line, summary_of
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.campaign.tally import COVERED, OPEN, STOPPED, UNREACHABLE
from amqpspec.fuzz.families import FAMILIES
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.catalogue import cells
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.reports.campaign import words
from amqpspec.reports.campaign.rows import COVERAGES
from tests.reports.campaigns import FINDINGS, SUMMARY, write_campaign

DIALECT = "amqp-0-9-1"
PLAN = {
    "dialect": DIALECT, "grammar": grammar_hash(DIALECT), "seed": 7, "shard": [1, 1], "cells": ["C14/*", "C05/*"],
    "target": "harbor",
}  # fmt: skip
REPORTS = {"summary.json", "summary.md", "campaign.html", "junit.xml", "findings.sarif"}
FIRST = chosen_cells(DIALECT, ("C14/*", "C05/*"))[0].key


def report(folder: Path) -> Result:
    return CliRunner().invoke(cli, ["fuzz", "report", str(folder)])


def write_stand(folder: Path, **more: Any) -> None:
    """What a campaign leaves behind that was killed."""
    tally = {
        "inputs": 40, "reached": 39, "random": 0, "seconds_s": 8.0, "suppressed": {}, "reactions": {"silence": 40},
        "cells": {FIRST: ["covered", ""]},
    }  # fmt: skip
    stand = {"plan": PLAN, "run": "fuzz-1", "started": "2026-11-21T17:00:00Z", "tally": tally,
             "energy": {"seen": ["a", "b"]}, **more}  # fmt: skip
    (folder / "progress.json").write_text(json.dumps(stand), encoding="utf-8")
    begun = {
        "kind": "campaign",
        "product": "HarborMQ",
        "version": "3.10.8",
        "url": "amqp://guest:guest@localhost/",
    }
    (folder / "journal.jsonl").write_text(json.dumps(begun) + "\n", encoding="utf-8")


def killed(folder: Path, **more: Any) -> Path:
    write_campaign(folder)
    (folder / "summary.json").unlink()
    write_stand(folder, **more)
    return folder


def test_a_killed_campaign_has_all_reports_and_all_findings(tmp_path: Path) -> None:
    folder = killed(tmp_path / "c")
    result = report(folder)
    assert result.exit_code == 0, result.output
    assert {Path(line).name for line in result.output.splitlines()} == REPORTS | {"causes"}
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert summary["ended"] == "aborted, or still running" and summary["product"] == "HarborMQ"
    assert summary["inputs"] == 40 and summary["response_states"] == 2 and summary["rate_per_s"] == 5.0
    assert {row["signature"] for row in summary["findings"]} == {row["signature"] for row in FINDINGS}


def test_cells_that_were_not_begun_are_open(tmp_path: Path) -> None:
    summary = summary_of(killed(tmp_path / "c"))
    planned = [cell.key for cell in cells(DIALECT) if cell.family in ("C05", "C14")]
    assert set(summary["cell_states"]) == set(planned) and summary["cells_planned"] == len(planned)
    assert summary["cell_states"][FIRST] == ["covered", "", None]
    assert summary["covered"] == 1 and summary["open"] == len(planned) - 1
    assert summary["cell_states"][planned[-1]][:2] == ["open", "not finished: aborted, or still running"]


def test_of_other_tables_only_the_begun_cells_are_known(tmp_path: Path) -> None:
    summary = summary_of(killed(tmp_path / "c", plan={**PLAN, "grammar": "00000000"}))
    assert set(summary["cell_states"]) == {FIRST} and summary["open"] == 0 and summary["tables"] == "other"
    went_on = write_campaign(tmp_path / "went on", cells_planned=9)
    write_stand(went_on, plan={**PLAN, "grammar": "00000000"})
    assert summary_of(went_on)["open"] == 8 and "tables" not in summary_of(killed(tmp_path / "ours"))


def test_a_campaign_that_went_on_is_told_as_far_as_it_came(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c")
    write_stand(folder)
    assert summary_of(folder)["inputs"] == 40


def test_a_summary_that_is_up_to_date_is_kept(tmp_path: Path) -> None:
    folder = write_campaign(tmp_path / "c", inputs=40)
    write_stand(folder)
    summary = summary_of(folder)
    assert summary["ended"] == "budget spent" and summary["cell_states"] == SUMMARY["cell_states"]
    older = write_campaign(tmp_path / "older", inputs=40, cell_states={})
    write_stand(older)
    assert summary_of(older)["cell_states"][FIRST] == ["covered", "", None]
    assert summary_of(older)["ended"] == "budget spent"


@pytest.mark.parametrize("stand", [None, "", "[]", "{}", '{"plan": {}, "tally": {}}'])
def test_what_is_no_campaign_is_one_line(tmp_path: Path, stand: str | None) -> None:
    if stand is not None:
        (tmp_path / "progress.json").write_text(stand, encoding="utf-8")
    result = report(tmp_path)
    assert result.exit_code == 2 and result.output.startswith("amqpspec: ") and result.output.count("\n") == 1
    assert "expected" in result.output
    assert not (tmp_path / "campaign.html").exists()


def test_a_campaign_by_hand_leaves_every_report(tmp_path: Path) -> None:
    out = tmp_path / "c"
    arguments = [
        "--target",
        "reference",
        "--cells",
        "C07/*/channel",
        "--families-only",
        "--out",
        str(out),
        "--json",
    ]
    result = CliRunner().invoke(cli, ["fuzz", *arguments])
    assert result.exit_code == 0, result.output
    assert {path.name for path in out.iterdir()} >= REPORTS
    summary = json.loads((out / "summary.json").read_text(encoding="utf-8"))
    states = summary["cell_states"]
    assert len(states) == summary["cells_planned"] == summary["covered"] > 0
    assert sum(inputs for _, _, inputs in states.values()) == summary["inputs"]
    page = (out / "campaign.html").read_text(encoding="utf-8")
    assert "no findings" in page and "C07 in channel" in page


def test_reports_have_words_for_everything_that_the_fuzzer_has() -> None:
    assert set(words.FAMILIES) == {family.id for family in FAMILIES} | {"random"}
    assert list(words.ORACLES) == [str(oracle) for oracle in Oracle]
    assert list(words.COVERAGES) == list(COVERAGES) == [COVERED, UNREACHABLE, STOPPED, OPEN]


def test_the_last_line_counts_covered_cells_and_says_why_others_are_not() -> None:
    summary = dict.fromkeys(("target", "inputs", "rate_per_s", "random", "response_states"), 0)
    whole = {
        **summary,
        "cells_planned": 7,
        "covered": 7,
        "stopped": 0,
        "not_reachable": 0,
        "findings": [],
        "suppressed": {},
    }
    assert "cells 7 of 7, " in one_line(whole)
    assert "cells 4 of 7 (2 stopped, 1 not reachable), " in one_line(
        {**whole, "covered": 4, "stopped": 2, "not_reachable": 1}
    )
