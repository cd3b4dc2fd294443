"""A campaign as its page shows it: head, squares of the heat map, findings in words.

Knows: which facts a reader wants first, how cells come together. Must not know: HTML.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from amqpspec.reports.campaign.load import (
    COVERED,
    OPEN,
    STANDS,
    STOPPED,
    UNREACHABLE,
    CellRow,
    FindingRow,
    LoadedCampaign,
    count,
    number,
    text,
)
from amqpspec.reports.campaign.words import FAMILIES
from amqpspec.reports.html import evidence
from amqpspec.reports.html.targets import duration
from amqpspec.reports.text import plural

HEX_OCTETS_MAX = 512
DETAIL_CHARS_MAX = 6000
_REASONS = 6
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
        """Its name in the page."""
        return f"cells-{self.family}-{self.state}"

    @property
    def stands(self) -> Counter[str]:
        """How many of its cells stand how."""
        return Counter(cell.stand for cell in self.cells)

    @property
    def tone(self) -> str:
        """The worst of its cells as one of the matrix' colours."""
        stands = self.stands
        worst = next((tone for stand, tone in _TONES if stands[stand]), "")
        if worst or not stands[OPEN]:
            return worst or "pass"
        return "nonstrict" if stands[COVERED] else "excluded"

    @property
    def words(self) -> str:
        """``C04 in channel: 14 cells, 12 covered, 2 open; 1 finding``."""
        said = [f"{plural(len(self.cells), 'cell')}", *in_words(self.stands)]
        found = f"; {plural(len(self.findings), 'finding')}" if self.findings else ""
        return f"{self.family} in {self.state}: {', '.join(said)}{found}"

    @property
    def reasons(self) -> str:
        """The same with why, where a cell is not covered."""
        why = [f"{stand}: {why} ({len(cells)})" for stand, why, cells in self.groups if why]
        more = ["…"] if len(why) > _REASONS else []
        return "\n".join([self.words, *why[:_REASONS], *more])

    @property
    def groups(self) -> list[tuple[str, str, list[CellRow]]]:
        """Cells that stand the same way for the same reason, the odd ones first."""
        found: dict[tuple[str, str], list[CellRow]] = {}
        for cell in self.cells:
            found.setdefault((cell.stand, cell.why), []).append(cell)
        order = sorted(found, key=lambda key: (-STANDS.index(key[0]), key[1]))
        return [(stand, why, found[stand, why]) for stand, why in order]


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """One family: a square, or None, for each state of the map."""

    id: str
    bends: str
    squares: tuple[Square | None, ...]

    @property
    def present(self) -> list[Square]:
        """The squares that are there."""
        return [square for square in self.squares if square is not None]

    @property
    def stands(self) -> Counter[str]:
        """How many of its cells stand how."""
        return sum((square.stands for square in self.present), Counter())


@dataclass(frozen=True, slots=True)
class Seen:
    """A finding with what the page shows beside its facts."""

    row: FindingRow
    octets: str
    detail: str
    transcript: dict[str, Any] | None

    @property
    def cut(self) -> bool:
        """Whether not all octets are shown."""
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


def in_words(stands: Counter[str]) -> list[str]:
    """``12 covered``, ``2 open``: what there is, in the order of STANDS."""
    return [f"{stands[stand]:,} {stand}" for stand in STANDS if stands[stand]]


def findings(campaign: LoadedCampaign) -> Iterator[Seen]:
    """The findings, each with its octets, its words and its transcript within the caps of the page."""
    for row in campaign.findings:
        octets = "".join(row.steps)[: HEX_OCTETS_MAX * 2]
        detail = row.detail[:DETAIL_CHARS_MAX] + ("…" if len(row.detail) > DETAIL_CHARS_MAX else "")
        yield Seen(row, _spaced(octets), detail, _transcript(campaign, row))


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
    """What came of it, and its tone."""
    if campaign.target_lost:
        return "target lost", "bad"
    if campaign.findings:
        return plural(len(campaign.findings), "finding"), "bad"
    unfinished = any(cell.stand != COVERED for cell in campaign.cells) or campaign.other_tables
    return "no findings", "warn" if unfinished else "good"


