"""Writing matrix.html: one file, no network, in chunks, so that memory stays flat whatever the evidence.

Knows: the template and what it is given.
Must not know: how rows are ordered (model), how transcripts are cut (evidence).
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
    """What a page holds of the transcripts; what it does not hold it links to, except where it is to be published.

    All of them; those of what did not pass and a sample of what did; those of deviations and no links; links only.
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

    Transcripts are in the page within the caps of ``evidence``. With ``DEVIATIONS`` the page is one to publish by
    itself: it holds the transcripts of deviations and links to no file.
    """
    if not runs:
        raise ReportError("expected at least one run to show, actual: none")
    matrix = model.build(runs)
    context = _context(_Page(path, matrix, embed, frozenset(_shown(matrix, embed))))
    with atomic_text(path) as out:
        out.writelines(_environment().get_template("matrix.html.j2").generate(context))


def script_json(data: object) -> Markup:
    """JSON that may be in a script element: nothing in it can end the element or start another."""
    text = json.dumps(data, separators=(",", ":"))
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def case_hash(case_id: str, number: int) -> str:
    """The part of an address behind ``#`` that opens the evidence of a case."""
    return f"#case={quote(visible(case_id), safe='/:,')}&target={number}"


def breakable(id: str) -> Markup:
    """An id that a narrow column breaks between its words."""
    return Markup("<wbr>").join(re.split(r"(?<=[./_])", visible(id)))


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template asks for while it is being written."""

    path: Path
    matrix: Matrix
    embed: Evidence
    shown: frozenset[tuple[int, str]]
    """The transcripts that the page holds, by target and case."""

    @property
    def held(self) -> str:
        """Which transcripts the page holds, in words that follow their number."""
        return _HELD[self.embed]

    @property
    def recorded(self) -> int:
        """How many transcripts there are."""
        return sum(1 for _ in _recorded(self.matrix))

    @property
    def whole(self) -> str:
        """The command that makes this page with all transcripts, for the folder where the page lies.

        A page to publish lies by itself: where its runs are is for the reader to say.
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
        """The transcript of one cell, read when its turn comes."""
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
    """Every cell with a transcript that is there."""
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
