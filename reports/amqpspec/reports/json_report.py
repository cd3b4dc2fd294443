"""Writes ``results.json``: the run as one document, written case by case.

Knows: the results contract and its JSON Schema (``schemas/results-2.json``). Must not know: the source of the cases.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from amqpspec.record.rows import SCHEMA, CaseRow, Outcome, RunRow, Tally
from amqpspec.reports.files import atomic_text
from amqpspec.reports.load import RESULTS
from amqpspec.run.case import load_suite
from amqpspec.spec.dialects import load_ledger
from amqpspec.spec.model import Requirement

SCHEMA_FILE = Path(__file__).parent / "schemas" / f"results-{SCHEMA}.json"


def write_results(
    folder: Path,
    run: RunRow,
    cases: Iterable[CaseRow],
    requirements: Mapping[str, Mapping[str, Any]],
    exit_code: int,
    stale: Sequence[str | Mapping[str, Any]] = (),
) -> Path:
    """Write ``results.json`` into the run's folder and return its path.

    Cases are read one at a time and not kept in memory: they are stored in an unnamed file until the counts, which
    come first in the document, are known.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / RESULTS
    with TemporaryFile("w+", dir=folder, encoding="utf-8", errors="backslashreplace") as spool:
        tally = _spool(spool, cases)
        with atomic_text(path) as out:
            out.write(_head(run, tally, requirements, exit_code))
            shutil.copyfileobj(spool, out)
            out.write(f'\n  ],\n  "stale_baseline": {_compact(list(stale))}\n}}\n')
    return path


def requirement_json(requirement: Requirement, cases: Iterable[str] = ()) -> dict[str, Any]:
    """A row of the ledger as results.json has it, with the cases of the suite that cover it."""
    return {
        "level": str(requirement.level),
        "binds": requirement.binds,
        "section": requirement.section,
        "says": requirement.paraphrase,
        "reading": requirement.reading,
        "same_as": requirement.same_as,
        "source": requirement.source,
        "excluded": requirement.excluded or ("" if requirement.testable else "not observable from outside"),
        "cases": list(cases),
    }


def ledger_json(dialect: str) -> dict[str, dict[str, Any]]:
    """The ledger of a dialect as results.json has it; raises LedgerError."""
    cases: dict[str, list[str]] = {}
    for case in load_suite(dialect).values():
        for id in case.covers:
            cases.setdefault(id, []).append(case.id)
    return {id: requirement_json(row, cases.get(id, ())) for id, row in load_ledger(dialect).items()}


def _spool(spool: IO[str], cases: Iterable[CaseRow]) -> Tally:
    counts: Counter[Outcome] = Counter()
    for number, case in enumerate(cases):
        counts[case.verdict] += 1
        spool.write(f"{',' if number else ''}\n    {_compact(case.to_json())}")
    spool.seek(0)
    return Tally.of(counts.elements())


def _head(run: RunRow, tally: Tally, requirements: Mapping[str, Mapping[str, Any]], exit_code: int) -> str:
    fields = {"schema": SCHEMA, **tally.to_json(), "exit_code": exit_code, "meta": run.to_json()}
    lines = [f'  "{key}": {_compact(value)},' for key, value in fields.items()]
    rows = ",\n".join(_requirement_lines(requirements))
    return "\n".join(["{", *lines, '  "requirements": {', rows, "  },", '  "cases": ['])


def _requirement_lines(requirements: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for id, row in requirements.items():
        yield f"    {_compact(id)}: {_compact(dict(row))}"


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
