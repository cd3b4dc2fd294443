"""The options of a campaign.

Knows: targets, limits, choices. Must not know: how a campaign works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.progress import Progress
from amqpspec.fuzz.coverage.coverage import Coverage
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.grammar import grammar_hash
from amqpspec.fuzz.inputs.mutation import Origin
from amqpspec.fuzz.triage.findings import Finding

BATCH = 128
BLAME_SHARE = 1 / 3
_LEAST_FOR_RESTART_S, _RESTART_SHARE, _MOST_RESTART_S = 600.0, 0.05, 60.0


@dataclass(frozen=True, slots=True)
class CampaignOrder:
    """The order for a campaign. ``patterns`` choose cells by glob (``C04/*/channel``); ``shard`` is (i, n), i from 1.

    ``batch`` is the smallest size of a batch, if there are enough inputs; ``corpus`` holds recorded octets by role,
    and ``origins`` says in which states they are mutated; ``notify`` is called after each batch. ``blame_share`` is
    the share of the time that blame may take before the budget nears its end; with 0, blame waits until then.
    ``coverage`` says what code the target has run. ``cell_by_cell`` is the order for comparisons, with random inputs
    last. ``restart_s`` are left of the budget for a restart at the end: a target may not return because of what it
    stored.
    """

    subject: Subject
    out: Path
    budget_s: float = 600.0
    seed: int = 1
    shard: tuple[int, int] = (1, 1)
    patterns: tuple[str, ...] = ()
    mutate: bool = True
    batch: int = BATCH
    resume: bool = False
    smaller: bool = True
    blame_share: float = BLAME_SHARE
    stop_when: Callable[[Finding], bool] = lambda finding: False
    notify: Callable[[Progress], None] = lambda progress: None
    workers: int = 1
    corpus: Mapping[str, bytes] = field(default_factory=dict)
    origins: tuple[Origin, ...] = ()
    coverage: Coverage | None = None
    cell_by_cell: bool = False
    restart_s: float = 0.0

    def with_restart(self) -> CampaignOrder:
        """The same with time for a restart at the end, if there is a hook and the budget is large enough."""
        enough = self.subject.restart is not None and self.budget_s >= _LEAST_FOR_RESTART_S
        return replace(
            self, restart_s=min(_RESTART_SHARE * self.budget_s, _MOST_RESTART_S) if enough else 0.0
        )

    @property
    def plan(self) -> dict[str, Any]:
        """What a resumed campaign must have in common with its beginning."""
        return {
            "dialect": self.subject.dialect, "grammar": grammar_hash(self.subject.dialect), "seed": self.seed,
            "shard": list(self.shard), "cells": list(self.patterns), "target": self.subject.name,
            "order": "cell by cell" if self.cell_by_cell else "by yield",
        } | ({"corpus": sorted(self.corpus)} if self.corpus else {})  # fmt: skip
