"""The matrix as rows: section › requirement › case, with a cell for each target.

Knows: how the cases of several runs are combined, and in which order. A requirement that dialects share (``same_as``)
is one group with the worst outcome of each target, even if its cases have different ids. Must not know: HTML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from amqpspec.record.rows import CaseRow, Outcome
from amqpspec.reports.load import LoadedRun, RequirementRow
from amqpspec.reports.outcomes import GREEN, LOOKS, worst
from amqpspec.reports.text import visible

NO_REQUIREMENT = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The result of one target, counted from 1, in one case; ``known`` if its baseline lists the deviation."""

    number: int
    case: CaseRow
    known: bool


@dataclass(frozen=True, slots=True)
class Row:
    """One case across all targets; None for a target without this case."""

    index: int
    first: CaseRow
    cells: tuple[Cell | None, ...]

    @property
    def present(self) -> list[Cell]:
        """The cells that exist."""
        return [cell for cell in self.cells if cell]

    @property
    def differs(self) -> bool:
        """Whether the outcomes of two targets differ."""
        return len({cell.case.verdict for cell in self.present}) > 1


@dataclass(frozen=True, slots=True)
class Group:
    """One requirement: the cases below it, and those in other groups that also cover it."""

    requirement: RequirementRow
    rows: tuple[Row, ...]
    also: tuple[str, ...]

    @property
    def shared(self) -> bool:
        """Whether the group has cases of several dialects."""
        return len({cell.case.dialect for row in self.rows for cell in row.present}) > 1

    @property
    def outcomes(self) -> tuple[tuple[Outcome, bool] | None, ...]:
        """The worst outcome of each target in these cases, and whether its baseline lists all deviations of that
        severity.
        """
        columns = zip(*(row.cells for row in self.rows), strict=True)
        return tuple(_worst_of([cell for cell in column if cell]) for column in columns)


def _worst_of(cells: Sequence[Cell]) -> tuple[Outcome, bool] | None:
    found = worst(cell.case.verdict for cell in cells)
    if found is None:
        return None
    return (found, all(cell.known for cell in cells if cell.case.verdict is found))


@dataclass(frozen=True, slots=True)
class Section:
    """One module of the suite; ``scores`` contains (green, all) for each target."""

    name: str
    groups: tuple[Group, ...]
    scores: tuple[tuple[int, int], ...]

    @property
    def rows(self) -> Iterator[Row]:
        """Every case of the section."""
        return (row for group in self.groups for row in group.rows)


@dataclass(frozen=True, slots=True)
class Matrix:
    """All runs next to each other."""

    runs: tuple[LoadedRun, ...]
    ledger: Mapping[str, RequirementRow]
    sections: tuple[Section, ...]

    @property
    def rows(self) -> Iterator[Row]:
        """Every case, in the order of the page."""
        return (row for section in self.sections for row in section.rows)


def build(runs: Sequence[LoadedRun]) -> Matrix:
    """Combine the runs: sections in the order of the first run, requirements in the order of the ledger."""
    ledger = {id: row for run in reversed(runs) for id, row in run.requirements.items()}
    ledgers = _Ledgers(runs, ledger)
    rows = list(_rows(runs, ledgers))
    also = _also(rows, ledgers)
    by_suite: dict[str, list[Row]] = {}
    at_home: dict[str, str] = {}
    for row in rows:
        suite = at_home.setdefault(ledgers.home(row.first), row.first.suite)
        by_suite.setdefault(suite, []).append(row)
    stubs = _stubs(rows, also, ledgers)
    sections = []
    for name, own in by_suite.items():
        keys = dict.fromkeys(
            [
                *map(ledgers.home, (row.first for row in own)),
                *(key for key, at in stubs.items() if at == name),
            ]
        )
        ranked = sorted(keys, key=ledgers.place)
        groups = tuple(_group(key, own, ledgers, also) for key in ranked)
        sections.append(Section(name, groups, _scores(own)))
    return Matrix(tuple(runs), ledger, tuple(_numbered(sections)))


