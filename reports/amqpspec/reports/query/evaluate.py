"""Evaluates a query on rows: each key is a column of the mart, ``is`` a flag.

Knows: how columns are compared. Must not know: which marts exist, the syntax of queries.

Matching ignores case; a value with ``*`` or ``?`` is a glob. With an operator, the value is compared as a number, or
as text if the column is not numeric (times: ``at:>2026-11-01``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from datetime import date, datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from amqpspec.reports.query.parse import QueryError
from amqpspec.reports.query.terms import All, Not, Query, Some, Term, Text

Row = Mapping[str, Any]
Test = Callable[[Row], bool]

ALIASES = {
    "status": "verdict", "section": "suite", "module": "suite", "version": "target_version", "broker": "product",
    "id": "case", "test": "case",
}  # fmt: skip
"""Aliases of columns, for marts that have the column and none with the alias."""
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    ">": operator.gt, "<": operator.lt, ">=": operator.ge, "<=": operator.le, "=": operator.eq,
}  # fmt: skip


def compile_query(query: Query, columns: Collection[str], flags: Mapping[str, Test], typed: str = "") -> Test:
    """The predicate of a query on rows. Raises QueryError for an unknown key or flag."""
    match query:
        case Text(value):
            return lambda row: any(value.lower() in text(cell).lower() for cell in row.values())
        case Not(part):
            inner = compile_query(part, columns, flags, typed)
            return lambda row: not inner(row)
        case All(parts):
            tests = [compile_query(part, columns, flags, typed) for part in parts]
            return lambda row: all(test(row) for test in tests)
        case Some(parts):
            tests = [compile_query(part, columns, flags, typed) for part in parts]
            return lambda row: any(test(row) for test in tests)
        case Term():
            return _term(query, columns, flags, typed)


def _term(term: Term, columns: Collection[str], flags: Mapping[str, Test], typed: str) -> Test:
    if term.key == "is":
        chosen = [flags[_known(value, flags, "is:", term, typed)] for value in map(str.lower, term.values)]
        return lambda row: any(flag(row) for flag in chosen)
    names = {*columns, *(alias for alias, name in ALIASES.items() if name in columns)}
    key = _known(term.key, names, "", term, typed)
    column = key if key in columns else ALIASES[key]
    if term.operator:
        return _comparison(term, column, typed)
    return lambda row: any(_matches(text(row[column]), value) for value in term.values)


def _known(name: str, names: Collection[str], kind: str, term: Term, typed: str) -> str:
    if name in names:
        return name
    close = get_close_matches(name, names, 1)
    hint = f"did you mean {kind}{close[0]}?" if close else f"expected one of {', '.join(sorted(names))}"
    raise QueryError(f"unknown {kind or 'key '}{name!r}, {hint}", typed, min(term.at, len(typed)))


def _comparison(term: Term, column: str, typed: str) -> Test:
    if len(term.values) != 1:
        raise QueryError(f"expected one value after {term.operator!r}", typed, min(term.at, len(typed)))
    compare, wanted = _COMPARE[term.operator], term.values[0]

    def test(row: Row) -> bool:
        cell = row[column]
        if cell is None:
            return False
        if isinstance(cell, int | float) and not isinstance(cell, bool):
            number = _number(wanted)
            return number is not None and compare(cell, number)
        return compare(text(cell).lower(), wanted.lower())

    return test


def _number(value: str) -> float | None:
    try:
        return float(value)
    except ValueError:
        return None


def _matches(cell: str, value: str) -> bool:
    if "*" in value or "?" in value:
        return fnmatchcase(cell.lower(), value.lower().replace("[", "[[]"))
    return cell.lower() == value.lower()


def text(cell: object) -> str:
    """A cell as text: empty for null, times in UTC, booleans in lower case."""
    if cell is None:
        return ""
    if isinstance(cell, datetime):
        return cell.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"
    if isinstance(cell, date):
        return cell.isoformat()
    return str(cell).lower() if isinstance(cell, bool) else str(cell)