def facts(campaign: LoadedCampaign) -> Iterator[str]:
    """What a reader needs to lead the same campaign again."""
    said = campaign.summary
    yield f"started {text(said, 'started')}" if text(said, "started") else ""
    yield duration(number(said, "seconds"))
    yield f"ended: {text(said, 'ended')}" if text(said, "ended") else ""
    yield f"engine {text(said, 'engine')}" if text(said, "engine") else ""
    yield f"seed {text(said, 'seed')}"
    yield f"shard {shard(campaign)}"
    yield f"grammar {text(said, 'grammar')}" if text(said, "grammar") else ""
    yield f"only cells {' '.join(map(str, _list(said.get('cells'))))}" if _list(said.get("cells")) else ""
    yield plural(count(said, "workers"), "worker") if count(said, "workers") else ""
    yield f"memory limit {count(said, 'memory_limit_mib'):,} MiB" if count(said, "memory_limit_mib") else ""
    yield f"suite {text(said, 'suite_version')}" if text(said, "suite_version") else ""
    yield f"campaign {text(said, 'run')}" if text(said, "run") else ""


def shard(campaign: LoadedCampaign) -> str:
    """``2/4``."""
    return "/".join(map(str, _list(campaign.summary.get("shard")) or (1, 1)))


def sums(campaign: LoadedCampaign) -> Iterator[str]:
    """The counts that add up."""
    said = campaign.summary
    stands, inputs, random = campaign.stands(), count(said, "inputs"), count(said, "random")
    reached = count(said, "reached")
    yield (
        f"{inputs:,} inputs = {inputs - random:,} of the families + {random:,} random; "
        f"{reached:,} reached their state"
    )
    if campaign.cells:
        parts = " + ".join(f"{stands[stand]:,} {stand}" for stand in STANDS)
        parts += f" + {campaign.unlisted:,} open that cannot be listed" if campaign.unlisted else ""
        planned = "begun" if campaign.other_tables and not campaign.unlisted else "planned"
        yield f"{len(campaign.cells) + campaign.unlisted:,} cells {planned} = {parts}"
    if campaign.findings:
        by = Counter(row.status or "unknown" for row in campaign.findings)
        yield f"{plural(len(campaign.findings), 'finding')} = " + " + ".join(
            f"{n} {status}" for status, n in sorted(by.items(), key=_by_status)
        )
    yield (
        f"seen again {count(said, 'repeats'):,}; complaints that did not repeat, and so no findings "
        f"{count(said, 'unconfirmed'):,}; trials to blame and to make smaller {count(said, 'trials'):,}"
    )


def _by_status(item: tuple[str, int]) -> tuple[int, str]:
    known = ("stable", "flaky", "lost")
    return known.index(item[0]) if item[0] in known else len(known), item[0]


def resume(campaign: LoadedCampaign) -> str:
    """The command that goes on with this campaign; "" where nothing can."""
    said = campaign.summary
    if text(said, "engine") or campaign.other_tables:
        return ""
    url = text(said, "url")
    where = [url] if url else ["--target", campaign.target]
    words = ["amqpspec", "fuzz", *where, "--seed", text(said, "seed") or "1"]
    words += ["--shard", shard(campaign)] if shard(campaign) != "1/1" else []
    for pattern in _list(said.get("cells")):
        words += ["--cells", str(pattern)]
    return shlex.join([*words, "--resume", str(campaign.folder)])


def oracles(rows: Iterable[FindingRow]) -> list[tuple[str, int]]:
    """How many findings each oracle has, the most first."""
    return Counter(row.oracle for row in rows).most_common()


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []
