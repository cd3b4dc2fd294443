"""A campaign as its page shows it: header, squares of the heat map, descriptions of findings.

Knows: which facts a reader needs first, how cells are combined. Must not know: HTML.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from amqpspec.reports.campaign.causes import Cause, causes
from amqpspec.reports.campaign.load import LoadedCampaign, status_place
from amqpspec.reports.campaign.rows import (
    COVERAGES,
    COVERED,
    OPEN,
    STOPPED,
    UNREACHABLE,
    CellRow,
    FindingRow,
    Summary,
)
from amqpspec.reports.campaign.words import FAMILIES
from amqpspec.reports.html import evidence
from amqpspec.reports.html.targets import duration
from amqpspec.reports.text import plural

HEX_OCTETS_MAX = 512
DETAIL_CHARS_MAX = 6000
_REASONS = 6
_WHOLE = "1/1"
_TONES = ((STOPPED, "error"), (UNREACHABLE, "blocked"))


@dataclass(frozen=True, slots=True)
class Square:
    """The cells of one family in one state."""

    family: str
    state: str
    cells: tuple[CellRow, ...]
    findings: tuple[FindingRow, ...]

    @property
    def anchor(self) -> str:
        """Its anchor on the page."""
        return f"cells-{self.family}-{self.state}"

    @property
    def coverages(self) -> Counter[str]:
        """The number of its cells for each state of coverage."""
        return Counter(cell.coverage for cell in self.cells)

    @property
    def tone(self) -> str:
        """The worst of its cells, as one of the colours of the matrix."""
        counted = self.coverages
        worst = next((tone for coverage, tone in _TONES if counted[coverage]), "")
        if worst or not counted[OPEN]:
            return worst or "pass"
        return "nonstrict" if counted[COVERED] else "excluded"

    @property
    def words(self) -> str:
        """``C04 in channel: 14 cells, 12 covered, 2 open; 1 finding``."""
        parts = [plural(len(self.cells), "cell"), *in_words(self.coverages)]
        found = f"; {plural(len(self.findings), 'finding')}" if self.findings else ""
        return f"{self.family} in {self.state}: {', '.join(parts)}{found}"

    @property
    def reasons(self) -> str:
        """The same with the reasons of cells that are not covered."""
        lines = [f"{coverage}: {reason} ({len(cells)})" for coverage, reason, cells in self.groups if reason]
        more = ["…"] if len(lines) > _REASONS else []
        return "\n".join([self.words, *lines[:_REASONS], *more])

    @property
    def groups(self) -> list[tuple[str, str, list[CellRow]]]:
        """Its cells by coverage and reason, the unusual ones first."""
        found: dict[tuple[str, str], list[CellRow]] = {}
        for cell in self.cells:
            found.setdefault((cell.coverage, cell.reason), []).append(cell)
        order = sorted(found, key=lambda key: (-COVERAGES.index(key[0]), key[1]))
        return [(*key, found[key]) for key in order]


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """One family with a square, or None, for each state of the map."""

    id: str
    bends: str
    squares: tuple[Square | None, ...]

    @property
    def present(self) -> list[Square]:
        """The squares that exist."""
        return [square for square in self.squares if square is not None]

    @property
    def coverages(self) -> Counter[str]:
        """The number of its cells for each state of coverage."""
        return sum((square.coverages for square in self.present), Counter())


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding with additional data for the page."""

    row: FindingRow
    octets: str
    detail: str
    transcript: dict[str, Any] | None
    files: list[tuple[str, str]]

    @property
    def cut(self) -> bool:
        """Whether some octets are omitted."""
        return self.row.octets > HEX_OCTETS_MAX


def states(campaign: LoadedCampaign) -> list[str]:
    """The states of the map, in the order of the cells."""
    return list(dict.fromkeys(cell.state for cell in campaign.cells))


def families(campaign: LoadedCampaign) -> list[FamilyRow]:
    """The rows of the map."""
    by_place: dict[tuple[str, str], list[CellRow]] = {}
    for cell in campaign.cells:
        by_place.setdefault((cell.family, cell.state), []).append(cell)
    columns = states(campaign)
    return [
        FamilyRow(
            id,
            FAMILIES.get(id, ""),
            tuple(_square(campaign, id, state, by_place.get((id, state))) for state in columns),
        )
        for id in campaign.families
    ]


def _square(
    campaign: LoadedCampaign, family: str, state: str, cells: Sequence[CellRow] | None
) -> Square | None:
    if not cells:
        return None
    found = [row for row in campaign.findings if (row.family, row.state) == (family, state)]
    return Square(family, state, tuple(cells), tuple(found))


def in_words(counted: Counter[str]) -> list[str]:
    """``12 covered``, ``2 open``: the counts above zero, in the order of COVERAGES."""
    return [f"{counted[coverage]:,} {coverage}" for coverage in COVERAGES if counted[coverage]]


