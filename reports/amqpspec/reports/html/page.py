"""Writes matrix.html: one file that needs no network, written in chunks, so that memory does not grow with the
evidence.

Knows: the template and its data. Must not know: how rows are ordered (model), how transcripts are shortened
(evidence).
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.files import atomic_text
from amqpspec.reports.html import evidence, model, targets
from amqpspec.reports.html.model import Cell, Matrix, Row, Section
from amqpspec.reports.html.template import environment
from amqpspec.reports.load import LoadedRun, ReportError
from amqpspec.reports.outcomes import GREEN, LOOKS, dialect_title, levels_in_order
from amqpspec.reports.summary import coverage, occurring
from amqpspec.reports.text import visible

_HERE = Path(__file__).parent


class Evidence(StrEnum):
    """The transcripts that a page contains: all; those of cases that did not pass and a sample of the others; those
    of deviations; none.

    It links to the others, except with ``DEVIATIONS``.
    """

    ALL = "all"
    SAMPLE = "sample"
    DEVIATIONS = "deviations"
    LINKS = "links"


_HELD = {
    Evidence.ALL: "",
    Evidence.SAMPLE: ": those of cases that did not pass, and one of each section that did",
    Evidence.DEVIATIONS: ": those of cases that did not pass",
    Evidence.LINKS: ", and links to them",
}


def write_matrix(path: Path, runs: Sequence[LoadedRun], embed: Evidence = Evidence.SAMPLE) -> None:
    """Write the matrix of one run or several as one self-contained HTML file.

    The page contains transcripts within the limits of ``evidence``. With ``DEVIATIONS`` it can be published alone: it
    contains the transcripts of deviations and links to no file.
    """
    if not runs:
        raise ReportError("expected at least one run to show, actual: none")
    matrix = model.build(runs)
    context = _context(_Page(path, matrix, embed, frozenset(_shown(matrix, embed))))
    with atomic_text(path) as out:
        out.writelines(_environment().get_template("matrix.html.j2").generate(context))


def script_json(data: object) -> Markup:
    """JSON that is safe in a script element: it cannot end the element or start another one."""
    text = json.dumps(data, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def case_hash(case_id: str, number: int) -> str:
    """The part of an address after ``#`` that opens the evidence of a case."""
    return f"#case={quote(visible(case_id), safe='/:,')}&target={number}"


def breakable(id: str) -> Markup:
    """An id with break opportunities for narrow columns."""
    return Markup("<wbr>").join(re.split(r"(?<=[./_])", visible(id)))


@dataclass(frozen=True, slots=True)
class _Page:
    """The data that the template requests while it is rendered."""

    path: Path
    matrix: Matrix
    embed: Evidence
    shown: frozenset[tuple[int, str]]
    """The transcripts that the page contains, by target and case."""

    @property
    def held(self) -> str:
        """Describes which transcripts the page contains; follows their number."""
        return _HELD[self.embed]

    @property
    def recorded(self) -> int:
        """The number of transcripts."""
        return sum(1 for _ in _recorded(self.matrix))

    @property
    def whole(self) -> str:
        """The command that generates this page with all transcripts, to be run in the folder of the page.

        For a page that is published alone, the reader has to fill in the runs.
        """
        if self.embed is Evidence.DEVIATIONS:
            return "amqpspec report RUN… --evidence all"
        here = self.path.resolve().parent
        folders = [os.path.relpath(run.folder.resolve(), here) for run in self.matrix.runs]
        usual = folders == ["."] and self.path.name == "matrix.html"
        out = () if usual else ("--out", self.path.name)
        return visible(shlex.join(["amqpspec", "report", *folders, *out, "--evidence", Evidence.ALL]))

    def row_json(self, row: Row) -> Markup:
        data = model.row_data(row)
        for cell, shown in zip(row.cells, data["cells"], strict=True):
            if cell:
                shown.update(self._evidence_facts(cell))
        return script_json(data)

    def _evidence_facts(self, cell: Cell) -> Mapping[str, str]:
        run = self.matrix.runs[cell.number - 1]
        if not cell.case.evidence:
            return {}
        facts = {"file": visible(cell.case.evidence)}
        if self.embed is Evidence.DEVIATIONS:
            return facts
        return facts | {"link": self._link(run, cell.case)} if run.evidence(cell.case) else facts

    def _link(self, run: LoadedRun, case: CaseRow) -> str:
        file = os.path.relpath(run.evidence(case) or run.folder, self.path.resolve().parent)
        return quote(file.replace(os.sep, "/"))

    def evidence_json(self, cell: Cell) -> Markup | None:
        """The transcript of one cell, read when it is needed."""
        wanted = (cell.number, cell.case.id) in self.shown
        file = self.matrix.runs[cell.number - 1].evidence(cell.case) if wanted else None
        return script_json(evidence.read_evidence(file)) if file else None

    def shell_json(self) -> Markup:
        names = targets.labels(self.matrix.runs)
        data: dict[str, Any] = {
            "targets": [visible(name) for name in names],
            "looks": model.looks_data(),
            "embedded": self.embed,
            "caps": {"frames": evidence.FRAMES_MAX, "kib": evidence.JSON_MAX // 1024},
            "requirements": {visible(k): model.requirement_data(v) for k, v in self.matrix.ledger.items()},
        }
        return script_json(data)


def _recorded(matrix: Matrix) -> Iterator[tuple[Section, Cell]]:
    """Every cell whose transcript exists."""
    for section in matrix.sections:
        for row in section.rows:
            for cell in row.present:
                if matrix.runs[cell.number - 1].evidence(cell.case):
                    yield section, cell


def _shown(matrix: Matrix, embed: Evidence) -> Iterator[tuple[int, str]]:
    """The transcripts to embed; the sample is the first passing case of each section and target."""
    sampled: set[tuple[int, str]] = set()
    for section, cell in _recorded(matrix):
        wanted = embed is Evidence.ALL or (embed is not Evidence.LINKS and cell.case.verdict not in GREEN)
        if embed is Evidence.SAMPLE and not wanted and (cell.number, section.name) not in sampled:
            sampled.add((cell.number, section.name))
            wanted = True
        if wanted:
            yield cell.number, cell.case.id


def _context(page: _Page) -> dict[str, Any]:
    runs, matrix = page.matrix.runs, page.matrix
    cases = [case for run in runs for case in run.cases]
    dialects = list(dict.fromkeys(dialect_title(run.meta.target.dialect) for run in runs))
    return {
        "page": page,
        "matrix": matrix,
        "cards": targets.cards(runs),
        "dialects": ", ".join(dialects),
        "subtitle": targets.subtitle(runs),
        "coverage": coverage(runs),
        "outcomes": occurring(cases),
        "verdict_counts": {o: sum(case.verdict is o for case in cases) for o in Outcome},
        "levels": levels_in_order(row.first.level for row in matrix.rows),
        "level_counts": Counter(row.first.level for row in matrix.rows),
        "any_known": any(cell.known for row in matrix.rows for cell in row.present),
        "case_count": sum(1 for _ in matrix.rows),
    }


def _environment() -> Environment:
    made = environment(_HERE, ("panel.js", "matrix.js"))
    made.filters["breakable"] = breakable
    made.globals.update(LOOKS=LOOKS, case_hash=case_hash, identity=targets.identity)
    return made
