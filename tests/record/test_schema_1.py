"""Files of schema 1, kept as an older build wrote them, are read: what they said in sentences stands in fields."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import jsonschema
import pytest

from amqpspec.record.journal import read_cases, read_run
from amqpspec.record.rows import BlockedBy, CaseRow, Facts, Outcome
from amqpspec.reports.json_report import SCHEMA_FILE
from amqpspec.reports.load import load_run
from amqpspec.reports.render import render_all

OLD = Path(__file__).with_name("schema_1")
KEPT = {
    "channel.grammar.content-before-open": (Outcome.EXCLUDED, BlockedBy.SELECTION, ""),
    "exchange.durable.restart": (Outcome.BLOCKED, BlockedBy.HOOK, ""),
    "own.limit": (Outcome.NOT_APPLICABLE, BlockedBy.LIMIT, "one channel only"),
    "own.two-users": (
        Outcome.BLOCKED, BlockedBy.HOOK, "no user for role … is configured for this target",
    ),
    "own.unmet": (Outcome.BLOCKED, BlockedBy.PREREQUISITE, "none"),
    "channel.open.twice": (Outcome.FAIL, None, "channel.open-ok on channel …"),
    "basic.priority.levels": (Outcome.OBSERVED, None, "… of ten levels of priority"),
    "framing.frame.types-that-are-not-defined": (Outcome.PASS, None, "connection ended"),
}  # fmt: skip


def in_fields(row: CaseRow) -> tuple[Outcome, BlockedBy | None, str]:
    assert row.facts == Facts(way=row.facts.way) and not row.ended_at and not row.attempts_differ
    return row.verdict, row.blocked_by, row.facts.way


def test_an_old_journal_is_read() -> None:
    assert read_run(OLD).target.product == "amqpspec reference broker"
    assert {row.id: in_fields(row) for row in read_cases(OLD)} == KEPT


def test_old_results_are_read_and_rendered(tmp_path: Path) -> None:
    folder = shutil.copytree(OLD, tmp_path / "old")
    run = load_run(folder)
    assert {row.id: in_fields(row) for row in run.cases} == KEPT
    assert run.exit_code == 1 and run.tally.blocked == 3
    for path in render_all(run).values():
        assert path.stat().st_size


def test_the_schema_of_old_results_is_kept() -> None:
    data = json.loads((OLD / "results.json").read_text())
    schema = json.loads(SCHEMA_FILE.with_name("results-1.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(data)


@pytest.mark.parametrize(
    ("verdict", "texts", "expected"),
    [
        ("blocked", {"reason": "the target is gone: refused"}, BlockedBy.TARGET_GONE),
        ("blocked", {"reason": "the run was stopped before this case"}, BlockedBy.STOPPED),
        ("not-applicable", {"reason": "tx: not announced"}, BlockedBy.PROFILE),
        ("inconclusive", {"observed": "the budget of 60 s was used up", "evidence": "e"}, BlockedBy.BUDGET),
        ("inconclusive", {"observed": "once, and not again", "evidence": "e"}, None),
        ("pass", {"observed": "the budget of 60 s was used up", "evidence": "e"}, None),
    ],
)
def test_what_kept_an_old_case_from_a_judgement(
    verdict: str, texts: dict[str, str], expected: BlockedBy | None
) -> None:
    bare = {"id": "a", "dialect": "d", "suite": "s", "title": "t", "requirements": [], "level": "MUST"}
    assert CaseRow.from_json({**bare, "verdict": verdict, **texts}).blocked_by is expected


def test_old_attempts_that_differed_still_do() -> None:
    bare = {"id": "a", "dialect": "d", "suite": "s", "title": "t", "requirements": [], "level": "MUST"}
    old = {**bare, "verdict": "fail", "reason": "attempts differ: 1 pass, 1 fail"}
    assert CaseRow.from_json(old).attempts_differ
