"""The rows of all marts. This is the only declaration of their columns; the build, the export, queries, pages and
docs/marts.md use it.

Knows: names, types and meanings of columns. Must not know: how rows are computed or shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated

from amqpspec.record.rows import Outcome
from amqpspec.reports.marts.row import TINY, MartRow

Target = Annotated[str, "the target's name"]
TargetVersion = Annotated[str, "the version that the target announced, or that it was given by its user"]
Product = Annotated[str | None, "what the target calls itself"]
Dialect = Annotated[str, "the dialect that was spoken"]
CaseId = Annotated[str, "the case's id"]
SuiteVersion = Annotated[str, "the version of amqpspec that ran the suite"]
Suite = Annotated[str | None, "the case's section of the suite"]
Level = Annotated[str | None, "the strength of the demand: MUST, SHOULD, MAY, statement"]
Newest = Annotated[bool, "whether the target was last seen in this version"]
VerdictWord = Annotated[str | None, "the verdict: the worst of the attempts"]
VerdictCode = Annotated[int | None, "the verdict as a number: the greatest is the worst", TINY]
Baseline = Annotated[
    str | None, "`unexpected` if one attempt was, `known` if the baseline contains it, otherwise empty"
]
Evidence = Annotated[str | None, "the path of the transcript; null if the case did not run"]
Run = Annotated[str | None, "the run"]
Folder = Annotated[str | None, "the folder of the run"]

_OUTCOMES: Mapping[str | None, Outcome] = {str(outcome): outcome for outcome in Outcome}


@dataclass(frozen=True, slots=True)
class LatestVerdict(MartRow):
    """The latest run's verdict of each target and version on each case."""

    NAME = "verdicts"
    GRAIN = ("target", "target_version", "dialect", "case")
    SHOWN = ("target", "target_version", "dialect", "case", "level", "verdict", "baseline")

    target: Target
    target_version: TargetVersion
    dialect: Dialect
    case: CaseId
    product: Product
    newest: Newest
    suite: Suite
    title: Annotated[str | None, "what the case demands, in one line"]
    level: Level
    verdict: VerdictWord
    verdict_code: VerdictCode
    baseline: Baseline
    attempts: Annotated[int, "attempts in that run"]
    green: Annotated[int, "attempts that passed, or whose outcome is observed"]
    runs: Annotated[int, "runs of the case that the row summarizes, with any suite version"]
    suite_version: Annotated[str | None, "the version of amqpspec that ran the suite"]
    run: Run
    at: Annotated[datetime | None, "when it was last observed"]
    evidence: Evidence

    @property
    def outcome(self) -> Outcome:
        """The verdict; an unknown name is a bug."""
        return _OUTCOMES.get(self.verdict, Outcome.ERROR)


@dataclass(frozen=True, slots=True)
class RequirementStatus(MartRow):
    """The result of each target and version for each requirement."""

    NAME = "requirement_coverage"
    GRAIN = ("target", "target_version", "dialect", "requirement")
    SHOWN = ("target", "target_version", "requirement", "level", "status", "verdict", "case")

    target: Target
    target_version: TargetVersion
    dialect: Dialect
    requirement: Annotated[str, "the requirement's id"]
    newest: Newest
    level: Level
    section: Annotated[str | None, "the section of the specification"]
    same_as: Annotated[str | None, "the name under which dialects share the requirement"]
    status: Annotated[
        str, "`judged`; `not-run` if it has cases, but none ran; `open` without a case; `excluded`"
    ]
    verdict: Annotated[str | None, "the worst verdict of its cases"]
    verdict_code: VerdictCode
    baseline: Baseline
    cases: Annotated[int, "cases that cover it"]
    judged: Annotated[int, "cases that ran"]
    green: Annotated[int, "cases all of whose attempts are green"]
    case: Annotated[str | None, "the case with the worst verdict, the first by name"]
    run: Run
    at: Annotated[datetime | None, "when that case was last observed"]
    evidence: Evidence
    excluded: Annotated[str | None, "why no case covers it"]


