"""Progress of a campaign: what is written before each batch, and where a resumed campaign continues.

Knows: the parts of a checkpoint. Must not know: how files survive a kill.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.caution import Caution
from amqpspec.fuzz.campaign.energy import Energy
from amqpspec.fuzz.campaign.expectation import Expectation
from amqpspec.fuzz.campaign.journal import PROGRESS, read_progress
from amqpspec.fuzz.campaign.kept import KeptInputs
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.schedule import Position
from amqpspec.fuzz.campaign.tally import Tally
from amqpspec.net.clock import utc_now
from amqpspec.record.journal import JournalError


def _saved(folder: Path) -> dict[str, Any] | None:
    """The checkpoint of a campaign; None if it was killed before it wrote one. Raises JournalError."""
    if not (folder / PROGRESS).exists() and all(path.name in _FIRST for path in folder.iterdir()):
        return None
    return read_progress(folder)


_FIRST = frozenset({"journal.jsonl", "corpus", f".{PROGRESS}", "observations"})
"""The files of a campaign before its first checkpoint."""


@dataclass(slots=True)
class Checkpoint:
    """``complaints`` holds what was made of complaints before; None at the beginning."""

    plan: Mapping[str, Any]
    energy: Energy
    kept: KeptInputs
    expectation: Expectation = field(default_factory=Expectation)
    tally: Tally = field(default_factory=Tally)
    position: Position = field(default_factory=Position)
    caution: Caution = field(default_factory=Caution)
    run: str = field(default_factory=lambda: f"fuzz-{secrets.token_hex(6)}")
    started: str = field(default_factory=utc_now)
    complaints: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, order: CampaignOrder) -> Checkpoint:
        """Where a campaign begins or continues. Raises JournalError."""
        dialect = order.subject.dialect
        saved = _saved(order.out) if order.resume else None
        if saved is None:
            return cls(order.plan, Energy(dialect, None, order.origins), KeptInputs(order.out, order.corpus))
        if saved["plan"] != order.plan:
            raise JournalError(
                f"{order.out}: expected a campaign of {saved['plan']}, actual order {order.plan}"
            )
        kept = KeptInputs(order.out, order.corpus, saved["kept"])
        energy = Energy(dialect, saved["energy"], (*order.origins, *kept.origins))
        expectation = Expectation.from_json(saved["expectation"])
        found = cls(order.plan, energy, kept, expectation, Tally.from_json(saved["tally"]))
        found.position, found.complaints = Position(**saved["position"]), saved
        found.caution = Caution.from_json(saved.get("caution", {}))
        found.run, found.started = saved.get("run", found.run), saved.get("started", found.started)
        return found

    def to_json(self) -> dict[str, Any]:
        """As JSON, without ``complaints``."""
        return {
            "plan": self.plan, "run": self.run, "started": self.started, "position": self.position.to_json(),
            "tally": self.tally.to_json(), "energy": self.energy.to_json(),
            "caution": self.caution.to_json(), "expectation": self.expectation.to_json(),
            "kept": self.kept.to_json(),
        }  # fmt: skip
