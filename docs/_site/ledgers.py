"""A page for each dialect: every requirement of its ledger with the cases that cover it.

Knows: ledgers and suites. Must not know: mkdocs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from amqpspec.run.case import Case, load_suite
from amqpspec.run.coverage import coverage_of
from amqpspec.spec.dialects import certified_dialects, client_dialects, load_dialect, load_ledger, widest
from amqpspec.spec.model import Requirement
from amqpspec.spec.requirements import Ledger

_HEAD = "| requirement | level | demand | cases |\n|---|---|---|---|"
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"} | {c: f"&#{ord(c)};" for c in "|*_[]`\\{}"}
_SPECIAL = re.compile(r"[&<>|*_\[\]`\\{}]")


def pages() -> dict[str, str]:
    """Path in the site and Markdown of each page."""
    found = {path: _page(dialect) for dialect, path in contents().items()}
    return found | {"dialects/index.md": _index([*contents()])}


def contents() -> dict[str, str]:
    """Path in the site of the page of each dialect, certified ones first."""
    return {dialect: f"dialects/{dialect}.md" for dialect in (*certified_dialects(), *client_dialects())}


def _index(dialects: Sequence[str]) -> str:
    lines = [
        "# Dialects",
        "",
        "| dialect | requirements | testable and covered | cases |",
        "|---|---|---|---|",
    ]
    for dialect in dialects:
        ledger, suite = load_ledger(dialect), load_suite(dialect)
        counts = coverage_of(ledger, suite)
        covered = f"{counts.covered} of {counts.testable}"
        lines.append(f"| [{dialect}]({dialect}.md) | {len(ledger)} | {covered} | {len(suite)} |")
    return "\n".join([*lines, ""])


def _page(dialect: str) -> str:
    ledger, suite = load_ledger(dialect), load_suite(dialect)
    return "\n".join([*_introduction(dialect, ledger, suite), *_sections(dialect, ledger, suite), ""])


def _introduction(dialect: str, ledger: Ledger, suite: Mapping[str, Case]) -> Iterator[str]:
    yield from (f"# {dialect}", "")
    yield f"{len(ledger)} requirements, {len(suite)} cases. `amqpspec explain ID` shows a requirement or a case,"
    yield "and `amqpspec run URL ID` runs the cases of a requirement or a single case."


def _sections(dialect: str, ledger: Ledger, suite: Mapping[str, Case]) -> Iterator[str]:
    cases: dict[str, list[Case]] = {}
    for case in suite.values():
        for covered in case.covers:
            cases.setdefault(covered, []).append(case)
    for title, rows in groupby(sorted(ledger.values(), key=_section), key=_section):
        yield from ("", f"## {title}", "", _HEAD)
        for row in rows:
            yield _row(dialect, row, cases.get(row.id, []))


def _section(row: Requirement) -> str:
    """The first part of an id; rows named after a test have an id of one part."""
    return row.id.partition("/")[0] if "/" in row.id else "Named tests"


def _row(dialect: str, row: Requirement, cases: Sequence[Case]) -> str:
    covering = "<br>".join(f"`{case.id}` {_plain(case.title)}" for case in cases)
    return (
        f"| `{row.id}` | {row.level} | {'<br>'.join(_demand(dialect, row))} | {covering or _no_case(row)} |"
    )


def _demand(dialect: str, row: Requirement) -> Iterator[str]:
    yield _plain(row.paraphrase)
    tables = load_dialect(widest(dialect))
    for title, refusals in (("Expected", row.accepts), ("Tolerated", row.tolerates)):
        if refusals:
            yield f"{title}: {_plain(' or '.join(refusal.describe(tables) for refusal in refusals))}."
    if row.reading:
        yield f"*Interpretation:* {_plain(row.reading)}"


def _no_case(row: Requirement) -> str:
    if not row.testable:
        return "*not testable*"
    return f"*excluded:* {_plain(row.excluded)}" if row.excluded else "*none*"


def _plain(text: str) -> str:
    """A text for the cell of a table, with the special characters of Markdown and HTML escaped."""
    return _SPECIAL.sub(lambda found: _ENTITIES[found[0]], " ".join(text.split()))
