"""A run of the suites as observations: one for each case and attempt, with its baseline status.

Knows: journal and results of a run. Must not know: campaigns, Parquet, manifests.

An observation has the time when its case ended; if the case did not run, or the journal has no time, it has the start
time of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa

from amqpspec.record.journal import JOURNAL, read_cases, read_run
from amqpspec.record.observation import CASE, VERDICT_CODES, key, row, utc
from amqpspec.record.rows import CaseRow, RunRow, TargetRow
from amqpspec.reports.checksums import check_sums
from amqpspec.reports.json_report import ledger_json
from amqpspec.reports.load import RESULTS, LoadedRun, ReportError, RequirementRow, load_run
from amqpspec.reports.outcomes import GREEN
from amqpspec.reports.pipeline.dimensions import Rows
from amqpspec.reports.pipeline.reactions import arrivals_in_words, case_reaction
from amqpspec.reports.pipeline.schema import OBSERVATION, LakeError
from amqpspec.run.results import contradictions
from amqpspec.spec.dialects import certified_dialects

_BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class Run:
    """The folder of a run, up to the current end of its journal; ``judged`` is its results.json, if it exists."""

    folder: Path
    source: str
    row: RunRow
    judged: LoadedRun | None
    verdicts: Mapping[str, CaseRow] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The run's id, with digits that distinguish runs in folders of the same name."""
        return f"{self.row.id}.{self.source[:8]}"

    @property
    def started(self) -> datetime:
        """When the run began; raises LakeError."""
        try:
            return utc(self.row.started)
        except ValueError as error:
            raise LakeError(f"{self.folder / JOURNAL}: started: {error}") from error

    @property
    def ended(self) -> str:
        """When the run ended; empty if it has not."""
        return self.judged.meta.ended if self.judged else ""


def open_run(folder: Path) -> Run:
    """The run in this folder; raises LakeError, JournalError, ReportError."""
    check_sums(folder)
    row = read_run(folder)
    judged = load_run(folder) if (folder / RESULTS).exists() else None
    # A resumed run has old results: only the rows of its journal are ingested.
    is_over = judged is not None and not judged.meta.partial
    if judged and is_over and (wrong := next(contradictions(folder, judged.cases), None)):
        raise ReportError(
            f"{folder}: expected results that follow from the journal beside them, actual: {wrong}"
        )
    verdicts = {case.id: case for case in judged.cases} if judged else {}
    return Run(folder, _source_id(row), row, judged, verdicts)


def batches(run: Run) -> Iterator[pa.RecordBatch]:
    """All observations of a run, in bounded batches."""
    held: list[dict[str, Any]] = []
    for case in _attempts(run):
        held.append(_observation(run, case))
        if len(held) == _BATCH_ROWS:
            yield pa.RecordBatch.from_pylist(held, schema=OBSERVATION)
            held = []
    if held:
        yield pa.RecordBatch.from_pylist(held, schema=OBSERVATION)


def dimensions(run: Run) -> Rows:
    """The rows of the dimensions: the run, its target, its cases and their requirements."""
    seen = {"seen_at": run.started}
    cases = {case.id: case for case in _attempts(run)}
    return {
        "runs": [_run_row(run) | seen],
        "targets": [_target_row(run.row) | seen],
        "cases": [_case(run, case) | seen for case in cases.values()],
        "requirements": [row | seen for row in requirement_rows(run.row.target.dialect, _ledger(run))],
        "case_requirements": [
            link | seen for case in cases.values() for link in _links(case)
        ],
    }  # fmt: skip


def target_columns(name: str, product: str, version: str, dialect: str) -> dict[str, Any]:
    """The columns that rows of runs and of targets share; a target has a row for each version and dialect."""
    return {
        "target_key": key(name, product, version, dialect), "target": name, "product": product,
        "target_version": version, "dialect": dialect,
    }  # fmt: skip


def _target_columns(target: TargetRow) -> dict[str, Any]:
    return target_columns(target.name, target.product, target.version, target.dialect)


def _run_row(run: Run) -> dict[str, Any]:
    """The row of the dimension ``runs``."""
    row = run.row
    meta = run.judged.meta if run.judged else row
    return {
        **_target_columns(row.target), "run_key": key(run.name), "run": run.name, "kind": CASE,
        "suite_version": row.suite_version, "started_at": run.started,
        "ended_at": utc(run.ended) if run.ended else None, "partial": meta.partial or run.judged is None,
        "strict": meta.strict, "command": row.command, "platform": row.platform, "note": meta.note,
        "folder": str(run.folder.resolve()),
    }  # fmt: skip


