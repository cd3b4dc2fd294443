"""Where a campaign stands: what is written down before each batch, and what a resumed campaign goes on from.

Knows: the parts of a checkpoint. Must not know: how files survive a kill.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.journal import read_progress
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.schedule import Position
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.net.clock import utc_now
from amqpspec.record.journal import JournalError


@dataclass(slots=True)
class Checkpoint:
    """``complaints`` is what was made of complaints before; None where the campaign begins."""

    plan: Mapping[str, Any]
    energy: Energy
    tally: Tally = field(default_factory=Tally)
    position: Position = field(default_factory=Position)
    run: str = field(default_factory=lambda: f"fuzz-{secrets.token_hex(6)}")
    started: str = field(default_factory=utc_now)
    complaints: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, order: CampaignOrder) -> Checkpoint:
        """Where a campaign begins, or goes on. Raises JournalError."""
        dialect = order.subject.dialect
        if not order.resume:
            return cls(order.plan, Energy(dialect, None, order.origins))
        saved = read_progress(order.out)
        if saved["plan"] != order.plan:
            raise JournalError(
                f"{order.out}: expected a campaign of {saved['plan']}, actual order {order.plan}"
            )
        found = cls(
            order.plan, Energy(dialect, saved["energy"], order.origins), Tally.from_json(saved["tally"])
        )
        found.position, found.complaints = Position(**saved["position"]), saved
        found.run, found.started = saved.get("run", found.run), saved.get("started", found.started)
        return found

    def to_json(self) -> dict[str, Any]:
        """As JSON, without what was made of complaints."""
        return {
            "plan": self.plan, "run": self.run, "started": self.started, "position": self.position.to_json(),
            "tally": self.tally.to_json(), "energy": self.energy.to_json(),
        }  # fmt: skip
