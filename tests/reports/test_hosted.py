"""What hosted CI reads of a run: SARIF for code scanning, annotations and the summary of a step."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from amqpspec import suites
from amqpspec.cli.hosted import tell_host
from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reports.github import SHOWN, workflow_commands
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.run_sarif import FINGERPRINT, SUITES, run_sarif
from amqpspec.reports.standing import Deviations
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import certified_dialects
from tests.reports import synthetic


def only(run: LoadedRun, *cases: CaseRow) -> LoadedRun:
    return replace(run, cases=cases, tally=Tally.of(case.verdict for case in cases))


def a_case(id: str, verdict: Outcome = Outcome.FAIL, **changes: Any) -> CaseRow:
    row = CaseRow(
        id, "amqp-0-9-1", "channel", "A title", ("channel/open/state",), "MUST", verdict, "504", "200"
    )
    return replace(row, **changes)


def test_each_case_that_is_not_green_is_one_result(harbor: LoadedRun) -> None:
    (run,) = run_sarif(harbor)["runs"]
    found = {result["fingerprints"][FINGERPRINT]: result for result in run["results"]}
    assert len(found) == len(run["results"])
    deviations = Deviations.of_run(harbor)
    levels = {
        "error": {*deviations.unexpected, *deviations.known},
        "warning": {*deviations.undecided, *deviations.nonstrict},
    }
    for level, cases in levels.items():
        told = {id for id, result in found.items() if result["level"] == level}
        assert told == {f"{case.dialect}/{case.id}".replace("\x00", "\\x00") for case in cases}
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(rules[result["ruleIndex"]] == result["ruleId"] for result in run["results"])


def test_a_known_deviation_is_suppressed_with_its_reason(harbor: LoadedRun) -> None:
    known = a_case("channel.open.twice", baseline="known", reason="an old friend")
    (run,) = run_sarif(only(harbor, known, a_case("queue.delete.unknown")))["runs"]
    suppressed = {r["fingerprints"][FINGERPRINT]: r.get("suppressions") for r in run["results"]}
    assert suppressed == {
        "amqp-0-9-1/channel.open.twice": [{"kind": "external", "justification": "an old friend"}],
        "amqp-0-9-1/queue.delete.unknown": None,
    }


def test_a_case_of_the_suite_is_found_where_it_is_written(harbor: LoadedRun) -> None:
    case = a_case("channel.open.twice")
    (run,) = run_sarif(only(harbor, case, a_case("somebody.elses", evidence="evidence/x y.jsonl")))["runs"]
    ours, theirs = (result["locations"][0]["physicalLocation"] for result in run["results"])
    place = ours["artifactLocation"]
    assert place == {"uri": "amqpspec/suites/amqp_0_9_1/channel.py", "uriBaseId": SUITES}
    assert_begins(place["uri"], ours["region"]["startLine"], '@on_channel("channel.open.twice"')
    assert theirs["artifactLocation"]["uri"] == "evidence/x%20y.jsonl"


def assert_begins(uri: str, line: int, start: str | tuple[str, ...]) -> None:
    source = Path(suites.__path__[0]).parents[1] / uri
    assert source.read_text("utf-8").splitlines()[line - 1].lstrip().startswith(start)


@pytest.mark.parametrize("dialect", certified_dialects())
def test_every_case_is_found_in_a_file_of_the_suites(dialect: str) -> None:
    for file, line in {case.place for case in load_suite(dialect).values()}:
        uri = f"amqpspec/{file.rpartition('/amqpspec/')[2]}"
        assert uri.startswith("amqpspec/suites/")
        assert_begins(uri, line, '"""' if line == 1 else ("@", "def "))


def test_a_borrowed_case_is_found_where_its_steps_are() -> None:
    file, line = load_suite("amqp-wire-9-1")["frame.channel-zero"].place
    assert file.endswith("suites/amqp_0_9_1/framing.py") and line > 1


def test_an_annotation_is_one_line_that_nothing_sent_can_leave(harbor: LoadedRun) -> None:
    evil = a_case("a:b,c", expected="100 %\n::stop-commands::x", observed=synthetic.HOSTILE)
    (line,) = workflow_commands(only(harbor, evil))
    assert re.fullmatch(r"::error title=a%3Ab%2Cc::[^\r\n]+", line)
    assert "100 %25 ::stop-commands" in line


def test_what_github_does_not_show_is_counted(harbor: LoadedRun) -> None:
    cases = [a_case(f"case.{number}") for number in range(SHOWN + 2)]
    lines = list(workflow_commands(only(harbor, *cases)))
    assert len(lines) == SHOWN + 1
    assert lines[-1] == "::error title=amqpspec::2 cases more in the summary of this step"
    assert len(list(workflow_commands(only(harbor, *cases[:SHOWN])))) == SHOWN
    assert not list(workflow_commands(only(harbor, a_case("a", Outcome.PASS), a_case("b", baseline="known"))))


def test_a_step_gets_its_summary_and_elsewhere_nothing_is_said(
    harbor: LoadedRun, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    step = tmp_path / "step.md"
    (harbor.folder / "summary.md").write_text("the summary\n", "utf-8")
    tell_host(harbor.folder, {"GITHUB_STEP_SUMMARY": str(step)})
    assert not step.exists() and capsys.readouterr() == ("", "")
    host = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(step)}
    tell_host(harbor.folder, host)
    tell_host(harbor.folder, host)
    assert step.read_text("utf-8") == "the summary\n\nthe summary\n\n"
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("::error title=")
    tell_host(harbor.folder, host | {"GITHUB_STEP_SUMMARY": str(tmp_path)})
    assert "cannot write" in capsys.readouterr().err


def test_sarif_is_json_without_controls(harbor: LoadedRun) -> None:
    text = json.dumps(run_sarif(harbor), ensure_ascii=False)
    assert not re.search("[\x00-\x1f\u202e]", text)
