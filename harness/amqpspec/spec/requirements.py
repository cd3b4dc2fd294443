"""The requirement ledger: YAML rows in, frozen rows out, every mistake named with file and row.

Knows: the shape of a row (below) and how a refusal is written in it.
Must not know: cases, verdicts, targets.

A row::

    - id: channel/open/state            # permanent, in the words of the specification
      level: MUST                       # MUST | SHOULD | MAY | statement  (MUST NOT is MUST)
      binds: client                     # client | server | peer
      section: channel.open#state       # where the specification says it
      source: R91-044                   # id in the inventory; absent for rows beyond it
      says: opening a channel that is already open is a channel error
      accepts: [connection channel-error]     # refusals that keep it: "SCOPE CODE-NAME", "socket" or "header"
      tolerates: [connection command-invalid] # serves the purpose, not the wording: verdict nonstrict
      feature: exchange-bind            # optional part of the protocol that a target may lack
      reading: …                        # which of two contradicting texts was taken, and why
      testable: false                   # a black box cannot see it
      excluded: …                       # why there is no case
      same_as: frame-01                 # the name that dialects share for the same duty
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from amqpspec.spec.model import Dialect, Level, Refusal, Requirement, Scope

Ledger = Mapping[str, Requirement]

_KEYS = {
    "id", "level", "binds", "section", "source", "says", "accepts", "tolerates",
    "feature", "reading", "testable", "excluded", "same_as",
}  # fmt: skip
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class LedgerError(ValueError):
    """A row of a requirements file is wrong; the text names file, row and key."""


def read_ledger(path: Path, dialect: Dialect) -> Ledger:
    """Read one requirements file against the constants of its dialect; raises LedgerError."""
    return _read(path, dialect.id, tuple(dialect.refusal_codes.items()))


def read_ledgers(path: Path, beyond: Iterable[Path], dialect: Dialect) -> Ledger:
    """Read a dialect's ledger and those beyond its inventory as one; raises LedgerError."""
    ledger = dict(read_ledger(path, dialect))
    for other in beyond:
        for row in read_ledger(other, dialect).values():
            if row.id in ledger or row.source:
                wrong = "already used" if row.id in ledger else f"source {row.source}"
                raise LedgerError(
                    f"{other.name} ({row.id}): expected a unique id, no source; actual: {wrong}"
                )
            ledger[row.id] = row
    return ledger


@cache
def _read(path: Path, dialect_id: str, codes_by_name: tuple[tuple[str, int | str], ...]) -> Ledger:
    rows = yaml.load(path.read_text(encoding="utf-8"), Loader=_LOADER)
    codes = dict(codes_by_name)
    ledger: dict[str, Requirement] = {}
    for number, row in enumerate(rows or [], start=1):
        if not isinstance(row, dict):
            raise LedgerError(f"{path.name}, row {number}: expected a mapping, actual {type(row).__name__}")
        where = f"{path.name}, row {number} ({row.get('id', 'no id')})"
        requirement = _row(row, codes, where)
        if requirement.id in ledger:
            raise LedgerError(f"{where}: expected a unique id, actual: already used")
        ledger[requirement.id] = requirement
    return ledger


def _row(row: dict[str, Any], codes: Mapping[str, int | str], where: str) -> Requirement:
    unknown = set(row) - _KEYS
    if unknown:
        raise LedgerError(f"{where}: unknown key {sorted(unknown)[0]!r}")
    for key in ("id", "level", "binds", "section", "says"):
        if not row.get(key):
            raise LedgerError(f"{where}: expected key {key!r}, actual: missing")
        if not isinstance(row[key], str):
            raise LedgerError(f"{where}: {key}: expected a text, actual {row[key]!r}")
    if row["level"] not in list(Level):
        raise LedgerError(f"{where}: level: expected one of {[*Level]}, actual {row['level']!r}")
    return Requirement(
        id=row["id"],
        level=Level(row["level"]),
        binds=row["binds"],
        section=row["section"],
        paraphrase=" ".join(row["says"].split()),
        source=row.get("source", ""),
        accepts=_refusals(row.get("accepts", ()), codes, f"{where}: accepts"),
        tolerates=_refusals(row.get("tolerates", ()), codes, f"{where}: tolerates"),
        reading=" ".join(row.get("reading", "").split()),
        feature=row.get("feature", ""),
        testable=row.get("testable", True),
        excluded=" ".join(row.get("excluded", "").split()),
        same_as=row.get("same_as", ""),
    )


def _refusals(texts: Iterable[str], codes: Mapping[str, int | str], where: str) -> tuple[Refusal, ...]:
    return tuple(parse_refusal(text, codes, where) for text in texts)


def parse_refusal(text: str, codes: Mapping[str, int | str], where: str) -> Refusal:
    """Read ``channel not-found``, ``connection`` (any code), ``socket`` or ``header``; raises LedgerError."""
    scope, _, name = text.partition(" ")
    if scope not in list(Scope):
        raise LedgerError(f"{where}: expected a scope of {[*Scope]}, actual {text!r}")
    if not name:
        return Refusal(Scope(scope))
    if name not in codes:
        raise LedgerError(f"{where}: expected the name of a reply code, actual {name!r}")
    return Refusal(Scope(scope), codes[name])
