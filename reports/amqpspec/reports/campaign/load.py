"""Reading a campaign back: ``summary.json`` and the folders of findings in, typed rows out.

Knows: the layout of a campaign's folder. Must not know: the fuzzer, how any of it is shown.

Everything here may have passed through a target: nothing is trusted to be of the type that it should be of.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqpspec.reports.campaign.words import ORACLES
from amqpspec.reports.load import ReportError

SUMMARY = "summary.json"
COVERED, UNREACHABLE, STOPPED, OPEN = "covered", "not reachable", "stopped", "open"
STANDS = (COVERED, UNREACHABLE, STOPPED, OPEN)
RANDOM = "random"
_FILES = {
    "input.bin": "input",
    "transcript.jsonl": "transcript",
    "transcript.pcapng": "pcapng",
    "log.txt": "log",
    "case.py": "case",
}
_TARGET_LOST = 3


@dataclass(frozen=True, slots=True)
class CellRow:
    """One planned cell; ``inputs`` is None where they were not counted, ``stand`` one of STANDS."""

    key: str
    stand: str
    why: str
    inputs: int | None

    @property
    def family(self) -> str:
        """``C04``."""
        return self._part(1)

    @property
    def state(self) -> str:
        """``channel``."""
        return self.key.rpartition("/")[2]

    @property
    def role(self) -> str:
        """``frame.size``."""
        return "/".join(self.key.split("/")[2:-1])

    def _part(self, number: int) -> str:
        parts = self.key.split("/")
        return parts[number] if number < len(parts) else ""


@dataclass(frozen=True, slots=True)
class FindingRow:
    """One finding; ``cell`` is the key of the cell whose input (or batch) is blamed, "" where there is none."""

    name: str
    oracle: str
    signature: str
    status: str
    top: str
    detail: str
    family: str
    state: str
    input: str
    words: str
    requirement: str
    steps: tuple[str, ...]
    batch: tuple[str, ...]
    found_after_s: float
    replay: str
    reaction: str
    recorded: str
    cell: str
    files: tuple[tuple[str, str], ...]

    @property
    def octets(self) -> int:
        """How many octets the smallest input has."""
        return sum(len(step) for step in self.steps) // 2

    @property
    def folder(self) -> str:
        """Its folder, seen from the campaign's."""
        return f"findings/{self.name}"


@dataclass(frozen=True, slots=True)
class LoadedCampaign:
    """One campaign, ready to be rendered; ``summary`` is what the campaign said of itself."""

    folder: Path
    summary: Mapping[str, Any]
    cells: tuple[CellRow, ...]
    findings: tuple[FindingRow, ...]

    @property
    def dialect(self) -> str:
        """What was spoken."""
        return text(self.summary, "dialect")

    @property
    def target(self) -> str:
        """What the target is called."""
        return text(self.summary, "target")

    @property
    def target_lost(self) -> bool:
        """Whether it ended because the target was gone for good."""
        return self.summary.get("exit_code") == _TARGET_LOST

    @property
    def other_tables(self) -> bool:
        """Whether the fuzzer's tables have changed since: cells that were not begun have no names any more."""
        return self.summary.get("tables") == "other"

    @property
    def unlisted(self) -> int:
        """How many planned cells are open, and not listed."""
        return max(0, count(self.summary, "cells_planned") - len(self.cells)) if self.cells else 0

    @property
    def families(self) -> list[str]:
        """Families that have a planned cell, in order."""
        return sorted({cell.family for cell in self.cells})

    def stands(self) -> Counter[str]:
        """How many of the listed cells stand how."""
        return Counter(cell.stand for cell in self.cells)

    def of_cell(self, key: str) -> list[FindingRow]:
        """The findings of one cell."""
        return [found for found in self.findings if found.cell == key]

    def elsewhere(self) -> list[FindingRow]:
        """The findings that belong to no planned cell: of random inputs, of batches of several cells."""
        keys = {cell.key for cell in self.cells}
        return [found for found in self.findings if found.cell not in keys]


def load_campaign(folder: Path) -> LoadedCampaign:
    """Read a campaign's folder; raises ReportError in one line."""
    path = folder / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: expected the summary of a campaign, actual: {error}") from error
    if not isinstance(summary, dict) or not {"dialect", "target", "inputs", "findings"} <= set(summary):
        raise ReportError(f"{path}: expected an object with dialect, target, inputs and findings")
    dialect = text(summary, "dialect")
    return LoadedCampaign(
        folder, summary, tuple(_cells(summary)), tuple(_findings(folder, dialect, summary["findings"]))
    )


