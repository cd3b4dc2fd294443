"""CTRF: the counts are those of its tests, a test says what JUnit says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from amqpspec.record.rows import Outcome
from amqpspec.reports.ctrf import write_ctrf
from amqpspec.reports.load import LoadedRun


def results(run: LoadedRun, path: Path) -> dict[str, Any]:
    write_ctrf(path, run)
    document = json.loads(path.read_text("utf-8"))
    assert document["reportFormat"] == "CTRF" and document["specVersion"]
    found: dict[str, Any] = document["results"]
    return found


def test_counts_add_up(harbor: LoadedRun, quay: LoadedRun, tmp_path: Path) -> None:
    for run in (harbor, quay):
        found = results(run, tmp_path / "ctrf.json")
        summary, tests = found["summary"], found["tests"]
        statuses = Counter(test["status"] for test in tests)
        assert summary["tests"] == len(tests) == len(run.cases) == sum(statuses.values())
        assert all(
            summary[status] == statuses[status]
            for status in ("passed", "failed", "skipped", "pending", "other")
        )
        assert summary["start"] > 0 and isinstance(summary["stop"], int)


def test_a_status_follows_from_verdict_and_baseline(harbor: LoadedRun, tmp_path: Path) -> None:
    found = {test["name"]: test for test in results(harbor, tmp_path / "ctrf.json")["tests"]}
    seen = set()
    for case, test in zip(harbor.cases, found.values(), strict=True):
        seen.add((case.verdict, case.is_known, test["status"]))
    assert (Outcome.FAIL, True, "skipped") in seen and (Outcome.FAIL, False, "failed") in seen
    assert {status for verdict, _, status in seen if verdict is Outcome.PASS} == {"passed"}
    assert {status for verdict, _, status in seen if verdict is Outcome.INCONCLUSIVE} == {"other"}
    assert {status for verdict, _, status in seen if verdict is Outcome.BLOCKED} == {"skipped"}
    failed = next(test for test in found.values() if test["status"] == "failed")
    assert failed["message"].startswith("expected ") and failed["duration"] >= 0 and failed["tags"]
