"""Verdicts derived again from their octets: each case runs again with its transcript in place of the target.

Knows: transcripts, cases, rows. Must not know: targets, sockets, certificates.
What is derived is what the suite of today says of the recorded octets. That the octets were those of the target is not
shown by it: a signature, or the trust in who ran the suite, has to vouch for that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from amqpspec.net.stream import READ_OCTETS
from amqpspec.peer.context import Context, MissingHook
from amqpspec.record.evidence import evidence_path
from amqpspec.record.journal import read_cases
from amqpspec.record.rows import RAN, BlockedBy, CaseRow
from amqpspec.record.transcript import MAX_OCTETS
from amqpspec.run.case import Case, load_suite
from amqpspec.run.conditions import context_of
from amqpspec.run.driver import driver_of
from amqpspec.run.execute import dead_of, row_of, verdict_of
from amqpspec.run.replay import ReplayError, read_transcript
from amqpspec.run.script import Cut, Diverged, Script
from amqpspec.spec.dialects import certified_dialects, client_dialects

_FIELDS = (
    "dialect", "suite", "title", "requirements", "level", "verdict", "blocked_by", "facts", "expected", "observed",
)  # fmt: skip
_TIMES = re.compile(r"\d+\.\d+")
_WORD = re.compile(r"[^\s(){}\[\],]+")


@dataclass(frozen=True, slots=True)
class Derivation:
    """The result of deriving one row: it ``follows``, or ``why`` says what does not, or why nothing can be said."""

    case: str
    follows: bool
    why: str = ""
    underivable: bool = False


def derivations(folder: Path) -> Iterator[Derivation]:
    """One derivation for each row of a run's journal that ran, or should have; raises JournalError."""
    for row in read_cases(folder):
        if row.evidence:
            yield derive(row, folder / evidence_path(row.id))
        elif why := _left_out(row):
            yield Derivation(row.id, False, why)


def _left_out(row: CaseRow) -> str:
    """Why a row without evidence cannot be: it would have had to run."""
    if row.dialect in client_dialects():
        return f"recorded {row.verdict} without evidence" if row.verdict in RAN else ""
    case = load_suite(row.dialect).get(row.id) if row.dialect in certified_dialects() else None
    if row.verdict in RAN:
        return f"recorded {row.verdict} without evidence"
    if row.blocked_by is BlockedBy.PROFILE and (case is None or not case.needs):
        return "left out by profile, but it needs no optional part"
    if row.blocked_by is BlockedBy.HOOK and (case is None or not case.hooks):
        return "blocked by configuration, but it needs no hook"
    return ""


def derive(row: CaseRow, path: Path) -> Derivation:
    """Derive one row from the transcript that it names."""
    if row.dialect in client_dialects():
        return Derivation(row.id, False, "a client's verdict rests on its process, too", underivable=True)
    try:
        lines = read_transcript(path)
        if lines[0].get("attempt", 0) > row.attempt:
            return Derivation(row.id, False, f"a later attempt took the place of attempt {row.attempt}", True)
        case = load_suite(row.dialect)[row.id]
        return _compared(row, _derived(case, row, lines))
    except (ReplayError, Diverged) as problem:
        return Derivation(row.id, False, str(problem))
    except Cut:
        return _cut(row, lines)
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        return Derivation(row.id, False, f"{type(problem).__name__}: {problem}")


def _derived(case: Case, row: CaseRow, lines: Sequence[Mapping[str, Any]]) -> CaseRow:
    """The row that follows from the case and its transcript."""
    head = lines[0]
    if (head["id"], head["attempt"]) != (row.id, row.attempt):
        raise Diverged(f"expected attempt {row.attempt} of {row.id}, the transcript is of {head['id']}, "
                       f"attempt {head['attempt']}")  # fmt: skip
    if "conditions" not in head:
        raise Diverged("expected the conditions of the case, the transcript has none")
    dialect = str(head["dialect"])
    driver = driver_of(dialect)
    script = Script(lines, partial(driver.direction, dialect), case.budget_s)
    unmade = {line["address"]: str(line["why"]) for line in lines if line.get("kind") == "unmade"}
    context = context_of(
        head["conditions"],
        dialect,
        case.requirements,
        script.dial,
        script.restart,
        partial(_make_node, unmade),
    )
    verdict = verdict_of(case, driver.peer(context))
    script.finish()
    return row_of(case, dead_of(verdict, row.died) if row.died else verdict)


def _make_node(unmade: Mapping[str, str], context: Context, vhost: str, address: str) -> None:
    """Nodes are there, except for those that the transcript says could not be made."""
    if address in unmade:
        raise MissingHook(unmade[address])


def _compared(row: CaseRow, derived: CaseRow) -> Derivation:
    for name in _FIELDS:
        recorded, found = getattr(row, name), getattr(derived, name)
        if recorded != found and _words(recorded) != _words(found):
            return Derivation(
                row.id, False, f"{name}: recorded {_said(recorded)}, its octets say {_said(found)}"
            )
    return Derivation(row.id, True)


def _words(value: object) -> object:
    """The words of a sentence in any order, without seconds: clocks and sets say one thing in several ways."""
    return sorted(_WORD.findall(_TIMES.sub("", value))) if isinstance(value, str) else value


def _said(value: object) -> str:
    return str(value) if isinstance(value, str) else repr(value)


def _cut(row: CaseRow, lines: Sequence[Mapping[str, Any]]) -> Derivation:
    """A transcript is cut for its length only; what there is of it fits the case."""
    kept = sum(len(str(line.get("hex", ""))) // 2 for line in lines if line.get("dir") == "in")
    if kept < MAX_OCTETS - READ_OCTETS:
        return Derivation(row.id, False, f"cut after {kept} octets of the target, expected {MAX_OCTETS}")
    why = f"its transcript was cut after {kept} octets of the target, which fit the case"
    return Derivation(row.id, False, why, True)
