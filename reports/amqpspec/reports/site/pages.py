"""The text of the pages: an index, matrices, pages of brokers, targets, requirements and differences.

Knows: templates and their data. Must not know: files of the site, Parquet.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from amqpspec.record.rows import Outcome
from amqpspec.reports.html.template import environment
from amqpspec.reports.marts.rows import LatestVerdict
from amqpspec.reports.outcomes import LOOKS, dialect_title, levels_in_order
from amqpspec.reports.site import brokers, feed, ledger, model, names, plots, search, svg
from amqpspec.reports.site.load import Loaded
from amqpspec.reports.site.model import Disputed, Sheet, Vector
from amqpspec.reports.site.rules import Rule, Seen, State, products, rules
from amqpspec.reports.summary import Score
from amqpspec.reports.text import one_line, visible

ROWS_MAX = 200
"""Rows of a long table; the page counts the others and links to the mart's CSV."""
_HERE = Path(__file__).parent

_SYMBOLS = {
    State.KEPT: "✓", State.NONSTRICT: "≈", State.VIOLATED: "✗", State.UNDECIDED: "?", State.BLOCKED: "⊘",
    State.NOT_APPLICABLE: "–", State.UNSEEN: "·",
}  # fmt: skip
_QUIET = (State.UNSEEN, State.NOT_APPLICABLE, State.BLOCKED)
"""States without a judgement of the version; the page does not say since when they hold."""
_PLOT_HEAD = Markup(
    '<link rel="stylesheet" href="assets/uPlot.min.css">\n'
    '<script defer src="assets/uPlot.min.js"></script>\n'
    '<script defer src="assets/plots.js"></script>'
)
_NOUNS = {"fuzz": "input", "case": "case"}

Pages = Iterator[tuple[str, Iterator[str]]]
Evidence = Callable[[LatestVerdict], str]
"""Copies a verdict's transcript; returns its path relative to the site's folder, or nothing if it is not copied."""


@dataclass(frozen=True, slots=True)
class Site:
    """The data of all pages, computed once."""

    loaded: Loaded
    sheets: list[Sheet]
    rules: list[Rule]
    products: Mapping[str, str]
    disputed: Mapping[str, list[Disputed]]
    vectors: Mapping[tuple[str, str], list[Vector]]

    @classmethod
    def of(cls, loaded: Loaded) -> Site:
        """Compute it from the marts."""
        sheets = model.sheets(loaded)
        judged = groupby((sheet for sheet in sheets if sheet.verdicts), key=lambda sheet: sheet.dialect)
        disputed = {dialect: model.disputed(list(own)) for dialect, own in judged}
        return cls(
            loaded, sheets, rules(loaded), products(loaded), disputed, model.vectors(loaded.differences)
        )

    @property
    def targets(self) -> dict[str, str]:
        """The page of each target."""
        return {name: names.page_name(name) for name in sorted({sheet.target for sheet in self.sheets})}

    @property
    def brokers(self) -> dict[str, str]:
        """The page of each product."""
        return {name: names.broker_page(name) for name in sorted({*self.products.values()}, key=str.lower)}

    @property
    def by_dialect(self) -> dict[str, list[Rule]]:
        """Requirements by dialect."""
        return {dialect: list(own) for dialect, own in groupby(self.rules, key=lambda rule: rule.dialect)}

    @property
    def case_pages(self) -> dict[tuple[str, str], str]:
        """The page of each case on which targets differ."""
        return {
            (dialect, row.case): names.case_page(dialect, row.case)
            for dialect, rows in self.disputed.items()
            for row in rows
        }

    def own(self, product: str) -> list[Sheet]:
        """The sheets of a product's targets."""
        return [sheet for sheet in self.sheets if self.products[sheet.target] == product]


def pages(loaded: Loaded, files: Mapping[str, tuple[str, ...]], evidence: Evidence, url: str = "") -> Pages:
    """The name and the text of each page; ``files`` are copies of the marts, ``evidence`` copies transcripts.

    ``url`` is the address at which the site is published, for the links of its feed.
    """
    site, entries = Site.of(loaded), list[search.Entry]()
    write = _Writer(site, files, evidence)
    for name, template, context, entry in _all(site):
        entries += [(name, *entry)] if entry else []
        yield name, write(name, template, context)
    yield "search.html", write("search.html", "search", {"entries": len(entries)})
    yield search.INDEX, iter([search.index(entries)])
    regressions = feed.newest_first(loaded.changes)
    yield feed.PAGE, write(feed.PAGE, "regressions", {"changes": regressions})
    yield feed.FEED, iter([feed.feed(regressions, loaded.as_of, url)])


