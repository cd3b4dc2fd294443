"""The marts as rows for queries, and the meaning of ``is:`` for each.

Knows: names of marts and columns. Must not know: Spark, the syntax of queries.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqpspec.record.rows import Outcome
from amqpspec.reports.load import ReportError
from amqpspec.reports.marts.files import columns as columns_of
from amqpspec.reports.marts.files import names
from amqpspec.reports.marts.files import rows as rows_of
from amqpspec.reports.marts.rows import ROWS, FlakyCase, LatestVerdict, Regression
from amqpspec.reports.outcomes import GREEN, UNCOUNTED
from amqpspec.reports.query.evaluate import Row, Test

DEFAULT = LatestVerdict.NAME
_UNRUN = UNCOUNTED | {Outcome.BLOCKED}
_DEVIATIONS = frozenset(Outcome) - GREEN - _UNRUN


@dataclass(frozen=True, slots=True)
class QueriedMart:
    """One mart for queries; ``shown`` are the columns of a table on a terminal."""

    name: str
    columns: tuple[str, ...]
    shown: tuple[str, ...]
    folder: Path
    flags: Mapping[str, Test]

    def answers(self, test: Test) -> Iterator[Row]:
        """The matching rows, in the order of the mart's grain."""
        return filter(test, rows_of(self.folder))


_SHOWN = {row.NAME: row.SHOWN for row in ROWS}


def open_mart(marts: Path, name: str = DEFAULT) -> QueriedMart:
    """A mart below a folder of marts; raises ReportError if there is none."""
    known = names(marts)
    if name not in known:
        raise ReportError(f"{marts}: expected one of the marts {', '.join(known) or 'none'}, actual {name}")
    columns = columns_of(marts / name)
    shown = tuple(column for column in _SHOWN.get(name, columns) if column in columns)
    return QueriedMart(name, columns, shown or columns, marts / name, _flags(marts, name, columns))


def _flags(marts: Path, name: str, columns: tuple[str, ...]) -> dict[str, Test]:
    """The flags for ``is:`` that the mart has the columns for."""
    flags: dict[str, Test] = {}
    if "verdict" in columns:
        flags |= {
            "green": lambda row: row["verdict"] in GREEN,
            "deviation": lambda row: row["verdict"] in _DEVIATIONS,
        }
    if "baseline" in columns:
        flags |= {f: _baseline(f) for f in ("known", "unexpected")}
    for column in ("newest", "open", "flaky"):
        if column in columns:
            flags[column] = _holds(column)
    if name == DEFAULT:
        flags |= {
            "different": _among(_different(marts / name), ("dialect", "case")),
            "flaky": _among(_keys(marts / FlakyCase.NAME, "flips"), _CASE),
            "regressed": _among(
                _keys(marts / Regression.NAME, "direction", "regressed"), ("target", "dialect", "case")
            ),
        }
    return flags


_CASE = ("target", "target_version", "dialect", "case")


def _baseline(word: str) -> Test:
    return lambda row: row["baseline"] == word


def _holds(column: str) -> Test:
    return lambda row: bool(row[column])


def _among(keys: set[tuple[Any, ...]], columns: tuple[str, ...]) -> Test:
    return lambda row: tuple(row[column] for column in columns) in keys


def _different(folder: Path) -> set[tuple[Any, ...]]:
    """Cases of a dialect that ran on several targets, newest versions, green on one and not on another."""
    seen: dict[tuple[Any, ...], set[bool]] = defaultdict(set)
    for row in rows_of(folder, ("dialect", "case", "verdict", "newest")):
        if row["newest"] and row["verdict"] not in _UNRUN:
            seen[row["dialect"], row["case"]].add(row["verdict"] in GREEN)
    return {key for key, greens in seen.items() if len(greens) > 1}


def _keys(folder: Path, column: str, value: object = None) -> set[tuple[Any, ...]]:
    """The cases in another mart that have this value in a column, or for which the column is true."""
    if not folder.is_dir():
        return set()
    key = _CASE if value is None else ("target", "dialect", "case")
    rows = rows_of(folder, (*key, column))
    return {tuple(row[k] for k in key) for row in rows if (row[column] == value if value else row[column])}
