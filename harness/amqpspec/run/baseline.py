"""Baselines: verified deviations of a target, with reason, link and expiry; stale entries fail the run.

Knows: the baseline file. Must not know: how rows came about.

A file::

    target: rabbitmq
    dialect: amqp-0-9-1
    versions: ">=3.10,<3.11"
    entries:
      - case: amq_wlp_frame_02
        verdict: fail
        refusal: connection 501                  # the refusal that is known: scope and code; none for no refusal
        observed: "the queue holds * messages"   # what was observed, where * stands for any text
        reason: sends connection.close 501 before closing
        link: https://…
        expires: 2027-11-21
        flaky: true   # a race within the target: seen in some runs only, so that an entry not seen is not stale

An entry holds what was observed and nothing else: a refusal, a text, or both; either may be a list of alternatives.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import InvalidVersion, Version

from amqpspec.record.reading import parse_yaml
from amqpspec.record.rows import DEVIATIONS, BlockedBy, CaseRow, Outcome
from amqpspec.run.likeness import is_like
from amqpspec.run.wording import present
from amqpspec.target.config import yaml_complaint

_TOP = frozenset({"target", "dialect", "versions", "entries"})
_KEYS = frozenset({"case", "verdict", "refusal", "observed", "reason", "link", "expires", "flaky"})
NO_REFUSAL = "none"


class BaselineError(ValueError):
    """The baseline cannot be used; the text names file, entry and key."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One known deviation."""

    case: str
    verdict: Outcome
    reason: str
    link: str
    expires: date
    refusal: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    flaky: bool = False

    def matches(self, row: CaseRow, today: date) -> bool:
        """Whether this entry excuses that row today."""
        return today <= self.expires and self.holds(row)

    def holds(self, row: CaseRow) -> bool:
        """Whether the row has the result that this entry holds."""
        if row.id != self.case or row.verdict is not self.verdict:
            return False
        if self.refusal and refusal_of(row) not in self.refusal:
            return False
        observed = present(row.observed)
        return not self.observed or any(is_like(observed, pattern) for pattern in self.observed)


def refusal_of(row: CaseRow) -> str:
    """``connection 501``, ``socket``, or ``none``: the refusal that a row observed."""
    refusal = row.facts.refusal
    if refusal is None:
        return NO_REFUSAL
    return str(refusal.scope) if refusal.code is None else f"{refusal.scope} {refusal.code}"


@dataclass(frozen=True, slots=True)
class Baseline:
    """The known deviations of a target in a range of versions."""

    path: Path
    target: str
    dialect: str
    versions: SpecifierSet
    entries: tuple[Entry, ...]

    def applies_to(self, version: str) -> bool:
        """Whether the version announced is in the range; one that is no version is, where the range is open."""
        try:
            return self.versions.contains(Version(version), prereleases=True)
        except InvalidVersion:
            return not str(self.versions)


def read_baseline(path: Path) -> Baseline:
    """Read a baseline file; raises BaselineError."""
    try:
        data = parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        hint = "; amqpspec baseline RUN --out makes one" if isinstance(error, FileNotFoundError) else ""
        raise BaselineError(f"{path}: cannot be read: {error.strerror}{hint}") from error
    except (yaml.YAMLError, ValueError) as error:
        raise BaselineError(f"{path}{yaml_complaint(error)}") from error
    if not isinstance(data, dict) or not isinstance(data.get("entries"), list):
        raise BaselineError(
            f"{path}: expected a mapping with the key 'entries' and a list there, actual {_said(data)}"
        )
    if unknown := set(data) - _TOP:
        raise BaselineError(f"{path}: unknown key {min(map(str, unknown))!r}, expected one of {sorted(_TOP)}")
    try:
        versions = SpecifierSet(str(data.get("versions", "")))
    except InvalidSpecifier as error:
        raise BaselineError(f"{path}, key 'versions': {error}") from error
    entries = tuple(
        entry_of(f"{path}, entry {number}", item) for number, item in enumerate(data["entries"], start=1)
    )
    return Baseline(path, str(data.get("target", "")), str(data.get("dialect", "")), versions, entries)


def _said(data: Any) -> str:
    if isinstance(data, dict):
        return "a mapping without them"
    return "nothing" if data is None else type(data).__name__