class _Writer:
    """Renders a template with the data that all pages share."""

    def __init__(self, site: Site, files: Mapping[str, tuple[str, ...]], evidence: Evidence) -> None:
        marts = site.loaded.marts
        self._made = _environment(evidence)
        self._shared: dict[str, Any] = {
            "as_of": site.loaded.as_of,
            "files": {name: (marts.get(name, 0), paths) for name, paths in files.items()},
            "targets": site.targets,
            "brokers": site.brokers,
            "matrices": {dialect: names.matrix_page(dialect) for dialect in site.by_dialect},
            "case_pages": site.case_pages,
            "dialects": [(d, list(own)) for d, own in groupby(site.sheets, key=lambda sheet: sheet.dialect)],
        }

    def __call__(self, page: str, template: str, context: Mapping[str, Any]) -> Iterator[str]:
        whole = {**self._shared, "root": names.root_of(page), **context}
        return self._made.get_template(f"{template}.html.j2").generate(whole)


_Page = tuple[str, str, Mapping[str, Any], tuple[str, str, str] | None]
"""Name, template, its own context, and title, kind and text for the search; empty for pages that are not searched."""


def _all(site: Site) -> Iterator[_Page]:
    yield "index.html", "index", _totals(site), None
    yield "differences.html", "differences", _differences(site), None
    yield from _brokers(site)
    for name, page in site.targets.items():
        sheets = [sheet for sheet in site.sheets if sheet.target == name]
        context = {"target": name, "sheets": sheets, "product": site.products[name]}
        yield page, "target", context, (name, "target", " ".join(sheet.product for sheet in sheets))
    for dialect, own in site.by_dialect.items():
        title = dialect_title(dialect)
        yield names.matrix_page(dialect), "matrix", _matrix(site, dialect, own), (title, "matrix", dialect)
    yield from _requirements(site)
    yield from _disputed(site)
    yield from _vectors(site)


def _totals(site: Site) -> dict[str, Any]:
    sheets = site.sheets
    versions: defaultdict[str, set[str]] = defaultdict(set)
    for sheet in sheets:
        versions[site.products[sheet.target]] |= {version.name for version in sheet.versions}
    return {
        "versions": len({(sheet.target, version.name) for sheet in sheets for version in sheet.versions}),
        "runs": len({run.run for sheet in sheets for run in sheet.runs}),
        "open_findings": sum(len(sheet.open_findings) for sheet in sheets),
        "broker_versions": {product: ", ".join(_in_order(own)) for product, own in versions.items()},
    }


def _in_order(versions: set[str]) -> list[str]:
    return [one_line(name, 40) for name in sorted(versions, key=model.version_order, reverse=True) if name]


def _differences(site: Site) -> dict[str, Any]:
    return {"vectors": site.vectors, "vector_counts": site.loaded.vectors}


def _brokers(site: Site) -> Iterator[_Page]:
    for product, page in site.brokers.items():
        sheets = site.own(product)
        found = []
        for part in brokers.parts(product, sheets, site.by_dialect):
            newest = part.newest
            heat = plots.heat(newest, f"heat-{names.anchor(part.dialect)}") if newest else None
            found.append(_PartShown(part, heat))
        own = {version.name for sheet in sheets for version in sheet.versions}
        context = {"product": product, "parts": found, "versions": _in_order(own)}
        yield page, "broker", context, (product, "broker", " ".join(sheet.target for sheet in sheets))


class _PartShown:
    """A section of a product's page, with its heat map."""

    def __init__(self, part: brokers.Part, heat: svg.HeatMap | None) -> None:
        self.dialect, self.versions, self.newest = part.dialect, part.versions, part.newest
        self.turns, self.violated, self.heat = part.turns, part.violated, heat


@dataclass(frozen=True, slots=True)
class _Column:
    target: str
    version: str
    product: str


@dataclass(frozen=True, slots=True)
class _Row:
    rule: Rule
    page: str
    cells: tuple[Seen | None, ...]


