"""A requirement that dialects share is one group of the matrix, with the worst outcome of each target."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.html.model import Matrix, build
from amqpspec.reports.html.page import write_matrix
from amqpspec.reports.html.targets import labels
from amqpspec.reports.json_report import write_results
from amqpspec.reports.load import LoadedRun, load_run
from tests.reports import synthetic

SHARED = {"level": "MUST", "section": "4.2.3", "says": "a frame ends with CE", "same_as": "frame-end"}
OWN = {"level": "MUST", "section": "4.2.4", "says": "a rule of one dialect", "same_as": ""}


def case(dialect: str, id: str, row: str, verdict: Outcome, suite: str = "framing") -> CaseRow:
    level = "MUST" if suite == "framing" else "statement"  # dialects may say the same with another strength
    return CaseRow(
        id=id, dialect=dialect, suite=suite, title=id, requirements=(row,), level=level, verdict=verdict
    )


def run(folder: Path, dialect: str, cases: list[CaseRow], ledger: dict[str, dict[str, str]]) -> LoadedRun:
    target = replace(synthetic.target_row("harbor"), dialect=dialect)
    write_results(folder, synthetic.run_row(target, id=folder.name), cases, ledger, exit_code=0)
    return load_run(folder)


@pytest.fixture
def runs(tmp_path: Path) -> list[LoadedRun]:
    old, new = "amqp-wire-9-1", "amqp-0-9-1"
    one = [
        case(new, "frame_02", "wire/end", Outcome.PASS),
        case(new, "frame.end.zero", "wire/end", Outcome.FAIL),
        case(new, "common.id", "wire/own", Outcome.PASS),
    ]
    other = [
        case(old, "frame_02", "frames/end", Outcome.PASS, "frames"),
        case(old, "common.id", "frames/own", Outcome.FAIL, "frames"),
    ]
    return [
        run(tmp_path / "one", new, one, {"wire/end": SHARED, "wire/own": OWN}),
        run(tmp_path / "other", old, other, {"frames/end": SHARED, "frames/own": OWN}),
    ]


@pytest.fixture
def matrix(runs: list[LoadedRun]) -> Matrix:
    return build(runs)


def test_the_shared_requirement_is_one_group_in_the_section_of_the_first_dialect(matrix: Matrix) -> None:
    shared = [group for section in matrix.sections for group in section.groups if group.shared]
    assert [(g.requirement.id, [r.first.id for r in g.rows]) for g in shared] == [
        ("wire/end", ["frame_02", "frame.end.zero"])
    ]
    assert shared[0].outcomes == ((Outcome.FAIL, False), (Outcome.PASS, False))
    assert matrix.sections[0].name == "framing" and shared[0] in matrix.sections[0].groups


def test_a_case_of_the_same_name_and_requirement_is_one_row_across_dialects(matrix: Matrix) -> None:
    row = next(row for row in matrix.rows if row.first.id == "frame_02")
    assert [cell.case.dialect for cell in row.present] == ["amqp-0-9-1", "amqp-wire-9-1"]


def test_a_case_of_the_same_name_for_another_requirement_is_another_row(matrix: Matrix) -> None:
    rows = [row for row in matrix.rows if row.first.id == "common.id"]
    assert [len(row.present) for row in rows] == [1, 1]
    assert {row.first.requirements for row in rows} == {("wire/own",), ("frames/own",)}


def test_the_page_says_the_worst_of_each_target_beside_a_shared_requirement(
    runs: list[LoadedRun], tmp_path: Path
) -> None:
    path = tmp_path / "matrix.html"
    write_matrix(path, runs)
    text = path.read_text("utf-8")
    assert text.count('<td class="cell shared">') == 2
    assert "fail at worst" in text and "pass at worst" in text


def test_one_target_in_two_dialects_is_called_by_its_dialect(runs: list[LoadedRun]) -> None:
    assert labels(runs) == ["HarborMQ 3.10.8 (amqp-0-9-1)", "HarborMQ 3.10.8 (amqp-wire-9-1)"]
