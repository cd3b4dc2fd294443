"""The pages as text: an index, one for each target, one for what differs; no script, nothing fetched.

Knows: templates and what they are given.
Must not know: files of the site, Parquet.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from amqpspec.record.rows import Outcome
from amqpspec.reports.html.template import environment
from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.outcomes import LOOKS, dialect_title, level_place, levels_in_order
from amqpspec.reports.site import model, plots, svg
from amqpspec.reports.site.load import Loaded
from amqpspec.reports.site.model import Sheet
from amqpspec.reports.summary import Score
from amqpspec.reports.text import one_line, visible

ROWS_MAX = 200
"""Rows of a long table; what is left out is said, and stands in the mart's CSV."""
_HERE = Path(__file__).parent

Pages = Iterator[tuple[str, Iterator[str]]]
Evidence = Callable[[LatestVerdict], str]
"""Keeps a verdict's transcript; says where it lies as seen from the pages, nothing if it is not kept."""


def pages(loaded: Loaded, files: Mapping[str, tuple[str, ...]], evidence: Evidence) -> Pages:
    """The name and the text of each page; ``files`` are copies of the marts, ``evidence`` keeps transcripts."""
    sheets = model.sheets(loaded)
    targets = {name: page_name(name) for name in sorted({sheet.target for sheet in sheets})}
    made = _environment(evidence)
    shared = {
        "as_of": loaded.as_of,
        "files": {name: (loaded.marts.get(name, 0), paths) for name, paths in files.items()},
        "targets": targets,
        "dialects": _dialects(sheets),
    }
    yield "index.html", _stream(made, "index.html.j2", shared | _totals(loaded, sheets))
    for name, page in targets.items():
        own = [sheet for sheet in sheets if sheet.target == name]
        yield page, _stream(made, "target.html.j2", shared | {"target": name, "sheets": own})
    differences = {"vectors": model.vectors(loaded.differences), "vector_counts": loaded.vectors}
    yield "differences.html", _stream(made, "differences.html.j2", shared | differences)


def page_name(target: str) -> str:
    """The file of a target's page; a name that is no plain word gets digits that tell it apart."""
    plain = re.sub(r"[^a-z0-9]+", "-", target.lower()).strip("-")[:60]
    digits = (
        "" if plain == target else "-" + blake2b(target.encode("utf-8", "replace"), digest_size=4).hexdigest()
    )
    return f"target-{plain}{digits}.html"


def _dialects(sheets: Sequence[Sheet]) -> list[tuple[str, list[Sheet]]]:
    return [(dialect, list(own)) for dialect, own in groupby(sheets, key=lambda sheet: sheet.dialect)]


def _totals(loaded: Loaded, sheets: Sequence[Sheet]) -> dict[str, Any]:
    return {
        "versions": len({(sheet.target, version.name) for sheet in sheets for version in sheet.versions}),
        "runs": len({run.run for sheet in sheets for run in sheet.runs}),
        "open_findings": sum(len(sheet.open_findings) for sheet in sheets),
        "most_earlier": max((len(sheet.versions) - 1 for sheet in sheets), default=0),
    }


def _stream(made: Environment, template: str, context: Mapping[str, Any]) -> Iterator[str]:
    return made.get_template(template).generate(context)


def _environment(evidence: Evidence) -> Environment:
    made = environment(_HERE)
    made.filters.update(
        breakable=_breakable,
        one_line=one_line,
        dialect_title=dialect_title,
        day=_day,
        anchor=_anchor,
        cut=_cut,
    )
    made.globals.update(
        LOOKS=LOOKS,
        Outcome=Outcome,
        ROWS_MAX=ROWS_MAX,
        Score=Score,
        model=model,
        plots=plots,
        svg=svg,
        levels_in_order=levels_in_order,
        evidence_link=evidence,
        requirement_counts=_requirement_counts,
    )
    return made


def _requirement_counts(sheet: Sheet) -> list[tuple[str, Counter[str]]]:
    """Requirements by level and status; of those judged, how many are green."""
    counts: dict[str, Counter[str]] = {}
    for row in sheet.requirements:
        own = counts.setdefault(row.level or "", Counter())
        own[row.status] += 1
        own["green"] += row.status == "judged" and row.judged == row.green
    return sorted(counts.items(), key=lambda item: level_place(item[0]))


def _breakable(id: str | None) -> Markup:
    """An id that a narrow column breaks between its words."""
    return Markup("<wbr>").join(re.split(r"(?<=[./_-])", visible(id or "")))


def _day(at: Any) -> str:
    return f"{at:%Y-%m-%d}" if at else ""


def _cut(text: str | None, limit: int = 300) -> str:
    return one_line(text or "", limit)


def _anchor(text: str) -> str:
    """A name for a place on a page."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")
