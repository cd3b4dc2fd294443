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

from amqpspec.record import schema_1
from amqpspec.spec.model import Refusal, Scope

SCHEMA = 2


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


DEVIATIONS = frozenset({Outcome.FAIL, Outcome.NONSTRICT, Outcome.INCONCLUSIVE, Outcome.BLOCKED})
"""What a baseline may list."""


class BlockedBy(StrEnum):
    """What kept a case from a judgement."""

    HOOK = "hook"
    """The target's configuration does not offer what the case needs: a second user, a restart."""
    PREREQUISITE = "prerequisite"
    """The target did not do what the case builds on."""
    PROFILE = "profile"
    """The target's profile, or what it announces, leaves the matter out."""
    LIMIT = "limit"
    """A limit that the target may set for itself leaves no room, or it leaves an option out and says so by name."""
    BUDGET = "budget"
    """The time that the case has was used up."""
    TARGET_GONE = "target-gone"
    """The target had died before the case began."""
    NOT_REACHED = "not-reached"
    """The target did not serve at all."""
    STOPPED = "stopped"
    """The run ended before the case began."""
    SELECTION = "selection"
    """The user left the case out."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a verdict rests on, as data; sentences about it are for people.

    ``refusal`` is the refusal that was observed; ``arrivals`` is what arrived instead or besides, each as its kind and
    code (``channel.close 404``, ``end``); ``way`` is the way that a target chose where it may choose; ``first`` is the
    first refusal of the whole conversation, of cases that are not green. ``quiet_s`` is how long nothing arrived, where
    time alone tells that something does not arrive; 0 where counts or marks do. ``application`` is whether the
    application of a client learned of what happened (``reported``, ``silent``, ``hang``, ``crash``, ``memory``).
    ``role`` is ``server`` where clients are judged and the verdict is about the server that they spoke to.
    """

    refusal: Refusal | None = None
    arrivals: tuple[str, ...] = ()
    way: str = ""
    first: Refusal | None = None
    quiet_s: float = 0.0
    application: str = ""
    role: str = ""

    def to_json(self) -> dict[str, Any]:
        """The facts as JSON data."""
        first = {} if self.first is None else {"first": _refusal_json(self.first)}
        facts = {"refusal": _refusal_json(self.refusal), "arrivals": list(self.arrivals), "way": self.way}
        application = {"application": self.application} if self.application else {}
        role = {"role": self.role} if self.role else {}
        return {**facts, "quiet_s": self.quiet_s, **first, **application, **role}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Facts:
        """Read facts back; unknown keys of a newer writer are left out."""
        refusal, first = _refusal(data.get("refusal")), _refusal(data.get("first"))
        arrivals, way = tuple(data.get("arrivals", ())), data.get("way", "")
        quiet_s, application = data.get("quiet_s", 0.0), data.get("application", "")
        return cls(refusal, arrivals, way, first, quiet_s, application, data.get("role", ""))


def _refusal_json(refusal: Refusal | None) -> dict[str, Any] | None:
    return None if refusal is None else {"scope": refusal.scope, "code": refusal.code}


def _refusal(said: Mapping[str, Any] | None) -> Refusal | None:
    return None if said is None else Refusal(Scope(said["scope"]), said.get("code"))


NO_FACTS = Facts()


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One case in one run.

    ``suite`` is the module of the case (``channel``); ``level`` the strongest level it covers; ``reason`` says why it
    did not run or why the baseline excuses it; ``baseline`` is ``""``, ``known`` or ``unexpected``; ``evidence`` is the
    transcript's path relative to the run's folder; ``ended`` says how the connections ended; ``blocked_by`` what kept
    the case from a judgement, where it has none; ``ended_at`` is when it ended (UTC, ISO 8601 to the microsecond),
    empty if it did not run; ``attempts_differ`` says that its other attempts came to other verdicts; ``died`` is
    what a liveness probe said after the case where the target died of it.
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
    blocked_by: BlockedBy | None = None
    facts: Facts = NO_FACTS
    ended_at: str = ""
    attempts_differ: bool = False
    died: str = ""

    @property
    def is_known(self) -> bool:
        """Whether the target's baseline lists this, with a reason, as something that is not green."""
        return self.baseline == "known" and self.verdict in DEVIATIONS

    @property
    def is_blocked_by_configuration(self) -> bool:
        """Whether what is missing is ours to configure, so that nothing is said of the target."""
        return self.verdict is Outcome.BLOCKED and self.blocked_by is BlockedBy.HOOK

    def to_json(self) -> dict[str, Any]:
        """The row as JSON data."""
        return {
            **asdict(self),
            "requirements": list(self.requirements),
            "verdict": str(self.verdict),
            "facts": self.facts.to_json(),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> CaseRow:
        """Read a row back, of an older schema, too; unknown keys of a newer writer are left out."""
        if "facts" not in data:
            data = schema_1.with_fields(data)
        known = {key: data[key] for key in cls.__slots__ if key in data}
        known["requirements"] = tuple(data["requirements"])
        known["verdict"] = Outcome(data["verdict"])
        known["facts"] = Facts.from_json(data["facts"])
        if blocked_by := data.get("blocked_by"):
            known["blocked_by"] = BlockedBy(blocked_by)
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
    """One run: where, when (UTC, ISO 8601), with which suite, and whether it finished."""

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

    @staticmethod
    def of(outcomes: Iterable[Outcome]) -> Tally:
        """Count outcomes."""
        counts = Counter(outcomes)
        ran = {str(o): counts[o] for o in Outcome if o in RAN and counts[o]}
        return Tally(
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
