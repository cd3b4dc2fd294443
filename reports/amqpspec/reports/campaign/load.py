"""Reads a campaign: converts ``summary.json`` and the folders of findings to rows.

Knows: the layout of a campaign's folder. Must not know: the fuzzer, how rows are shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amqpspec.record.reading import parse_json
from amqpspec.reports.campaign.fields import read
from amqpspec.reports.campaign.rows import CellRow, FindingRow, Summary, cells
from amqpspec.reports.campaign.words import ORACLES
from amqpspec.reports.load import ReportError
from amqpspec.run.exits import Exit

SUMMARY = "summary.json"
STATUSES = ("stable", "unblamed", "flaky", "lost")
_FILES = {
    "input.bin": "input",
    "transcript.jsonl": "transcript",
    "transcript.pcapng": "pcapng",
    "log.txt": "log",
    "case.py": "case",
}


@dataclass(frozen=True, slots=True)
class LoadedCampaign:
    """One campaign, ready to be rendered."""

    folder: Path
    summary: Summary
    cells: tuple[CellRow, ...]
    findings: tuple[FindingRow, ...]

    @property
    def target_lost(self) -> bool:
        """Whether it ended because the target was gone permanently."""
        return self.summary.exit_code == Exit.TARGET

    @property
    def other_tables(self) -> bool:
        """Whether the fuzzer's tables have changed since: cells that had not begun then have no names."""
        return self.summary.tables == "other"

    @property
    def unlisted(self) -> int:
        """The number of open planned cells that are not listed."""
        return max(0, self.summary.cells_planned - len(self.cells)) if self.cells else 0

    @property
    def families(self) -> list[str]:
        """Families that have a planned cell, in order."""
        return sorted({cell.family for cell in self.cells})

    def coverages(self) -> Counter[str]:
        """The number of listed cells for each state of coverage."""
        return Counter(cell.coverage for cell in self.cells)

    def elsewhere(self) -> list[FindingRow]:
        """Findings that belong to no planned cell: of random inputs, or of batches of several cells."""
        keys = {cell.key for cell in self.cells}
        return [found for found in self.findings if found.cell not in keys]

    def files(self, found: FindingRow) -> list[tuple[str, str]]:
        """The existing files of a finding, with their labels."""
        place = self.folder / found.folder
        return [(name, word) for name, word in _FILES.items() if (place / name).is_file()]


def load_campaign(folder: Path) -> LoadedCampaign:
    """Read a campaign's folder; raises ReportError with a one-line message."""
    path = folder / SUMMARY
    try:
        data = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReportError(f"{path}: expected the summary of a campaign, actual: {error}") from error
    if not isinstance(data, dict) or not {"dialect", "target", "inputs", "findings"} <= set(data):
        raise ReportError(f"{path}: expected an object with dialect, target, inputs and findings")
    found = tuple(sorted(_findings(folder, data["findings"]), key=_rank))
    return LoadedCampaign(folder, read(Summary, data), tuple(cells(data.get("cell_states"))), found)


def _findings(folder: Path, listed: object) -> Iterator[FindingRow]:
    """Findings of the summary, and those whose folder the summary does not name, so that none is lost."""
    rows = [row for row in listed if isinstance(row, dict)] if isinstance(listed, list) else []
    seen = set()
    for found in map(FindingRow.from_json, rows):
        seen.add(found.name)
        yield found
    yield from (found for found in map(FindingRow.from_json, _in_folder(folder)) if found.name not in seen)


def _rank(row: FindingRow) -> tuple[int, int, float, str]:
    """Sorts the more severe and certain findings first, then those that were found earlier."""
    oracles = list(ORACLES)
    oracle = oracles.index(row.oracle) if row.oracle in oracles else len(oracles)
    return oracle, status_place(row.status), row.found_after_s, row.name


def status_place(status: str) -> int:
    """The rank of a status, the most certain first; unknown ones come last."""
    return STATUSES.index(status) if status in STATUSES else len(STATUSES)


def _in_folder(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("findings/*/finding.json")):
        try:
            data = parse_json(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(data, dict) and {"oracle", "signature"} <= set(data):
            yield data