@dataclass(frozen=True, slots=True)
class Regression(MartRow):
    """A verdict that differs from that of the neighbouring version, of the target or of the suite."""

    NAME = "regressions"
    GRAIN = ("target", "dialect", "case", "change", "to_target_version", "to_suite_version")
    SHOWN = (
        "target", "case", "change", "from_verdict", "to_verdict", "to_target_version", "to_suite_version",
    )  # fmt: skip

    target: Target
    dialect: Dialect
    case: CaseId
    change: Annotated[str, "what changed its version: `target-version`, `suite-version`, `both`"]
    to_target_version: Annotated[str, "the target's version after the change"]
    to_suite_version: Annotated[str, "the suite's version after the change"]
    from_target_version: Annotated[str | None, "the target's version before"]
    from_suite_version: Annotated[str | None, "the suite's version before"]
    suite: Suite
    level: Level
    from_verdict: Annotated[str, "the last verdict under the versions before"]
    to_verdict: Annotated[str, "the last verdict under the versions after"]
    direction: Annotated[str, "`regressed` from green, `fixed` to green, else `changed`"]
    flaky: Annotated[bool | None, "whether one of the two sides also had other verdicts"]
    from_run: Annotated[str | None, "the last run under the versions before"]
    to_run: Annotated[str | None, "the last run under the versions after"]
    at: Annotated[datetime | None, "when the versions after the change were first seen"]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class FlakyCase(MartRow):
    """A case whose verdict changed although no version did."""

    NAME = "flakiness"
    GRAIN = ("target", "target_version", "suite_version", "dialect", "case")
    SHOWN = ("target", "target_version", "case", "runs", "flips", "flip_rate", "worst_verdict")

    target: Target
    target_version: TargetVersion
    suite_version: SuiteVersion
    dialect: Dialect
    case: CaseId
    suite: Suite
    level: Level
    runs: Annotated[int, "runs of the case"]
    flips: Annotated[int, "runs whose verdict is not that of the run before"]
    flip_rate: Annotated[
        float | None, "flips divided by the pairs of consecutive runs; null for a single run"
    ]
    mixed_runs: Annotated[int, "runs whose attempts had different verdicts"]
    attempts: Annotated[int, "attempts in all runs"]
    green: Annotated[int, "attempts that were green"]
    best_verdict: Annotated[str | None, "the best verdict of any attempt"]
    worst_verdict: Annotated[str | None, "the worst verdict of any attempt"]
    first_at: Annotated[datetime | None, "when the case was first observed"]
    last_flip_at: Annotated[datetime | None, "when the verdict last changed from one run to the next"]
    last_at: Annotated[datetime | None, "when the case was last observed"]


@dataclass(frozen=True, slots=True)
class FindingCluster(MartRow):
    """Findings of campaigns, one row for each target, dialect and signature."""

    NAME = "findings"
    GRAIN = ("target", "dialect", "crash")
    SHOWN = ("target", "oracle", "family", "state", "status", "top", "campaigns", "last_seen")

    target: Target
    dialect: Dialect
    crash: Annotated[str, "the signature of the findings"]
    oracle: Annotated[str | None, "which oracle complained"]
    status: Annotated[str | None, "`stable`, `flaky` or `lost`"]
    family: Annotated[str | None, "the family of the smallest input"]
    state: Annotated[str | None, "the protocol state that it was sent in"]
    top: Annotated[str | None, "the top line of the error"]
    detail: Annotated[str | None, "the error in more detail"]
    requirement: Annotated[str | None, "the requirement that the input violates, if any"]
    open: Annotated[bool | None, "whether the target still had it in the version that was fuzzed last"]
    campaigns: Annotated[int, "campaigns that found it"]
    days: Annotated[int, "days on which it was found"]
    inputs: Annotated[int | None, "inputs that are blamed"]
    recent: Annotated[int | None, "of these, inputs of the last seven days"]
    earlier: Annotated[int | None, "of these, inputs of the seven days before"]
    first_seen: Annotated[datetime | None, "when it was first found"]
    last_seen: Annotated[datetime | None, "when it was last found"]
    first_version: Annotated[str | None, "the target's version then"]
    last_version: Annotated[str | None, "the target's version at that time"]
    smallest_octets: Annotated[int | None, "octets of the smallest input"]
    smallest_input: Annotated[str | None, "the smallest input to which a finding was minimised"]
    words: Annotated[str | None, "that input, decoded"]
    replay: Annotated[str | None, "the command that sends it again"]
    folder: Annotated[str | None, "the folder of that finding in its campaign"]
    run: Annotated[str | None, "that campaign"]


