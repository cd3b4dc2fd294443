"""The progress of a campaign, for those that are notified after a batch.

Knows: counts, findings, the last check of the target. Must not know: how batches are run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.inputs.catalogue import Cell
from amqpspec.fuzz.oracles.monitor import Check
from amqpspec.fuzz.triage.findings import Finding


@dataclass(slots=True)
class Progress:
    """``findings`` are those of this part of the campaign; ``check`` is what the oracles said last."""

    subject: Subject
    cells: tuple[Cell, ...]
    tally: Tally
    energy: Energy
    findings: list[Finding]
    check: Check = field(default_factory=lambda: Check(()))
