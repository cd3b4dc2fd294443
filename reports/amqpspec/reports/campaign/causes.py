"""The findings of a campaign by their cause, and a page for each cause: what broke, its variants, where it occurred
again.

Knows: rows of findings. Must not know: the fuzzer, HTML, how causes are distinguished.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from amqpspec.reports.campaign.load import LoadedCampaign
from amqpspec.reports.campaign.rows import FindingRow
from amqpspec.reports.files import atomic_text
from amqpspec.reports.text import plural, visible

FOLDER, _NAME_CHARS = "causes", 64


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause;

    ``variants`` are its findings, the most severe and certain first; ``again`` says where it was only counted.
    """

    id: str
    words: str
    variants: tuple[FindingRow, ...]
    again: Mapping[str, str]

    @property
    def first(self) -> FindingRow:
        """The finding that represents the cause: the one with the smallest input among the most certain ones."""
        sure = [row for row in self.variants if row.status == self.variants[0].status]
        return min(sure, key=lambda row: (not row.octets, row.octets))


def causes(campaign: LoadedCampaign) -> list[Cause]:
    """Every cause, in the order of its first finding."""
    found: dict[str, list[FindingRow]] = {}
    for row in campaign.findings:
        found.setdefault(row.cause_id, []).append(row)
    return [_cause(id, rows, campaign.summary.unblamed) for id, rows in found.items()]


def _cause(id: str, rows: list[FindingRow], unblamed: Mapping[str, Mapping[str, str]]) -> Cause:
    words = next((row.cause_words for row in rows if row.cause_words), rows[0].top or rows[0].detail[:240])
    names = {f"{row.oracle}: {name}" for row in rows for name in (row.cause_words, row.top) if name}
    places = {place: count for name in sorted(names) for place, count in unblamed.get(name, {}).items()}
    return Cause(id, words, tuple(rows), places)


def write_causes(folder: Path, found: Iterable[Cause]) -> Path:
    """Write ``causes/ID.md`` below a campaign's folder, and remove the pages of obsolete causes."""
    place = folder / FOLDER
    place.mkdir(exist_ok=True)
    pages = {place / f"{_plain(cause.id)}.md": cause for cause in found}
    for old in set(place.glob("*.md")) - set(pages):
        old.unlink()
    for path, cause in pages.items():
        with atomic_text(path) as out:
            out.writelines(f"{line}\n" for line in _page(cause))
    return place


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name[:_NAME_CHARS]) or "_"


def _page(cause: Cause) -> Iterator[str]:
    yield f"# {_cell(cause.words)}"
    yield ""
    first = cause.first
    variants, octets = plural(len(cause.variants), "variant"), plural(first.octets, "octet")
    yield f"{variants}. The smallest input of the most certain ones has {octets}."
    if first.replay:
        yield from ("", f"    {visible(first.replay)}")
    yield from ("", "| finding | status | family | state | input | octets |", "|---|---|---|---|---|---|")
    for row in cause.variants:
        cells = (row.status, row.family or "a batch", row.state, row.input or f"a batch of {len(row.batch)}")
        link = f"[{_cell(row.name)}](../{_cell(row.folder)}/finding.json)"
        yield f"| {link} | {' | '.join(map(_cell, cells))} | {row.octets} |"
    if cause.again:
        yield from ("", "Seen again, only counted: " + ", ".join(
            f"{_cell(place)} ({count})" for place, count in cause.again.items()
        ) + ".")  # fmt: skip


def _cell(text: str) -> str:
    return visible(" ".join(text.split())).replace("|", "\\|")