def _target_row(row: RunRow) -> dict[str, Any]:
    """The row of the dimension ``targets``."""
    target = row.target
    return {
        **_target_columns(target), "profile": target.profile, "url": target.url,
        "announced": json.dumps(target.announced, sort_keys=True, ensure_ascii=False, default=str),
    }  # fmt: skip


def _source_id(row: RunRow) -> str:
    """A key that is the same for the same run in any folder."""
    whole = json.dumps(row.to_json(), sort_keys=True, default=str)
    return blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def _attempts(run: Run) -> Iterator[CaseRow]:
    """Every attempt; then the cases without one, from results.json."""
    seen = set()
    for case in read_cases(run.folder):
        seen.add(case.id)
        yield case
    yield from (case for name, case in run.verdicts.items() if name not in seen)


def _observation(run: Run, case: CaseRow) -> dict[str, Any]:
    target, reaction, facts = run.row.target, case_reaction(case), case.facts
    made = row(
        kind=CASE, run=run.name, target=target.name, product=target.product, target_version=target.version,
        suite_version=run.row.suite_version, dialect=case.dialect, case=case.id, attempt=case.attempt,
        verdict=VERDICT_CODES[case.verdict], baseline=_baseline(run, case), state=case.suite,
        end_state=case.ended or None, reaction=reaction, latency_us=int(case.duration_ms * 1000),
        at_us=_ended(run, case), evidence=case.evidence or None, detail=_detail(case),
        blocked_by=case.blocked_by, refusal_scope=facts.refusal.scope if facts.refusal else None,
        refusal_code=str(facts.refusal.code) if facts.refusal and facts.refusal.code is not None else None,
        arrivals=arrivals_in_words(facts) or None,
    )  # fmt: skip
    return made if reaction else made | {"signature": None}


def _ended(run: Run, case: CaseRow) -> datetime:
    try:
        return utc(case.ended_at) if case.ended_at else run.started
    except ValueError as error:
        raise LakeError(f"{run.folder / JOURNAL}: case {case.id}: ended_at: {error}") from error


def _baseline(run: Run, case: CaseRow) -> str | None:
    """The baseline status of the judged case, for attempts with the same verdict."""
    judged = run.verdicts.get(case.id)
    if judged is not None and judged.verdict is case.verdict:
        return judged.baseline or None
    return case.baseline or None


def _detail(case: CaseRow) -> str | None:
    """The texts for a deviation; empty for green verdicts."""
    if case.verdict in GREEN:
        return None
    texts = {"expected": case.expected, "observed": case.observed, "reason": case.reason}
    return json.dumps({name: text for name, text in texts.items() if text}, ensure_ascii=False) or None


def _case(run: Run, case: CaseRow) -> dict[str, Any]:
    return {
        "case_key": key(case.dialect, case.id), "dialect": case.dialect, "case": case.id, "suite": case.suite,
        "title": case.title, "level": case.level, "suite_version": run.row.suite_version,
    }  # fmt: skip


def _links(case: CaseRow) -> Iterator[dict[str, Any]]:
    for id in case.requirements:
        yield {
            "case_key": key(case.dialect, case.id), "requirement_key": key(case.dialect, id),
            "dialect": case.dialect, "case": case.id, "requirement": id,
        }  # fmt: skip


def _ledger(run: Run) -> list[RequirementRow]:
    if run.judged and run.judged.requirements:
        return list(run.judged.requirements.values())
    return ledger_rows(run.row.target.dialect)


def ledger_rows(dialect: str) -> list[RequirementRow]:
    """The requirements of a dialect in this version; empty for an unknown dialect."""
    if dialect not in certified_dialects():
        return []
    return [RequirementRow.from_json(id, row) for id, row in ledger_json(dialect).items()]


def requirement_rows(dialect: str, ledger: Iterable[RequirementRow]) -> Iterator[dict[str, Any]]:
    """Rows of the dimension ``requirements``."""
    for item in ledger:
        texts = asdict(item)
        id, _ = texts.pop("id"), texts.pop("cases")
        yield {"requirement_key": key(dialect, id), "dialect": dialect, "requirement": id, **texts}