def by_cause(campaign: LoadedCampaign) -> list[tuple[Cause, list[Seen]]]:
    """The causes, each with its findings."""
    return [(cause, list(_seen(campaign, cause.variants))) for cause in causes(campaign)]


def _seen(campaign: LoadedCampaign, rows: Iterable[FindingRow]) -> Iterator[Seen]:
    """Findings, each with its octets, decoded words and transcript, within the limits of the page."""
    for row in rows:
        octets = "".join(row.steps)[: HEX_OCTETS_MAX * 2]
        detail = row.detail[:DETAIL_CHARS_MAX] + ("…" if len(row.detail) > DETAIL_CHARS_MAX else "")
        yield Seen(row, _spaced(octets), detail, _transcript(campaign, row), campaign.files(row))


def _transcript(campaign: LoadedCampaign, row: FindingRow) -> dict[str, Any] | None:
    path = campaign.folder / row.folder / "transcript.jsonl"
    try:
        return evidence.read_evidence(path) if path.is_file() else None
    except OSError:
        return None


def _spaced(octets: str) -> str:
    pairs = [octets[at : at + 2] for at in range(0, len(octets), 2)]
    return "\n".join(" ".join(pairs[at : at + 16]) for at in range(0, len(pairs), 16))


def headline(campaign: LoadedCampaign) -> tuple[str, str]:
    """The result and its tone."""
    if campaign.target_lost:
        return "target lost", "bad"
    if campaign.findings:
        return _counted(campaign), "bad"
    unfinished = any(cell.coverage != COVERED for cell in campaign.cells) or campaign.other_tables
    return "no findings", "warn" if unfinished else "good"


def _counted(campaign: LoadedCampaign) -> str:
    """``7 findings of 3 causes``; without the causes if each finding has a separate cause."""
    found, of = len(campaign.findings), len({row.cause_id for row in campaign.findings})
    return plural(found, "finding") + (f" of {plural(of, 'cause')}" if of < found else "")


def facts(campaign: LoadedCampaign) -> Iterator[str]:
    """The settings that a reader needs to run the same campaign again."""
    summary = campaign.summary
    yield f"started {summary.started}" if summary.started else ""
    yield duration(summary.seconds)
    yield f"ended: {summary.ended}" if summary.ended else ""
    yield f"engine {summary.engine}" if summary.engine else ""
    yield f"seed {summary.seed}"
    yield f"shard {_shard(summary)}"
    yield f"grammar {summary.grammar}" if summary.grammar else ""
    yield f"only cells {' '.join(summary.cells)}" if summary.cells else ""
    yield plural(summary.workers, "worker") if summary.workers else ""
    yield f"memory limit {summary.memory_limit_mib:,} MiB" if summary.memory_limit_mib else ""
    yield f"suite {summary.suite_version}" if summary.suite_version else ""
    yield f"campaign {summary.run}" if summary.run else ""


def _shard(summary: Summary) -> str:
    return "/".join(summary.shard) or _WHOLE


def sums(campaign: LoadedCampaign) -> Iterator[str]:
    """The counts that add up."""
    summary = campaign.summary
    yield (
        f"{summary.inputs:,} inputs = {summary.inputs - summary.random:,} of the families + {summary.random:,} random; "
        f"{summary.reached:,} reached their state"
    )
    if campaign.cells:
        counted = campaign.coverages()
        parts = " + ".join(f"{counted[coverage]:,} {coverage}" for coverage in COVERAGES)
        parts += f" + {campaign.unlisted:,} open that cannot be listed" if campaign.unlisted else ""
        planned = "begun" if campaign.other_tables and not campaign.unlisted else "planned"
        yield f"{len(campaign.cells) + campaign.unlisted:,} cells {planned} = {parts}"
    if campaign.findings:
        by = Counter(row.status or "unknown" for row in campaign.findings)
        yield f"{_counted(campaign)} = " + " + ".join(
            f"{n} {status}"
            for status, n in sorted(by.items(), key=lambda item: (status_place(item[0]), item[0]))
        )
    yield (
        f"known causes seen again: {summary.repeats:,}; unconfirmed complaints: {summary.unconfirmed:,}; "
        f"trials for blame and minimization: {summary.trials:,}"
    )


def resume(campaign: LoadedCampaign) -> str:
    """The command that resumes this campaign; "" if it cannot be resumed."""
    summary = campaign.summary
    if summary.engine or campaign.other_tables:
        return ""
    where = [summary.url] if summary.url else ["--target", summary.target]
    words = ["amqpspec", "fuzz", *where, "--seed", summary.seed or "1"]
    words += ["--shard", _shard(summary)] if _shard(summary) != _WHOLE else []
    for pattern in summary.cells:
        words += ["--cells", pattern]
    return shlex.join([*words, "--resume", str(campaign.folder)])


def oracles(rows: Iterable[FindingRow]) -> list[tuple[str, int]]:
    """The number of findings of each oracle, the highest first."""
    return Counter(row.oracle for row in rows).most_common()
