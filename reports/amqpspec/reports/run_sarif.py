"""The deviations of a run as SARIF, for the code scanners and editors that read it.

Knows: by which requirement a case was judged, which file declares it. Must not know: JUnit, HTML.

A rule is a requirement; a result is a case that is not green. A new deviation is an error, a SHOULD that is not met
or an undecided case a warning; known deviations are suppressed, with the reason from the baseline. The id of the case
is the fingerprint, which identifies the same deviation in other runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from amqpspec.record.rows import CaseRow
from amqpspec.reports.load import LoadedRun, RequirementRow
from amqpspec.reports.sarif import log, write_log
from amqpspec.reports.standing import Deviations
from amqpspec.reports.text import one_line, visible
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import dialect_ids

FINGERPRINT = "amqpspecCase/v1"
SUITES, RUN = "SUITES", "RUN"
_BASES = {
    SUITES: {"description": {"text": "The folder of the suites that amqpspec was installed with."}},
    RUN: {"description": {"text": "The folder of the run."}},
}
_MESSAGE_CHARS = 1000


def write_run_sarif(path: Path, run: LoadedRun) -> None:
    """Write the deviations as one SARIF log with one run."""
    write_log(path, run_sarif(run))


def run_sarif(run: LoadedRun) -> dict[str, Any]:
    """The log as JSON data."""
    found = list(_found(run))
    rules = {_rule(run, case).id: _rule(run, case) for case, _ in found}
    places = {id: place for place, id in enumerate(rules)}
    target = run.meta.target
    return log(
        visible(f"amqpspec-run/{target.name}/{target.dialect}/"),
        [_rule_json(row) for row in rules.values()],
        [_result(run, case, level) | {"ruleIndex": places[_rule(run, case).id]} for case, level in found],
        originalUriBaseIds=_BASES,
        properties={"target": visible(target.label), "url": visible(target.url), "run": visible(run.meta.id)},
    )


def _found(run: LoadedRun) -> Iterator[tuple[CaseRow, str]]:
    deviations = Deviations.of_run(run)
    for cases, level in (
        (deviations.unexpected, "error"),
        (deviations.undecided, "warning"),
        (deviations.nonstrict, "warning"),
        (deviations.known, "error"),
    ):
        yield from ((case, level) for case in cases)


def _rule(run: LoadedRun, case: CaseRow) -> RequirementRow:
    """The requirement by which the case was judged: the first that it names."""
    return next(iter(run.clauses(case)), RequirementRow(case.id, case.level))


def _rule_json(row: RequirementRow) -> dict[str, Any]:
    return {
        "id": visible(row.id),
        "shortDescription": {"text": one_line(row.says) or visible(row.id)},
        "properties": {"level": visible(row.level), "clause": visible(row.clause)},
    }


def _result(run: LoadedRun, case: CaseRow, level: str) -> dict[str, Any]:
    said = (f"{name} {text}" for name, text in _said(case) if text)
    result = {
        "ruleId": visible(_rule(run, case).id),
        "level": level,
        "message": {"text": one_line("; ".join((case.title, *said)), _MESSAGE_CHARS)},
        "locations": [_location(case)],
        "fingerprints": {FINGERPRINT: visible(f"{case.dialect}/{case.id}")},
        "properties": {"verdict": str(case.verdict), "evidence": visible(case.evidence)},
    }
    if case.baseline == "known":
        result["suppressions"] = [{"kind": "external", "justification": one_line(case.reason)}]
    return result


def _said(case: CaseRow) -> tuple[tuple[str, str], ...]:
    return ("expected", case.expected), ("observed", case.observed), ("because", case.reason)


def _location(case: CaseRow) -> dict[str, Any]:
    """The file of the case's steps; for a case outside the suites, its evidence."""
    suite = load_suite(case.dialect) if case.dialect in dialect_ids() else {}
    if case.id in suite:
        file, line = suite[case.id].place
        uri, base = f"amqpspec/{file.rpartition('/amqpspec/')[2]}", SUITES
    else:
        uri, base, line = quote(visible(case.evidence)) or "results.json", RUN, 1
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": uri, "uriBaseId": base},
            "region": {"startLine": line},
        },
        "logicalLocations": [{"fullyQualifiedName": visible(case.id), "kind": "function"}],
    }