def entry_of(where: str, item: Any) -> Entry:
    """One entry from its data; raises BaselineError, which begins with ``where``."""
    if not isinstance(item, dict):
        raise BaselineError(f"{where}: expected a mapping, actual {type(item).__name__}")
    unknown = set(item) - _KEYS
    if unknown:
        raise BaselineError(
            f"{where}: unknown key {min(map(str, unknown))!r}, expected one of {sorted(_KEYS)}"
        )
    for key in ("case", "verdict", "reason", "link", "expires"):
        if not item.get(key):
            raise BaselineError(f"{where}: expected key {key!r}, actual: missing")
    if not isinstance(item["expires"], date) or isinstance(item["expires"], datetime):
        raise BaselineError(
            f"{where}, key 'expires': expected a date like 2027-01-31, actual {item['expires']!r}"
        )
    if str(item["verdict"]) not in DEVIATIONS:
        raise BaselineError(
            f"{where}, key 'verdict': expected one of {sorted(map(str, DEVIATIONS))}, actual {item['verdict']!r}"
        )
    if not isinstance(item.get("flaky", False), bool):
        raise BaselineError(f"{where}, key 'flaky': expected true or false, actual {item['flaky']!r}")
    refusal, observed = (_texts(where, item, key) for key in ("refusal", "observed"))
    if not refusal and not observed:
        raise BaselineError(
            f"{where}: expected key 'refusal' or 'observed', actual: neither, which would excuse any result; "
            "amqpspec baseline RUN --update FILE writes what was observed"
        )
    reason = " ".join(str(item["reason"]).split())
    return Entry(
        str(item["case"]), Outcome(item["verdict"]), reason, str(item["link"]), item["expires"],
        refusal, tuple(map(present, observed)), item.get("flaky", False),
    )  # fmt: skip


def _texts(where: str, item: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """One text or several."""
    said = item.get(key, [])
    texts = said if isinstance(said, list) else [said]
    if not all(isinstance(text, str) and text for text in texts) or (key in item and not texts):
        raise BaselineError(f"{where}, key {key!r}: expected a text or a list of texts, actual {said!r}")
    return tuple(texts)


def apply(
    rows: Iterable[CaseRow], baseline: Baseline | None, today: date, unasked: Collection[str] = ()
) -> tuple[list[CaseRow], list[dict[str, str]]]:
    """Mark known and unexpected deviations; returns the rows and the stale entries (case, reason).

    Cases that were not requested (``unasked``) or did not run are not reported.
    """
    entries = baseline.entries if baseline else ()
    used: set[Entry] = set()
    judged: list[CaseRow] = []
    ids: set[str] = set()
    for row in rows:
        ids.add(row.id)
        judged.append(_mark(row, entries, used, today, baseline is not None))
    stale = [
        {"case": entry.case, "why": _why_stale(entry, ids, today)}
        for entry in entries
        if entry not in used and not (entry.flaky and entry.case in ids and today <= entry.expires)
    ]
    silent = {*unasked, *(row.id for row in judged if did_not_run(row))}
    return judged, [entry for entry in stale if entry["case"] not in silent]


def deviates(row: CaseRow) -> bool:
    """Whether a baseline may list a row of this kind; what our configuration lacks reveals nothing about the target."""
    return row.verdict in DEVIATIONS and not row.is_blocked_by_configuration


def did_not_run(row: CaseRow) -> bool:
    """Whether a case did not run, for a reason that is not the target's."""
    blocked = row.verdict is Outcome.BLOCKED and row.blocked_by is not BlockedBy.PREREQUISITE
    return blocked or row.verdict is Outcome.EXCLUDED


def _mark(
    row: CaseRow, entries: Iterable[Entry], used: set[Entry], today: date, has_baseline: bool
) -> CaseRow:
    for entry in entries:
        if entry.matches(row, today):
            used.add(entry)
            return replace(row, baseline="known", reason=f"{entry.reason} ({entry.link})")
    if has_baseline and deviates(row):
        return replace(row, baseline="unexpected")
    return row


def _why_stale(entry: Entry, ids: set[str], today: date) -> str:
    if today > entry.expires:
        return f"expired on {entry.expires}"
    if entry.case not in ids:
        return "no such case in the suite"
    return f"the deviation ({entry.verdict}) was not seen any more"
