"""CTRF, the common test report format in JSON, for dashboards that read neither JUnit nor results.json.

Knows: the format (ctrf.io). Must not know: how verdicts are made.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import LoadedRun
from amqpspec.reports.outcomes import is_deviation
from amqpspec.reports.text import one_line, visible

_STATUSES = ("passed", "failed", "skipped", "pending", "other")
_UNRUN = frozenset({Outcome.NOT_APPLICABLE, Outcome.BLOCKED, Outcome.EXCLUDED})


def write_ctrf(path: Path, run: LoadedRun) -> None:
    """Write the run as one CTRF document."""
    tests = [_test(run, case) for case in run.cases]
    counts = Counter(test["status"] for test in tests)
    summary = {"tests": len(tests), **{status: counts[status] for status in _STATUSES}}
    times = {"start": _epoch_ms(run.meta.started), "stop": _epoch_ms(run.meta.ended)}
    document = {
        "reportFormat": "CTRF",
        "specVersion": "0.0.0",
        "results": {
            "tool": {"name": "amqpspec", "version": run.meta.suite_version},
            "summary": summary | times,
            "tests": tests,
            "environment": {"testEnvironment": visible(run.meta.target.label)},
        },
    }
    with atomic_text(path) as out:
        out.write(json.dumps(document, indent=1) + "\n")


def _test(run: LoadedRun, case: CaseRow) -> dict[str, Any]:
    said = f"expected {case.expected}; observed {case.observed}" if case.observed else case.reason
    return {
        "name": visible(case.id),
        "status": _status(run, case),
        "duration": round(case.duration_ms),
        "suite": [visible(case.dialect), visible(case.suite)],
        "rawStatus": str(case.verdict),
        "message": one_line(case.reason if case.is_known else said, 500),
        "tags": [visible(id) for id in case.requirements],
    }


def _status(run: LoadedRun, case: CaseRow) -> str:
    """A known deviation is skipped, as in JUnit; an undecided case is neither passed nor failed."""
    if case.is_known or case.verdict in _UNRUN:
        return "skipped"
    if is_deviation(case, run.meta.strict):
        return "failed"
    return "other" if case.verdict in (Outcome.ERROR, Outcome.INCONCLUSIVE) else "passed"


def _epoch_ms(time: str) -> int:
    try:
        return round(datetime.fromisoformat(time).timestamp() * 1000)
    except ValueError:
        return 0