def text(data: Mapping[str, Any], key: str) -> str:
    """A value as text; nothing where there is none."""
    value = data.get(key)
    return "" if value is None else str(value)


def number(data: Mapping[str, Any], key: str) -> float:
    """A value as a number; 0 where it is none."""
    value = data.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else 0


def count(data: Mapping[str, Any], key: str) -> int:
    """A value as a whole number; 0 where it is none."""
    return int(number(data, key))


def counts(data: Mapping[str, Any], key: str) -> dict[str, int]:
    """A table of counts, the most frequent first."""
    value = data.get(key)
    rows = value.items() if isinstance(value, dict) else ()
    found = {str(name): n for name, n in rows if isinstance(n, int)}
    return dict(sorted(found.items(), key=lambda row: (-row[1], row[0])))


def cell_of(id: str, dialect: str) -> str:
    """The key of the cell of an input id; "" for a random input or what is no id."""
    parts = id.split("/")
    if len(parts) < 6 or parts[1] == RANDOM:
        return ""
    return "/".join([dialect, *parts[1:-2]])


def _cells(summary: Mapping[str, Any]) -> Iterator[CellRow]:
    states = summary.get("cell_states")
    for key, row in states.items() if isinstance(states, dict) else ():
        stand, why, inputs = (*row, None, None, None)[:3] if isinstance(row, list) else (None, None, None)
        yield CellRow(
            str(key),
            stand if stand in STANDS else OPEN,
            str(why or ""),
            inputs if isinstance(inputs, int) else None,
        )


def _findings(folder: Path, dialect: str, told: object) -> Iterator[FindingRow]:
    """Those of the summary and those whose folder it does not name, the worst oracle first: none is lost."""
    listed = [row for row in told if isinstance(row, dict)] if isinstance(told, list) else []
    seen = {_name(row) for row in listed}
    more = [row for row in _in_folder(folder) if _name(row) not in seen]
    yield from sorted((_finding(folder, dialect, row) for row in [*listed, *more]), key=_rank)


def _rank(row: FindingRow) -> tuple[int, int, float, str]:
    """What is worse and more certain first, then what was found earlier."""
    oracles, statuses = list(ORACLES), ("stable", "flaky", "lost")
    oracle = oracles.index(row.oracle) if row.oracle in oracles else len(oracles)
    status = statuses.index(row.status) if row.status in statuses else len(statuses)
    return oracle, status, row.found_after_s, row.name


def _in_folder(folder: Path) -> Iterator[Mapping[str, Any]]:
    for path in sorted(folder.glob("findings/*/finding.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(data, dict) and {"oracle", "signature"} <= set(data):
            yield data


def _finding(folder: Path, dialect: str, data: Mapping[str, Any]) -> FindingRow:
    name, batch = _name(data), _texts(data.get("batch"))
    return FindingRow(
        name=name,
        **{key: text(data, key) for key in _TEXTS},
        steps=_texts(data.get("steps")),
        batch=batch,
        found_after_s=number(data, "found_after_s"),
        cell=_cell(text(data, "input"), batch, dialect),
        files=tuple(_files(folder / "findings" / name)),
    )


_TEXTS = (
    "oracle", "signature", "status", "top", "detail", "family", "state", "input", "words", "requirement", "replay",
    "reaction", "recorded",
)  # fmt: skip


def _name(data: Mapping[str, Any]) -> str:
    """The folder's name; nothing in it leads out of the folder of findings."""
    return f"{text(data, 'oracle')}-{text(data, 'signature')}".replace("/", "_").replace("\\", "_")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, Sequence) and not isinstance(value, str) else ()


def _cell(input: str, batch: Iterable[str], dialect: str) -> str:
    """The cell of the input, or of all inputs of the batch where they are of one."""
    found = {cell_of(id, dialect) for id in ([input] if input else batch)}
    return found.pop() if len(found) == 1 else ""


def _files(place: Path) -> Iterator[tuple[str, str]]:
    for name, word in _FILES.items():
        if (place / name).is_file():
            yield name, word
