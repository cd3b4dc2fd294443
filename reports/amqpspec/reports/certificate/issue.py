"""Issues a certificate for a run's folder: target, suite, counts, deviations with reasons, verdicts, hash of the
evidence.

Knows: the certificate's document and what is hashed. Must not know: how it is checked or shown. Hashes are SHA-256 in
hex. ``evidence.sha256`` is the hash of the lines ``HASH PATH`` of all files, sorted by path, as ``sha256sum`` writes
them; ``sha256`` is the hash of the document without this key, with keys sorted and without spaces.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from amqpspec.record.rows import CaseRow
from amqpspec.reports.causes import causes
from amqpspec.reports.checksums import evidence_files, sha256_of
from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import LoadedRun, ReportError
from amqpspec.reports.outcomes import is_deviation
from amqpspec.reports.standing import numbers, standing
from amqpspec.reports.summary import coverage, headline
from amqpspec.spec.canonical import declared_hash
from amqpspec.spec.dialects import client_dialects, load_dialect, load_ledger, widest

SCHEMA = 2
_UNFINISHED = "expected a complete run, actual: a partial one, which cannot be certified"


def certificate(run: LoadedRun) -> dict[str, Any]:
    """The certificate of a finished run; raises ReportError for a partial run, or one without its journal."""
    if run.meta.partial or not run.cases:
        raise ReportError(f"{run.folder}: {_UNFINISHED}")
    document = {
        "certificate": SCHEMA,
        "says": headline(run),
        "suite_version": run.meta.suite_version,
        "dialect": run.meta.target.dialect,
        **_role(run),
        "declared": declared(run.meta.target.dialect),
        "target": _target(run),
        "run": {
            "id": run.meta.id, "started": run.meta.started, "ended": run.meta.ended, "strict": run.meta.strict,
            "command": run.meta.command, "platform": run.meta.platform, "note": run.meta.note,
        },
        "counts": run.tally.to_json(),
        "numbers": numbers(run).to_json(),
        "requirements": _requirements(run),
        "deviations": [_deviation(case) for case in run.cases if _is_named(case, run.meta.strict)],
        "causes": _causes(run),
        "verdicts": {case.id: str(case.verdict) for case in run.cases},
        "evidence": evidence(run.folder),
    }  # fmt: skip
    return {**document, "sha256": own_hash(document)}


def _role(run: LoadedRun) -> dict[str, str]:
    """The judged role, if it is not the broker alone."""
    if run.meta.target.dialect not in client_dialects():
        return {}
    servers = any(case.facts.role == "server" for case in run.cases)
    return {"role": "client and server" if servers else "client"}


def write_certificate(path: Path, document: Mapping[str, Any]) -> None:
    """Write a certificate as JSON, atomically."""
    with atomic_text(path) as file:
        file.write(json.dumps(document, indent=1, ensure_ascii=False) + "\n")


def own_hash(document: Mapping[str, Any]) -> str:
    """The hash of a certificate without its keys ``sha256`` and ``signature``."""
    rest = {key: value for key, value in document.items() if key not in ("sha256", "signature")}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return sha256(text.encode()).hexdigest()


def declared(dialect_id: str) -> dict[str, str]:
    """The hashes of the dialect's tables and of its ledger."""
    ledger = load_ledger(dialect_id)
    return {
        "tables": declared_hash(load_dialect(widest(dialect_id))),
        "ledger": declared_hash(tuple(ledger.values())),
    }


def evidence(folder: Path) -> dict[str, Any]:
    """Every file that verdicts depend on, with its hash, and one hash over all of them."""
    files = {name: sha256_of(folder / name) for name in evidence_files(folder)}
    lines = "".join(f"{digest}  {name}\n" for name, digest in files.items())
    return {"sha256": sha256(lines.encode()).hexdigest(), "files": files}


def _target(run: LoadedRun) -> dict[str, Any]:
    target = run.meta.target
    return {
        "name": target.name, "product": target.product, "version": target.version, "profile": target.profile,
        "announced": dict(target.announced),
    }  # fmt: skip


def _requirements(run: LoadedRun) -> dict[str, Any]:
    found, stands = coverage([run]), standing(run)
    return {
        "total": found.total, "covered": found.covered, "excluded": len(found.excluded), "open": len(found.open),
        "judged": stands.judged, "of": stands.of, "not_judged": list(stands.open),
    }  # fmt: skip


def _causes(run: LoadedRun) -> list[dict[str, Any]]:
    """The deviations grouped by cause if several cases share it; cases by id."""
    found = causes(case for case in run.cases if _is_named(case, run.meta.strict))
    return [
        {"verdict": str(cause.verdict), "says": cause.says, "cases": [case.id for case in cause.cases]}
        for cause in found
    ]


def _is_named(case: CaseRow, strict: bool) -> bool:
    return is_deviation(case, strict) or bool(case.baseline)


def _deviation(case: CaseRow) -> dict[str, Any]:
    return {
        "case": case.id, "verdict": str(case.verdict), "level": case.level,
        "requirements": list(case.requirements), "expected": case.expected, "observed": case.observed,
        "known": case.baseline == "known", "reason": case.reason, "evidence": case.evidence,
    }  # fmt: skip


def short(document: Mapping[str, Any]) -> Iterator[str]:
    """A summary of a certificate in a few lines."""
    target, counts = document["target"], document["numbers"]
    who = f"{target['product'] or target['name']} {target['version']}".strip()
    role = f", {document['role']}" if "role" in document else ""
    yield f"{who} ({document['dialect']}{role}): {document['says']}"
    yield (
        f"{counts['planned']} cases = {counts['run']} run + {counts['not_applicable']} not applicable + "
        f"{counts['blocked']} blocked + {counts['excluded']} excluded; {counts['known']} known, "
        f"{counts['unexpected']} unexpected, {counts['undecided']} undecided, "
        f"{counts['nonstrict']} nonstrict, {counts['left']} blocked and not known"
    )
    tables = document["declared"]["tables"][:16]
    yield f"suite {document['suite_version']}, tables {tables}, run {document['run']['id']}"
    yield f"evidence {document['evidence']['sha256']}"
