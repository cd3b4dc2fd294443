"""Which brokers meet each requirement, and since which version.

Knows: rows of marts, the order of versions. Must not know: HTML, ledgers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import groupby, pairwise

from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.rows import RequirementStatus
from amqpspec.reports.outcomes import GREEN
from amqpspec.reports.site.load import Loaded
from amqpspec.reports.site.model import version_order
from amqpspec.reports.site.names import product_key


class State(StrEnum):
    """The result of a target for a requirement; the worst of its cases decides."""

    KEPT = "meets it"
    NONSTRICT = "serves its purpose only"
    VIOLATED = "violates it"
    UNDECIDED = "undecided"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "does not apply"
    UNSEEN = "not tested"


_STATES = {
    Outcome.NONSTRICT: State.NONSTRICT, Outcome.FAIL: State.VIOLATED, Outcome.BLOCKED: State.BLOCKED,
    Outcome.NOT_APPLICABLE: State.NOT_APPLICABLE, Outcome.EXCLUDED: State.UNSEEN,
}  # fmt: skip
_OUTCOMES: Mapping[str | None, Outcome] = {str(outcome): outcome for outcome in Outcome}


def outcome_of(row: RequirementStatus) -> Outcome | None:
    """The worst verdict of a requirement's cases; None if none ran. An unknown verdict is a bug."""
    return _OUTCOMES.get(row.verdict, Outcome.ERROR) if row.status == "judged" else None


def state_of(row: RequirementStatus) -> State:
    """The state of a row of the mart."""
    outcome = outcome_of(row)
    if outcome is None:
        return State.UNSEEN
    return State.KEPT if outcome in GREEN else _STATES.get(outcome, State.UNDECIDED)


@dataclass(frozen=True, slots=True)
class Seen:
    """One version of one target for one requirement; ``since`` is when that version was first seen."""

    row: RequirementStatus
    state: State
    since: datetime | None

    @property
    def version(self) -> str:
        """The version's name."""
        return self.row.target_version or "version unknown"

    @property
    def known(self) -> bool:
        """Whether a baseline lists the deviation."""
        return self.row.baseline == "known"


@dataclass(frozen=True, slots=True)
class Span:
    """Adjacent versions with the same state."""

    state: State
    seen: tuple[Seen, ...]

    @property
    def versions(self) -> str:
        """``4.0``, or ``4.0 to 4.3``."""
        first, last = self.seen[0].version, self.seen[-1].version
        return first if first == last else f"{first} to {last}"


@dataclass(frozen=True, slots=True)
class History:
    """A product for one requirement: its versions in the order of releases, over all its targets."""

    product: str
    spans: tuple[Span, ...]

    @property
    def now(self) -> Seen:
        """The newest version."""
        return self.spans[-1].seen[-1]

    @property
    def since(self) -> str:
        """Since when the state is unchanged: a version, or a text if no seen version differs."""
        first = self.spans[-1].seen[0]
        if len(self.spans) > 1:
            return f"since {first.version}"
        return (
            f"in {first.version}, the only version seen"
            if len(self.spans[0].seen) == 1
            else "in all versions seen"
        )


@dataclass(frozen=True, slots=True)
class Rule:
    """A requirement of a dialect in the marts, with the history of each product."""

    dialect: str
    id: str
    level: str
    section: str
    same_as: str
    excluded: str
    histories: tuple[History, ...]

    @property
    def differs(self) -> bool:
        """Whether the newest versions of products differ, among those that were judged."""
        judged = {history.now.state for history in self.histories} - {
            State.UNSEEN,
            State.NOT_APPLICABLE,
            State.BLOCKED,
        }
        return len(judged) > 1


def products(loaded: Loaded) -> Mapping[str, str]:
    """The product of each target by the target's name; a target that announces none keeps its name."""
    told = {row.target: row.product for rows in loaded.verdicts.values() for row in rows if row.product}
    named = {target: told.get(target) or target for target, _ in loaded.lines}
    first: dict[str, str] = {}
    for product in sorted(named.values()):
        first.setdefault(product_key(product), product)
    return {target: first[product_key(product)] for target, product in named.items()}


def rules(loaded: Loaded) -> list[Rule]:
    """Every requirement, by dialect, in the order of the mart."""
    names, first = products(loaded), _first_seen(loaded)
    return [_rule(dialect, id, rows, names, first) for (dialect, id), rows in sorted(loaded.rules.items())]


def _first_seen(loaded: Loaded) -> Mapping[tuple[str, str], datetime]:
    """When each version of each target was first seen in a run."""
    found: dict[tuple[str, str], datetime] = {}
    for row in (row for rows in loaded.scores.values() for row in rows if row.at):
        who = (row.target, row.target_version)
        found[who] = min(found.get(who, row.at), row.at) if row.at else found[who]
    return found


def _rule(
    dialect: str, id: str, rows: Sequence[RequirementStatus], names: Mapping[str, str],
    first: Mapping[tuple[str, str], datetime],
) -> Rule:  # fmt: skip
    members: defaultdict[str, list[Seen]] = defaultdict(list)
    for row in rows:
        since = first.get((row.target, row.target_version))
        members[names.get(row.target, row.target)].append(Seen(row, state_of(row), since))
    by_name = sorted(members.items(), key=lambda member: member[0].lower())
    histories = (History(product, tuple(_spans(seen))) for product, seen in by_name)
    one = rows[0]
    return Rule(
        dialect,
        id,
        one.level or "",
        one.section or "",
        one.same_as or "",
        one.excluded or "",
        tuple(histories),
    )


def _spans(seen: Iterable[Seen]) -> Iterator[Span]:
    ordered = sorted(seen, key=lambda one: (version_order(one.row.target_version), one.row.target))
    for state, same in groupby(ordered, key=lambda one: one.state):
        yield Span(state, tuple(same))


@dataclass(frozen=True, slots=True)
class Turn:
    """A requirement that a product meets from one version on, or no longer meets."""

    rule: Rule
    before: Seen
    after: Seen

    @property
    def better(self) -> bool:
        """Whether the requirement is now met."""
        return self.after.state is State.KEPT


def turns(all_rules: Iterable[Rule], product: str) -> list[Turn]:
    """The changes between a product's versions, the newest first; versions that were not judged are skipped."""
    found = [
        Turn(rule, before, after)
        for rule in all_rules
        for history in rule.histories
        if history.product == product
        for before, after in _pairs(history)
    ]
    return sorted(found, key=lambda turn: version_order(turn.after.row.target_version), reverse=True)


def _pairs(history: History) -> Iterator[tuple[Seen, Seen]]:
    judged = [one for span in history.spans for one in span.seen if one.state in (State.KEPT, State.VIOLATED)]
    return ((a, b) for a, b in pairwise(judged) if a.state is not b.state)
