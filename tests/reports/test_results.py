"""results.json: written while cases stream by, valid against its schema, read back the same, refused with one line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.reports.json_report import SCHEMA_FILE, requirement_json, write_results
from amqpspec.reports.load import LoadedRun, ReportError, load_run
from amqpspec.spec.model import Level, Requirement, Scope
from tests.reports import synthetic

SCHEMA = json.loads(SCHEMA_FILE.read_text("utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def document(run: LoadedRun) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((run.folder / "results.json").read_text("utf-8"))
    return data


def test_the_schema_is_a_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_results_keep_to_the_schema(harbor: LoadedRun, quay: LoadedRun) -> None:
    for run in (harbor, quay):
        VALIDATOR.validate(document(run))


def test_the_schema_knows_every_field_and_outcome() -> None:
    defined = SCHEMA["$defs"]
    assert set(defined["case"]["properties"]) == set(CaseRow.__slots__)
    assert set(defined["case"]["properties"]["verdict"]["enum"]) == {str(o) for o in Outcome}
    assert set(defined["case"]["properties"]["blocked_by"]["enum"]) == {None, *map(str, BlockedBy)}
    assert set(defined["facts"]["properties"]) == set(Facts.__slots__)
    scopes = defined["refusal"]["properties"]["scope"]["enum"]
    assert set(scopes) == set(map(str, Scope))
    assert set(defined["requirement"]["properties"]["level"]) and set(defined["level"]["enum"]) == {
        *map(str, Level)
    }


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("verdicts"),
        lambda data: data.update(schema=1),
        lambda data: data["cases"][0].update(blocked_by="weather"),
        lambda data: data["cases"][0]["facts"].pop("arrivals"),
        lambda data: data["cases"][0]["facts"].update(refusal={"scope": "galaxy", "code": None}),
        lambda data: data["cases"][0].update(verdict="maybe"),
        lambda data: data["cases"][0].pop("requirements"),
        lambda data: data["meta"]["target"].pop("url"),
        lambda data: data.update(exit_code=9),
    ],
)
def test_the_schema_refuses_what_is_wrong(harbor: LoadedRun, spoil: Any) -> None:
    data = document(harbor)
    spoil(data)
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(data)


def test_counts_add_up(harbor: LoadedRun, quay: LoadedRun) -> None:
    for run in (harbor, quay):
        data = document(run)
        assert data["planned"] == len(data["cases"])
        assert data["planned"] == data["run"] + data["not_applicable"] + data["blocked"] + data["excluded"]
        assert data["run"] == sum(data["verdicts"].values())


def test_what_was_written_is_read_back(harbor: LoadedRun) -> None:
    assert harbor.cases == (*synthetic.cases("harbor"), synthetic.hostile_case())
    assert harbor.meta == synthetic.run_row(synthetic.target_row("harbor"))
    assert harbor.exit_code == 1
    assert harbor.requirements["channel/open/state"].clause == "channel.open#state, R91-044"
    assert harbor.requirements["connection/start/client-support"].excluded == "binds the client only"


def test_the_two_targets_cover_every_outcome(harbor: LoadedRun, quay: LoadedRun) -> None:
    assert {case.verdict for run in (harbor, quay) for case in run.cases} == set(Outcome)


def test_cases_are_streamed_and_a_failure_leaves_the_old_document(tmp_path: Path) -> None:
    run = synthetic.run_row(synthetic.target_row("quay"))
    write_results(tmp_path, run, [], {}, exit_code=4, stale=["old entry", {"id": "a.b", "reason": "gone"}])

    def torn() -> Iterator[CaseRow]:
        yield from synthetic.cases("quay")
        raise RuntimeError("the journal ends here")

    with pytest.raises(RuntimeError):
        write_results(tmp_path, run, torn(), {}, exit_code=0)
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]
    loaded = load_run(tmp_path)
    assert loaded.cases == () and loaded.exit_code == 4
    assert loaded.stale == ("old entry", "a.b, reason gone")


def test_a_full_disk_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("amqpspec.reports.files.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_results(tmp_path, synthetic.run_row(synthetic.target_row("quay")), [], {}, exit_code=0)
    assert list(tmp_path.iterdir()) == []


def test_a_ledger_row_becomes_json() -> None:
    row = Requirement("a/b", Level.MUST, "server", "a.b#c", "says so", source="R1", testable=False)
    data = requirement_json(row)
    assert data["level"] == "MUST" and data["says"] == "says so" and data["source"] == "R1"
    assert data["excluded"] == "not observable from outside"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "not JSON"),
        ("[]", "expected a JSON object, actual: list"),
        ("{}", "expected a schema number"),
        ('{"schema": "1"}', "expected a schema number"),
        ('{"schema": true}', "expected a schema number"),
        ('{"schema": 99}', "written by a newer amqpspec"),
        ('{"schema": 1}', "key 'cases' is missing"),
        ('{"schema": 1, "cases": [{"id": "x"}]}', "is missing"),
        ('{"schema": 1, "cases": [], "meta": 7}', "not a results document of schema 1"),
        ('{"schema": 1, "cases": [], "meta": {}, "requirements": []}', "not a results document of schema 1"),
    ],
)
def test_what_is_no_run_is_refused_in_one_line(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "results.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ReportError) as caught:
        load_run(tmp_path)
    assert message in str(caught.value) and str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_run_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="no such file"):
        load_run(tmp_path)
    with pytest.raises(ReportError, match="no such file"):
        load_run(tmp_path / "nowhere.json")


def test_a_row_of_a_newer_writer_is_read(tmp_path: Path, harbor: LoadedRun) -> None:
    data = document(harbor)
    data["cases"][0]["colour"] = "blue"
    data["meta"]["weather"] = data["meta"]["target"]["mood"] = "fine"
    data["requirements"]["channel/open/state"]["shape"] = "round"
    (tmp_path / "results.json").write_text(json.dumps(data), encoding="utf-8")
    assert load_run(tmp_path).cases == harbor.cases


def test_evidence_outside_the_run_folder_is_never_read(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    (tmp_path / "secret.jsonl").write_text("{}", encoding="utf-8")
    case = synthetic.hostile_case()
    for path in ("../secret.jsonl", str(tmp_path / "secret.jsonl"), "", "evidence/none.jsonl"):
        row = CaseRow.from_json(case.to_json() | {"evidence": path})
        write_results(folder, synthetic.run_row(synthetic.target_row("quay")), [row], {}, exit_code=1)
        run = load_run(folder)
        assert run.evidence(run.cases[0]) is None
