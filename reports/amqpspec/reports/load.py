"""Reads a run: converts ``results.json`` to typed rows, and reports every problem in one line.

Knows: the layout of a run folder and of results.json. Must not know: how rows are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqpspec.record.journal import JOURNAL
from amqpspec.record.reading import parse_json
from amqpspec.record.rows import SCHEMA, CaseRow, RunRow, Tally

RESULTS = "results.json"


class ReportError(ValueError):
    """The folder or file is not a readable run; the message is one line that names the file."""


@dataclass(frozen=True, slots=True)
class RequirementRow:
    """One requirement as the run recorded it;

    ``excluded`` is the reason why no case covers it, ``cases`` are those that do.
    """

    id: str
    level: str = ""
    binds: str = ""
    section: str = ""
    says: str = ""
    reading: str = ""
    same_as: str = ""
    source: str = ""
    excluded: str = ""
    cases: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, id: str, data: Mapping[str, Any]) -> RequirementRow:
        """Read a row; unknown keys of a newer version are ignored."""
        known = {key: data[key] for key in cls.__slots__ if key != "id" and data.get(key)}
        return cls(id, **known | {"cases": tuple(map(str, data.get("cases", ())))})

    @property
    def key(self) -> str:
        """The name under which dialects share this requirement; otherwise its id."""
        return self.same_as or self.id

    @property
    def clause(self) -> str:
        """Its place in the specification: ``channel.open#state, R91-044``."""
        return ", ".join(part for part in (self.section, self.source) if part)


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """One finished run, ready to be rendered; paths of evidence are relative to ``folder``."""

    folder: Path
    meta: RunRow
    cases: tuple[CaseRow, ...]
    requirements: Mapping[str, RequirementRow]
    tally: Tally
    exit_code: int
    stale: tuple[str, ...]

    def clauses(self, case: CaseRow) -> list[RequirementRow]:
        """The requirements that a case covers; one that is not in the ledger has only its id."""
        return [self.requirements.get(id) or RequirementRow(id, case.level) for id in case.requirements]

    def evidence(self, case: CaseRow) -> Path | None:
        """The transcript of a case, if it exists within the run's folder."""
        path = (self.folder / case.evidence).resolve()
        inside = case.evidence and path.is_relative_to(self.folder.resolve())
        return path if inside and path.is_file() else None


def load_run(path: Path) -> LoadedRun:
    """Read a run from its folder or its results.json; raises ReportError."""
    file = path / RESULTS if path.is_dir() else path
    data = _document(file)
    _check_schema(file, data)
    try:
        return _run(file.parent, data)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise ReportError(
            f"{file}: not a results document of schema {data['schema']}: {_reason(problem)}"
        ) from problem


def _document(file: Path) -> Mapping[str, Any]:
    try:
        data = parse_json(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        if (file.parent / JOURNAL).exists():
            unfinished = f"{file.parent} contains an unfinished run: continue with"
            raise ReportError(f"{unfinished} amqpspec run … --resume {file.parent}") from None
        raise ReportError(f"{file}: no such file; expected a run folder or its {RESULTS}") from None
    except OSError as problem:
        raise ReportError(f"{file}: cannot be read: {problem.strerror}") from problem
    except ValueError as problem:
        raise ReportError(f"{file}: not JSON: {problem}") from problem
    if not isinstance(data, dict):
        raise ReportError(f"{file}: expected a JSON object, actual: {type(data).__name__}")
    return data


def _check_schema(file: Path, data: Mapping[str, Any]) -> None:
    schema = data.get("schema")
    if not isinstance(schema, int) or isinstance(schema, bool) or schema < 1:
        raise ReportError(f"{file}: expected a schema number of 1 to {SCHEMA}, actual: {schema!r}")
    if schema > SCHEMA:
        raise ReportError(
            f"{file}: written by a newer amqpspec (schema {schema}; this one reads up to {SCHEMA})"
        )


def _run(folder: Path, data: Mapping[str, Any]) -> LoadedRun:
    cases = tuple(CaseRow.from_json(row) for row in data["cases"])
    ledger = data.get("requirements", {})
    return LoadedRun(
        folder=folder,
        meta=RunRow.from_json(data["meta"]),
        cases=cases,
        requirements={id: RequirementRow.from_json(id, row) for id, row in ledger.items()},
        tally=Tally.of(case.verdict for case in cases),
        exit_code=int(data.get("exit_code", 0)),
        stale=tuple(_stale_text(entry) for entry in data.get("stale_baseline", ())),
    )


def _stale_text(entry: object) -> str:
    if isinstance(entry, Mapping) and entry.keys() == {"case", "why"}:
        return f"{entry['case']}: {entry['why']}"
    if isinstance(entry, Mapping):
        return ", ".join(f"{key} {value}" if key != "id" else str(value) for key, value in entry.items())
    return str(entry)


def _reason(problem: Exception) -> str:
    text = str(problem) or type(problem).__name__
    return f"key {text} is missing" if isinstance(problem, KeyError) else text
