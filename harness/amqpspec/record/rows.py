"""The results contract: the rows that a run leaves behind and every report reads.

Knows: names, order and JSON form of what is recorded. Must not know: how it came about or how it is shown.
A field is only ever added; SCHEMA grows when a reader has to know.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

SCHEMA = 1


class Outcome(StrEnum):
    """What a case came to. Only PASS and OBSERVED are green."""

    PASS = "pass"
    OBSERVED = "observed"
    NONSTRICT = "nonstrict"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    NOT_APPLICABLE = "not-applicable"
    BLOCKED = "blocked"
    EXCLUDED = "excluded"


FROM_BEST: tuple[Outcome, ...] = (
    Outcome.EXCLUDED, Outcome.NOT_APPLICABLE, Outcome.PASS, Outcome.OBSERVED, Outcome.NONSTRICT, Outcome.BLOCKED,
    Outcome.INCONCLUSIVE, Outcome.ERROR, Outcome.FAIL,
)  # fmt: skip
"""The one order in which one verdict is worse than another; places in it are recorded, so that none ever changes."""

RAN = frozenset(
    {
        Outcome.PASS,
        Outcome.OBSERVED,
        Outcome.NONSTRICT,
        Outcome.FAIL,
        Outcome.INCONCLUSIVE,
        Outcome.ERROR,
    }
)


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in one run.

    ``suite`` is the module of the case (``channel``); ``level`` the strongest level it covers; ``reason`` says why it
    did not run or why the baseline excuses it; ``baseline`` is ``""``, ``known`` or ``unexpected``; ``evidence`` is the
    transcript's path relative to the run's folder; ``ended`` says how the connections ended.
    """

    id: str
    dialect: str
    suite: str
    title: str
    requirements: tuple[str, ...]
    level: str
    verdict: Outcome
    expected: str = ""
    observed: str = ""
    reason: str = ""
    baseline: str = ""
    evidence: str = ""
    ended: str = ""
    duration_ms: float = 0.0
    attempt: int = 1

    def to_json(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {**asdict(self), "requirements": list(self.requirements), "verdict": str(self.verdict)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseRow:
        """Read a row back; unknown keys of a newer writer are left out."""
        known = {key: data[key] for key in cls.__slots__ if key in data}
        known["requirements"] = tuple(data["requirements"])
        known["verdict"] = Outcome(data["verdict"])
        return cls(**known)


@dataclass(frozen=True, slots=True)
class TargetRow:
    """Who was certified: its name in targets.yaml, the URL without secrets, and what it announced of itself."""

    name: str
    url: str
    dialect: str
    profile: str = ""
    product: str = ""
    version: str = ""
    announced: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """``RabbitMQ 3.10.8`` as announced, else the target's name."""
        return f"{self.product} {self.version}".strip() or self.name


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run: where, when (UTC, ISO 8601), with which suite, and whether it came to its end."""

    id: str
    target: TargetRow
    suite_version: str
    started: str
    ended: str = ""
    partial: bool = False
    strict: bool = False
    command: str = ""
    platform: str = ""
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """The row as JSON data."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> RunRow:
        """Read a row back; unknown keys of a newer writer are left out."""
        known = {key: data[key] for key in cls.__slots__ if key in data}
        target = data["target"]
        known["target"] = TargetRow(**{key: target[key] for key in TargetRow.__slots__ if key in target})
        return cls(**known)


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts that add up: planned = run + not_applicable + blocked + excluded."""

    planned: int
    run: int
    not_applicable: int
    blocked: int
    excluded: int
    verdicts: Mapping[str, int]

    @classmethod
    def of(cls, outcomes: Iterable[Outcome]) -> Tally:
        """Count outcomes."""
        counts = Counter(outcomes)
        ran = {str(o): counts[o] for o in Outcome if o in RAN and counts[o]}
        return cls(
            planned=counts.total(),
            run=sum(ran.values()),
            not_applicable=counts[Outcome.NOT_APPLICABLE],
            blocked=counts[Outcome.BLOCKED],
            excluded=counts[Outcome.EXCLUDED],
            verdicts=ran,
        )

    def to_json(self) -> dict[str, Any]:
        """The counts as JSON data."""
        return asdict(self)