@dataclass(frozen=True, slots=True)
class Difference(MartRow):
    """The reaction of one target to inputs on which targets differ; a vector maps each target to its reaction."""

    NAME = "differential"
    GRAIN = ("dialect", "kind", "vector", "target")
    SHOWN = ("dialect", "kind", "target", "target_version", "reaction", "inputs", "sample")

    dialect: Dialect
    kind: Annotated[str, "`case` or `fuzz`: whether the row is about cases or about inputs of campaigns"]
    vector: Annotated[str, "a name for the combination of targets and reactions"]
    target: Target
    target_version: Annotated[str | None, "the version in which the target was last seen"]
    product: Product
    reaction: Annotated[str | None, "the target's reaction; `varies` if it is not always the same"]
    inputs: Annotated[int, "the number of inputs, or cases, with this vector"]
    targets: Annotated[int, "the number of targets in it"]
    sample: Annotated[str | None, "one of the inputs, or cases, by its id"]
    sample_key: Annotated[int | None, "the key of that input or case in the lake"]
    run: Annotated[str | None, "a run or campaign of the target that had it"]
    folder: Folder


@dataclass(frozen=True, slots=True)
class ExploredDay(MartRow):
    """The part of one dimension that campaigns had explored by the end of a day."""

    NAME = "exploration"
    GRAIN = ("target", "dialect", "dimension", "dt")
    SHOWN = ("target", "dialect", "dimension", "dt", "new", "covered", "inputs")

    target: Target
    dialect: Dialect
    dimension: Annotated[str, "`state`, `production`, `family`, `edge`, `reaction` or `cell`"]
    dt: Annotated[date, "the day, in UTC"]
    met: Annotated[int, "how many were seen on that day"]
    new: Annotated[int, "of these, how many for the first time"]
    covered: Annotated[int, "how many were seen since the first day"]
    inputs: Annotated[int | None, "inputs of the day that reached one; null for families"]


@dataclass(frozen=True, slots=True)
class RunScore(MartRow):
    """A suite's cases of one section and level in one run."""

    NAME = "scores"
    GRAIN = ("target", "target_version", "suite_version", "dialect", "run", "suite", "level")
    SHOWN = ("target", "target_version", "suite_version", "run", "suite", "level", "green", "counted")

    target: Target
    target_version: TargetVersion
    suite_version: SuiteVersion
    dialect: Dialect
    run: Annotated[str, "the run"]
    suite: Annotated[str, "the section of the suite"]
    level: Annotated[str, "the strength of the demand: MUST, SHOULD, MAY, statement"]
    product: Product
    cases: Annotated[int, "cases of the section and level"]
    counted: Annotated[
        int, "cases that apply: those that are excluded, or do not apply, do not count; blocked ones do"
    ]
    green: Annotated[int, "cases whose worst attempt is green; `green` of `counted` is the score"]
    failed: Annotated[int, "cases that failed"]
    known: Annotated[int, "cases with a deviation that the baseline contains"]
    unexpected: Annotated[int, "cases with a deviation that it does not contain"]
    at: Annotated[datetime | None, "when the first of these cases was observed"]


ROWS: tuple[type[MartRow], ...] = (
    LatestVerdict, RequirementStatus, Regression, FlakyCase, FindingCluster, Difference, ExploredDay, RunScore,
)  # fmt: skip
DECLARED: Mapping[str, type[MartRow]] = {row.NAME: row for row in ROWS}
"""The row classes by the names of their marts."""
