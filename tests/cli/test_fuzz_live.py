"""What a campaign tells while it runs: a view on a terminal, plain lines elsewhere, JSON lines where asked for."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from click.testing import CliRunner
from rich.console import Console

from amqpspec.cli import fuzz_campaign, fuzz_live
from amqpspec.cli.fuzz_live import LinesView, LiveView, PlainView, Snapshot, View, view_of
from amqpspec.cli.main import cli
from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.campaign.tally import UNREACHABLE, Tally
from amqpspec.fuzz.inputs.catalogue import by_key
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.oracles.suspicion import Oracle, Suspicion
from amqpspec.fuzz.triage.findings import Finding
from amqpspec.fuzz.triage.triage import Status
from amqpspec.reports.html.targets import duration
from tests.reports.campaigns import SUMMARY

DIALECT = "amqp-0-9-1"
CELLS = chosen_cells(DIALECT, ("C14/*", "C05/*"))
ITEM = by_key(DIALECT)[CELLS[0].key].input(0)
EVIL = "panic [red]x[/red] \x1b[31m\x07\nsecond line"


def finding(number: int, oracle: Oracle = Oracle.LOG) -> Finding:
    return Finding(
        f"{number:012x}", Status.STABLE, Suspicion(oracle, f"{EVIL} {number}", "detail"), DIALECT, "C14",
        "channel", ITEM if number else None,
    )  # fmt: skip


def campaign(seconds_s: float = 10.0, inputs: int = 500, done: int = 1, found: int = 0) -> Progress:
    """What a view reads of a campaign."""
    tally = Tally(inputs=inputs, random=3, seconds_s=seconds_s)
    for cell in CELLS[:done]:
        tally.cells[cell.key] = ("covered", "")
    shown = SimpleNamespace(
        tally=tally, cells=CELLS, subject=SimpleNamespace(name="harbor", dialect=DIALECT),
        energy=SimpleNamespace(seen={"a", "b"}), findings=[finding(number) for number in range(found)],
        check=Check((), rss_octets=150 << 20, cpu_s=0.25),
    )  # fmt: skip
    return cast(Progress, shown)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def drawn(view: LiveView) -> str:
    out = io.StringIO()
    Console(file=out, width=110, color_system=None).print(view.render())
    return out.getvalue()


# --- the live view


def test_before_the_first_batch_it_says_so() -> None:
    assert "first batch in progress, 0.0 s of 10 min 0 s" in drawn(LiveView(600.0, clock=Clock()))


def test_it_shows_rates_cells_target_and_the_last_findings() -> None:
    clock = Clock()
    view = LiveView(600.0, clock=clock)
    view.notify(campaign())
    clock.now_s = 20.0
    view.notify(campaign(seconds_s=20.0, inputs=2500, done=3, found=7))
    text = drawn(view)
    assert "harbor (amqp-0-9-1)" in text and "20 s of 10 min 0 s" in text
    assert "2,500 (3 random), 200/s now, 125/s mean" in text
    assert "2 response states" in text and "memory 150 MiB, processor 0.25 s" in text
    assert "findings  7 log" in text
    # Two cells took 10 s.
    left = duration((len(CELLS) - 3) * 5.0)
    assert f"families done in about {left}" in text
    for family in ("C05", "C14"):
        assert f"/{sum(cell.family == family for cell in CELLS)} " in text and family in text
    assert [f"second line {n}" in text for n in range(7)] == [False, False, True, True, True, True, True]


def test_hostile_words_are_neither_markup_nor_escapes() -> None:
    view = LiveView(600.0, clock=Clock())
    view.notify(campaign(found=1))
    text = drawn(view)
    assert r"panic [red]x[/red] \x1b[31m\x07 second line 0 [a batch of 0]" in text
    assert "\x1b" not in text and "\x07" not in text


def test_families_that_are_done_say_so() -> None:
    view = LiveView(600.0, clock=Clock())
    view.notify(campaign(done=len(CELLS)))
    assert "families done" in drawn(view) and "done in about" not in drawn(view)


def test_it_draws_on_its_console_and_leaves_it_clean() -> None:
    out = io.StringIO()
    view = LiveView(
        600.0, Console(file=out, width=100, force_terminal=True, _environ={"TERM": "xterm"}), Clock()
    )
    with view:
        view.notify(campaign())
    assert "500" in out.getvalue() and "\x1b[?25h" in out.getvalue()


def test_a_snapshot_counts_cells_by_family_and_states() -> None:
    now = Snapshot.of(campaign(done=2))
    assert now.cells == (2, len(CELLS)) and sum(all for _, all in now.families.values()) == len(CELLS)
    assert now.states == (len({c.state for c in CELLS[:2]}), len({c.state for c in CELLS}))


def test_a_stopped_cell_is_finished_but_not_covered() -> None:
    progress = campaign(done=2)
    progress.tally.stop(CELLS[0].key, "it hangs")
    progress.tally.cells[CELLS[2].key] = (UNREACHABLE, "no reply")
    now = Snapshot.of(progress)
    assert now.cells == (3, len(CELLS)) and now.to_json()["cells_covered"] == 1
    assert f"cells 1 of {len(CELLS)} (1 stopped, 1 not reachable)," in now.line()


# --- lines


def test_plain_lines_come_by_the_clock_and_findings_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    view = PlainView(clock)
    view.notify(campaign())
    view.notify(campaign(found=1))
    view.notify(campaign(found=2))
    clock.now_s = 31.0
    view.notify(campaign(seconds_s=31.0, found=2))
    view.notify(campaign(seconds_s=31.0, found=2))
    out, told = capsys.readouterr()
    assert out == "" and [line.split(":")[0] for line in told.splitlines()] == ["found", "found", "31 s"]
    assert f"cells 1 of {len(CELLS)}" in told and "\x1b" not in told


def test_json_lines_are_objects_with_a_kind(capsys: pytest.CaptureFixture[str]) -> None:
    clock = Clock()
    view = LinesView(clock)
    clock.now_s = 2.0
    view.notify(campaign(found=2))
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["kind"] for line in lines] == ["finding", "finding", "progress"]
    assert lines[0]["input"] is None and lines[1]["input"] == str(ITEM.id)
    assert lines[1]["folder"] == "findings/log-000000000001" and lines[1]["status"] == "stable"
    assert lines[2] == {
        "kind": "progress", "seconds": 10.0, "inputs": 500, "random": 3, "rate_per_s": 50.0, "cells_done": 1,
        "cells_covered": 1, "cells_planned": len(CELLS), "response_states": 2, "findings": 2,
        "rss_octets": 150 << 20, "cpu_s": 0.25,
    }  # fmt: skip


def test_the_view_fits_the_terminal_and_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
    def chosen(interactive: bool, **options: Any) -> type[View]:
        monkeypatch.setattr(fuzz_live, "interactive", lambda: interactive)
        return type(view_of(60.0, **options))

    assert chosen(True, quiet=False, json_lines=False) is LiveView
    assert chosen(False, quiet=False, json_lines=False) is PlainView
    assert chosen(True, quiet=True, json_lines=False) is View
    assert chosen(True, quiet=True, json_lines=True) is LinesView


def test_a_campaign_ends_its_json_lines_with_an_end(tmp_path: Path) -> None:
    arguments = [
        "reference",
        "--cells",
        "C07/*/channel",
        "--families-only",
        "--out",
        str(tmp_path / "c"),
        "--json",
    ]
    result = CliRunner().invoke(cli, ["fuzz", *arguments, "--json-lines"])
    assert result.exit_code == 0, result.output
    last = json.loads(result.stderr.splitlines()[-1])
    summary = json.loads(result.stdout)
    assert last["kind"] == "end" and last["inputs"] == summary["inputs"] > 0 and last["exit_code"] == 0


def test_quiet_is_one_line_with_findings_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings = [{**found, "detail": EVIL, "top": EVIL} for found in SUMMARY["findings"]]
    summary = {**SUMMARY, "target": "harbor", "findings": findings}
    fuzz_campaign._say(summary, tmp_path, as_json=False, quiet=True)
    told = capsys.readouterr().out
    assert told.count("\n") == 1 and "4 findings" in told and str(tmp_path / "campaign.html") in told
    fuzz_campaign._say(summary, tmp_path, as_json=False, quiet=False)
    told = capsys.readouterr().out
    assert told.count("\n") == 1 + 3 * 4 and "\x1b" not in told and told.count(r"\x1b[31m") == 4