class _Ledgers:
    """Requirements by the key that dialects share, in the order of the ledgers."""

    def __init__(self, runs: Iterable[LoadedRun], ledger: Mapping[str, RequirementRow]) -> None:
        self._ledger = ledger
        ids = dict.fromkeys(id for run in runs for id in run.requirements)
        self._first: dict[str, RequirementRow] = {}
        for id in ids:
            self._first.setdefault(self.key(id), ledger[id])
        self._places = {key: place for place, key in enumerate(self._first)}

    def key(self, id: str) -> str:
        """The shared name of a requirement."""
        return self._ledger[id].key if id in self._ledger else id

    def home(self, case: CaseRow) -> str:
        """The key of a case's group: that of the first requirement that it covers."""
        return self.key(next(iter(case.requirements), NO_REQUIREMENT))

    def place(self, key: str) -> int:
        """The position of a key; unknown ones come last."""
        return self._places.get(key, len(self._places))

    def requirement(self, key: str) -> RequirementRow:
        """The ledger row of a key, from the first dialect that has it."""
        return self._first.get(key) or RequirementRow(key)


def _also(rows: Iterable[Row], ledgers: _Ledgers) -> Mapping[str, list[str]]:
    """For each requirement, the cases that cover it, except those that name it first."""
    also: dict[str, list[str]] = {}
    for row in rows:
        for key in dict.fromkeys(map(ledgers.key, row.first.requirements[1:])):
            if key != ledgers.home(row.first):
                also.setdefault(key, []).append(row.first.id)
    return also


def _stubs(rows: Sequence[Row], also: Mapping[str, list[str]], ledgers: _Ledgers) -> Mapping[str, str]:
    """Requirements that no case names first, with the section in which they are first named."""
    suites = {row.first.id: row.first.suite for row in rows}
    homes = {ledgers.home(row.first) for row in rows}
    return {key: suites[cases[0]] for key, cases in also.items() if key not in homes}


def _rows(runs: Sequence[LoadedRun], ledgers: _Ledgers) -> Iterator[Row]:
    """A row for each case; dialects share a row if both its id and its requirement are the same."""
    by_run = [{(ledgers.home(case), case.id): case for case in run.cases} for run in runs]
    for key in dict.fromkeys(key for cases in by_run for key in cases):
        cells = tuple(
            _cell(n, run, cases.get(key)) for n, (run, cases) in enumerate(zip(runs, by_run, strict=True), 1)
        )
        yield Row(0, next(cell.case for cell in cells if cell), cells)


def _cell(number: int, run: LoadedRun, case: CaseRow | None) -> Cell | None:
    if case is None:
        return None
    return Cell(number, case, case.is_known)


def _group(key: str, rows: Iterable[Row], ledgers: _Ledgers, also: Mapping[str, list[str]]) -> Group:
    own = tuple(row for row in rows if ledgers.home(row.first) == key)
    return Group(ledgers.requirement(key), own, tuple(also.get(key, ())))


def _scores(rows: Sequence[Row]) -> tuple[tuple[int, int], ...]:
    return tuple(_score(cells) for cells in zip(*(row.cells for row in rows), strict=True))


def _score(cells: Sequence[Cell | None]) -> tuple[int, int]:
    present = [cell for cell in cells if cell]
    return sum(cell.case.verdict in GREEN for cell in present), len(present)


def _numbered(sections: Iterable[Section]) -> Iterator[Section]:
    """The sections with their rows, numbered in the order of the page."""
    numbers = count()
    for section in sections:
        groups = (
            replace(group, rows=tuple(replace(row, index=next(numbers)) for row in group.rows))
            for group in section.groups
        )
        yield replace(section, groups=tuple(groups))


def row_data(row: Row) -> dict[str, Any]:
    """The data of a case for the page's script, without its transcript."""
    case = row.first
    return {
        "id": visible(case.id),
        "title": visible(case.title),
        "suite": visible(case.suite),
        "level": visible(case.level),
        "requirements": [visible(id) for id in case.requirements],
        "cells": [cell and _cell_data(cell) for cell in row.cells],
    }


def _cell_data(cell: Cell) -> dict[str, Any]:
    case = cell.case
    texts = {key: visible(getattr(case, key)) for key in ("expected", "observed", "reason", "ended")}
    return {
        **{key: text for key, text in texts.items() if text},
        "verdict": str(case.verdict),
        "known": cell.known,
        "ms": round(case.duration_ms, 3),
        "attempt": case.attempt,
    }


def requirement_data(row: RequirementRow) -> dict[str, str]:
    """The data of a requirement for the evidence panel."""
    keys = ("level", "section", "source", "says", "reading", "same_as", "binds")
    return {key: visible(getattr(row, key)) for key in keys if getattr(row, key)}


def looks_data() -> dict[str, dict[str, str]]:
    """Symbol and word of every outcome, for the script."""
    return {str(outcome): {"symbol": look.symbol, "word": look.word} for outcome, look in LOOKS.items()}
