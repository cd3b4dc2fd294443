"""Checks a certificate against its evidence: one line for each mismatch.

Knows: which facts have to agree. Must not know: targets, sockets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from amqpspec.record.reading import parse_json
from amqpspec.record.rows import CaseRow, Outcome, Tally
from amqpspec.reports.certificate.issue import SCHEMA, certificate, evidence, own_hash
from amqpspec.reports.json_report import ledger_json
from amqpspec.reports.load import LoadedRun, ReportError, RequirementRow, load_run
from amqpspec.run.results import contradictions, exit_code
from amqpspec.spec.dialects import client_dialects

_KEYS = frozenset(
    {"says", "counts", "verdicts", "deviations", "evidence", "target", "declared", "dialect", "sha256"}
)


def read_certificate(path: Path) -> dict[str, Any]:
    """Read a certificate; raises ReportError if the file is not one."""
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: expected a certificate, actual: {error}") from error
    if not isinstance(document, dict) or not set(document) >= _KEYS:
        raise ReportError(f"{path}: expected a certificate with the keys {', '.join(sorted(_KEYS))}")
    if document.get("certificate") != SCHEMA:
        raise ReportError(
            f"{path}: expected a certificate of schema {SCHEMA}, actual {document.get('certificate')!r}"
        )
    return document


def complaints(document: Mapping[str, Any], folder: Path) -> Iterator[str]:
    """The mismatches between a certificate and the run's folder. Raises ReportError if there is no run."""
    yield from _within(document)
    yield from _files(document["evidence"], folder)
    run = load_run(folder)
    yield from _results(document, run)
    yield from contradictions(folder, run.cases)
    yield from _judged(run)
    for case in run.cases:
        yield from _transcript(run, case)


def _judged(run: LoadedRun) -> Iterator[str]:
    """Mismatches in the exit code of the results, and in the ledger that they were judged by."""
    strict, partial = run.meta.strict, run.meta.partial
    code = exit_code(run.cases, run.stale, strict=strict, partial=partial)
    if run.exit_code != code:
        yield f"exit code: the results say {run.exit_code}, their rows come to {int(code)}"
    dialect = run.meta.target.dialect
    ledger = {id: RequirementRow.from_json(id, row) for id, row in ledger_json(dialect).items()}
    ids = sorted(id for id in {**ledger, **run.requirements} if ledger.get(id) != run.requirements.get(id))
    if ids:
        yield f"requirements: the results' ledger is not that of this suite: {len(ids)} differ, {ids[0]} first"


def _within(document: Mapping[str, Any]) -> Iterator[str]:
    """Mismatches within the certificate."""
    if (actual := own_hash(document)) != document["sha256"]:
        yield f"the certificate was changed: expected sha256 {document['sha256']}, actual {actual}"
    counted = Tally.of(Outcome(verdict) for verdict in document["verdicts"].values()).to_json()
    if counted != document["counts"]:
        yield f"counts do not add up: expected {counted}, actual {document['counts']}"


def _files(told: Mapping[str, Any], folder: Path) -> Iterator[str]:
    actual = evidence(folder)
    for name in sorted(told["files"].keys() | actual["files"].keys()):
        expected, found = told["files"].get(name), actual["files"].get(name)
        if found is None:
            yield f"{name}: expected sha256 {expected}, actual: the file is missing"
        elif expected is None:
            yield f"{name}: expected no such file, actual: one that the certificate does not name"
        elif expected != found:
            yield f"{name}: expected sha256 {expected}, actual {found}"


def _results(document: Mapping[str, Any], run: LoadedRun) -> Iterator[str]:
    """Mismatches with a certificate issued from the run's results today.

    Evidence is compared file by file; tables may be newer.
    """
    anew = certificate(run)
    for key in sorted(set(anew) - {"sha256", "evidence", "declared"}):
        if anew[key] != document.get(key):
            yield f"{key}: {_first_difference(document.get(key), anew[key])}"


def _first_difference(told: Any, found: Any) -> str:
    if isinstance(told, Mapping) and isinstance(found, Mapping):
        name = next(name for name in sorted(told.keys() | found.keys()) if told.get(name) != found.get(name))
        return f"{name}: certificate says {told.get(name)!r}, results say {found.get(name)!r}"
    return f"certificate says {_brief(told)}, results say {_brief(found)}"


def _brief(value: Any) -> str:
    return f"{len(value)} entries" if isinstance(value, list) else repr(value)


def _transcript(run: LoadedRun, case: CaseRow) -> Iterator[str]:
    """A transcript must end with the verdict in the results, or with that of one of several attempts."""
    path = run.evidence(case)
    if path is None:
        if case.evidence:
            yield f"{case.evidence}: expected the transcript of {case.id}, actual: no such file"
        return
    if case.dialect in client_dialects():
        return  # One conversation is evidence for many cases.
    told = _verdict(path)
    if told is None:
        yield f"{case.evidence}: expected a verdict on its last lines, actual: none"
    elif told != case.verdict and not case.attempts_differ:
        yield f"{case.evidence}: the transcript says {told}, the results say {case.verdict} of {case.id}"


def _verdict(path: Path) -> str | None:
    for line in reversed(path.read_text(encoding="utf-8", errors="replace").splitlines()):
        try:
            data = parse_json(line)
        except ValueError:
            continue
        if isinstance(data, dict) and data.get("kind") == "verdict":
            return str(data.get("verdict"))
    return None