def _matrix(site: Site, dialect: str, own: Sequence[Rule]) -> dict[str, Any]:
    cells = [{seen.row.target: seen for seen in _newest(rule)} for rule in own]
    columns = sorted(
        {
            _Column(seen.row.target, seen.version, site.products[seen.row.target])
            for row in cells
            for seen in row.values()
        },
        key=lambda column: (column.product.lower(), model.version_order(column.version), column.target),
    )
    rows = [
        _Row(rule, names.requirement_page(dialect, rule.id), tuple(map(row.get, (c.target for c in columns))))
        for rule, row in zip(own, cells, strict=True)
    ]
    sections = [(name, list(part)) for name, part in groupby(rows, key=lambda row: _section(row.rule))]
    return {"dialect": dialect, "rules": own, "columns": columns, "sections": sections}


def _section(rule: Rule) -> str:
    """The first part of an id; the id of a requirement that is named after a test has one part."""
    return rule.id.partition("/")[0] if "/" in rule.id else "named tests"


def _newest(rule: Rule) -> Iterator[Seen]:
    return (
        seen for history in rule.histories for span in history.spans for seen in span.seen if seen.row.newest
    )


def _requirements(site: Site) -> Iterator[_Page]:
    same = defaultdict(list)
    for rule in site.rules:
        same[rule.same_as or rule.id].append(rule)
    for rule in site.rules:
        page = names.requirement_page(rule.dialect, rule.id)
        text = ledger.text_of(rule.dialect, rule.id)
        others = [
            {
                "dialect": other.dialect,
                "id": other.id,
                "page": names.requirement_page(other.dialect, other.id),
            }
            for other in same[rule.same_as or rule.id]
            if other is not rule
        ]
        entry = (rule.id, dialect_title(rule.dialect), text.row.paraphrase if text else "")
        yield page, "requirement", {"rule": rule, "text": text, "same": others}, entry


def _disputed(site: Site) -> Iterator[_Page]:
    pages_of = {(rule.dialect, rule.id): names.requirement_page(rule.dialect, rule.id) for rule in site.rules}
    for dialect, rows in site.disputed.items():
        sheets = [sheet for sheet in site.sheets if sheet.dialect == dialect and sheet.verdicts]
        for row in rows:
            covered = [(id, pages_of.get((dialect, id), "")) for id in ledger.covered_by(dialect, row.case)]
            cells = list(zip(sheets, row.verdicts, strict=True))
            context = {"dialect": dialect, "row": row, "cells": cells, "requirements": covered}
            entry = (row.case, f"difference, {dialect_title(dialect)}", row.title)
            yield names.case_page(dialect, row.case), "difference", context, entry


def _vectors(site: Site) -> Iterator[_Page]:
    for (dialect, kind), rows in site.vectors.items():
        for row in rows:
            page = names.vector_page(dialect, kind, row.vector)
            context = {"dialect": dialect, "row": row, "noun": _NOUNS.get(kind, kind)}
            who = ", ".join(f"{one.target}: {one.reaction or 'nothing noted'}" for one in row.reactions)
            yield (
                page,
                "vector",
                context,
                (row.sample or row.vector, f"reactions, {dialect_title(dialect)}", who),
            )


def _environment(evidence: Evidence) -> Environment:
    made = environment(_HERE)
    made.filters.update(
        breakable=_breakable,
        one_line=one_line,
        dialect_title=dialect_title,
        day=_day,
        anchor=names.anchor,
        cut=_cut,
        requirement_anchor=names.requirement_anchor,
        regression_anchor=feed.regression_anchor,
    )
    made.tests["several"] = lambda rows: len(rows) > 1
    made.globals.update(
        LOOKS=LOOKS,
        Outcome=Outcome,
        ROWS_MAX=ROWS_MAX,
        STATE_SYMBOLS=_SYMBOLS,
        Score=Score,
        model=model,
        plots=plots,
        plot_data=plots.data,
        plot_head=_PLOT_HEAD,
        quiet_states=_QUIET,
        svg=svg,
        levels_in_order=levels_in_order,
        evidence_link=evidence,
        requirement_counts=model.requirement_counts,
        requirement_page=names.requirement_page,
        vector_page=names.vector_page,
    )
    return made


def _breakable(id: str | None) -> Markup:
    """An id with break opportunities for narrow columns."""
    return Markup("<wbr>").join(re.split(r"(?<=[./_-])", visible(id or "")))


def _day(at: Any) -> str:
    return f"{at:%Y-%m-%d}" if at else ""


def _cut(text: str | None, limit: int = 300) -> str:
    return one_line(text or "", limit)
