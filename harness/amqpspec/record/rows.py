"""The results contract: the rows that a run leaves behind and every report reads.

Knows: names, order and JSON form of what is recorded. Must not know: how results are produced or shown. Fields are
only added; SCHEMA increases if readers have to know.
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
    """The outcome of a case. Only PASS and OBSERVED are green."""

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
"""The order of verdicts from best to worst; positions are recorded and never change."""

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
"""The outcomes that a baseline may list."""


class BlockedBy(StrEnum):
    """Why a case was not judged."""

    HOOK = "hook"
    """The target's configuration lacks something that the case needs: a second user, a restart."""
    PREREQUISITE = "prerequisite"
    """The target did not do something that the case requires first."""
    PROFILE = "profile"
    """The target's profile, or its announcements, exclude the subject of the case."""
    LIMIT = "limit"
    """A limit that the target may choose leaves no room for the case, or the target omits an option and says so
    explicitly.
    """
    BUDGET = "budget"
    """The case ran out of time."""
    TARGET_GONE = "target-gone"
    """The target had died before the case began."""
    NOT_REACHED = "not-reached"
    """The target was not serving."""
    STOPPED = "stopped"
    """The run ended before the case began."""
    SELECTION = "selection"
    """The user excluded the case."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a verdict, as data; sentences about them are for people.

    ``refusal`` is the observed refusal; ``arrivals`` are all arrivals, each with kind and code (``channel.close
    404``, ``end``); ``way`` is the behaviour that a target chose, if it may choose; ``first`` is the first refusal of
    the whole conversation, for cases that are not green. ``quiet_s`` is how long nothing arrived, if only time can
    prove absence; otherwise 0. ``application`` is how the behaviour affected the application of a client
    (``reported``, ``silent``, ``hang``, ``crash``, ``memory``). ``role`` is ``server`` if clients are judged and the
    verdict is about their server.
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
        """Read facts; unknown keys of a newer version are ignored."""
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
    the case from a judgement, if it has none; ``ended_at`` is when it ended (UTC, ISO 8601 to the microsecond),
    empty if it did not run; ``attempts_differ`` says that its other attempts got other verdicts; ``died`` is
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
        """Whether the target's baseline lists this deviation with a reason."""
        return self.baseline == "known" and self.verdict in DEVIATIONS

    @property
    def is_blocked_by_configuration(self) -> bool:
        """Whether the missing part is a matter of our configuration, so that nothing is reported about the target."""
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
        """Read a row, also of an older schema; unknown keys of a newer version are ignored."""
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
    """The target: its name in targets.yaml, the URL without secrets, and its announcements."""

    name: str
    url: str
    dialect: str
    profile: str = ""
    product: str = ""
    version: str = ""
    announced: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """``RabbitMQ 3.10.8`` as announced, otherwise the target's name."""
        return f"{self.product} {self.version}".strip() or self.name


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run: target, times (UTC, ISO 8601), suite, and whether it finished."""

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
        """Read a row; unknown keys of a newer version are ignored."""
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
