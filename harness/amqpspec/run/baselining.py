"""Baselines written from runs: what each deviation looked like, and the reasons that people gave before.

Knows: rows, entries of a baseline file as data. Must not know: run folders, command lines.
An entry holds the refusal if there was one; else the text, in which what differs from run to run is a star.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from amqpspec.record.reading import parse_yaml
from amqpspec.record.rows import CaseRow
from amqpspec.run.baseline import BaselineError, deviates, did_not_run, entry_of, refusal_of

_OURS = r"[\w.-]*-[0-9a-f]{6}\.[\w.-]+"
_ITS = r"\bamq\.gen-[\w-]+|<\d+(?:\.\d+)+>|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"
_WHERE = r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?"
_CHANGES = re.compile(rf"{_OURS}|{_ITS}|{_WHERE}|\d+\.\d+|\b(?=[a-f]*\d)[0-9a-f]{{12,}}\b")
_STARS = re.compile(r"\*{2,}")
Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Fresh:
    """What is written of a deviation that no one has looked into yet."""

    reason: str
    link: str
    expires: date


@dataclass(slots=True)
class Updated:
    """The entries of a baseline after an update, and how many were kept, changed, added, or are stale."""

    entries: list[Item] = field(default_factory=list)
    kept: int = 0
    changed: int = 0
    added: int = 0
    stale: int = 0


def observed_of(row: CaseRow) -> Item:
    """The keys that hold what a row observed."""
    if row.facts.refusal is not None:
        return {"refusal": refusal_of(row)}
    text = _STARS.sub("*", _CHANGES.sub("*", row.observed))
    held = {"refusal": refusal_of(row)} if row.facts.arrivals else {}
    return {**held, "observed": text} if text else held or {"refusal": refusal_of(row)}


def update(
    old: Sequence[Item], rows: Iterable[CaseRow], suite: Collection[str], fresh: Fresh, *, prune: bool
) -> Updated:
    """Entries that hold what was observed; reasons, links and dates stay. What is gone stays, too, unless pruned.

    An entry is gone if its case ran with another result, or if the suite has no such case.
    """
    by_case = {row.id: row for row in rows}
    done, met = Updated(), set[str]()
    for item in old:
        case = str(item.get("case"))
        row = by_case.get(case)
        if case in suite and (row is None or did_not_run(row)):
            done.kept += 1
            done.entries.append(item)
        else:
            _again(item, row, done, met, prune)
    for row in by_case.values():
        if deviates(row) and not did_not_run(row) and row.id not in met:
            done.added += 1
            done.entries.append(_item(row, fresh))
    return done


def _again(item: Item, row: CaseRow | None, done: Updated, met: set[str], prune: bool) -> None:
    """An entry that is there already, as it stands after the run."""
    if row is not None and deviates(row) and row.id not in met:
        met.add(row.id)
        kept = _holds(item, row)
        done.kept, done.changed = done.kept + kept, done.changed + (not kept)
        said = {key: value for key, value in item.items() if key not in ("verdict", "refusal", "observed")}
        now = {"case": row.id, "verdict": str(row.verdict), **observed_of(row)}
        done.entries.append(item if kept else {**now, **said})
        return
    done.stale += 1
    if not prune or item.get("flaky"):
        done.entries.append(item)


def _holds(item: Item, row: CaseRow) -> bool:
    try:
        return entry_of("", item).holds(row)
    except BaselineError:
        return False


def _item(row: CaseRow, fresh: Fresh) -> Item:
    said = {"reason": fresh.reason, "link": fresh.link, "expires": fresh.expires}
    return {"case": row.id, "verdict": str(row.verdict), **observed_of(row), **said}


def read_items(path: Path) -> tuple[str, Item]:
    """A baseline file as data, with the comment that it begins with; raises BaselineError."""
    try:
        text = path.read_text(encoding="utf-8")
        data = parse_yaml(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise BaselineError(f"{path}: cannot be read: {error}") from error
    entries = data.get("entries") if isinstance(data, dict) else None
    if not isinstance(entries, list) or not all(isinstance(item, dict) for item in entries):
        raise BaselineError(f"{path}: expected a mapping with the key 'entries' and a list of mappings there")
    lines = text.splitlines(keepends=True)
    rest = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    return "".join(lines[:rest]), data


def written(comment: str, document: Mapping[str, Any]) -> str:
    """A baseline file; each entry says all that it says, without aliases."""
    return comment + yaml.dump(dict(document), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=110)


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True
