"""The plan of a run: each selected case, and the reason of those that will not run.

Knows: profiles, hooks, exclusions. Must not know: how cases run.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from amqpspec.record.rows import BlockedBy, CaseRow, Outcome
from amqpspec.run.case import Case
from amqpspec.target.live import Live


@dataclass(frozen=True, slots=True)
class Planned:
    """A case, and its result if it is not run (None: it runs)."""

    case: Case
    outcome: Outcome | None = None
    reason: str = ""
    blocked_by: BlockedBy | None = None

    def row(self) -> CaseRow:
        """The row of a case that does not run."""
        assert self.outcome is not None
        return self.case.row(self.outcome, reason=self.reason, blocked_by=self.blocked_by)


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user left out: named cases, and on a shared target whatever could hurt others."""

    excluded: Collection[str] = ()
    shared_target: bool = False


def make_plan(
    cases: Sequence[Case], live: Live, lacks: Mapping[str, str], limits: Limits | None = None
) -> list[Planned]:
    """Decide for every case; ``lacks`` are optional parts that the target does not announce, with the reason."""
    unannounced = {part: why for part, why in lacks.items() if part not in live.target.supported}
    unsupported = {**unannounced, **live.target.not_supported}
    hooks = _hooks(live)
    return [_decide(case, unsupported, hooks, limits or Limits()) for case in cases]


def _decide(case: Case, unsupported: Mapping[str, str], hooks: Collection[str], limits: Limits) -> Planned:
    if case.id in limits.excluded:
        return Planned(case, Outcome.EXCLUDED, "left out by --exclude", BlockedBy.SELECTION)
    if limits.shared_target and (case.destructive or case.restarts or case.heavy):
        why = "could hurt a shared target (--shared-target)"
        return Planned(case, Outcome.EXCLUDED, why, BlockedBy.SELECTION)
    for need in case.needs:
        if need in unsupported:
            why = f"{need}: {unsupported[need]}"
            return Planned(case, Outcome.NOT_APPLICABLE, why, BlockedBy.PROFILE)
    for hook in case.hooks:
        if hook not in hooks:
            why = f"no hook: the target's configuration offers no {hook}"
            return Planned(case, Outcome.BLOCKED, why, BlockedBy.HOOK)
    return Planned(case)


def _hooks(live: Live) -> set[str]:
    hooks = {f"{role}-user" for role in live.logins} | {f"{role}-vhost" for role in live.vhosts}
    if live.restart is not None:
        hooks.add("restart")
    if live.url.tls:
        hooks.add("tls")
    return hooks
