"""How well planted defects are found: each by a short campaign, and none where there is nothing to find.

Knows: defects, campaigns. Must not know: how either is done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fuzz.campaign import Campaign, Order
from fuzz.findings import Finding
from fuzz.seeded.defects import Defect, defects
from fuzz.seeded.process import SeededBroker

CELLS = ("C09/*",)
"""Cells in which each planted defect is struck at least once; the clean broker goes through them, too."""
BUDGET_S, CLEAN_BUDGET_S = 120.0, 60.0


@dataclass(frozen=True, slots=True)
class Detection:
    """What became of one defect: the finding of its oracle, and findings that are not due to it."""

    defect: Defect
    finding: Finding | None
    inputs: int
    false: tuple[Finding, ...] = ()

    @property
    def right_blame(self) -> bool:
        """Whether the input that is blamed strikes it."""
        return self.finding is not None and _strikes(self.defect, self.finding)

    @property
    def line(self) -> str:
        """One line for people."""
        if self.finding is None:
            return f"{self.defect.name}: not found in {self.inputs} inputs"
        blamed = "the right input" if self.right_blame else "a wrong input"
        named = self.finding.item.id if self.finding.item else "a whole batch"
        after_s = self.finding.found_after_s
        return f"{self.defect.name}: {self.finding.status}, found after {after_s:.1f} s, blames {blamed}: {named}"


@dataclass(slots=True)
class SelfTest:
    """All detections, and what was reported of the clean broker."""

    detections: list[Detection] = field(default_factory=list)
    clean: list[Finding] = field(default_factory=list)
    clean_inputs: int = 0

    def to_json(self) -> dict[str, Any]:
        """``seeded``, ``found``, ``right_blame``, ``false_alarms``; then one row for each defect."""
        return {
            "seeded": len(self.detections),
            "found": sum(d.finding is not None for d in self.detections),
            "right_blame": sum(d.right_blame for d in self.detections),
            "false_alarms": len(self.clean) + sum(len(d.false) for d in self.detections),
            "clean_inputs": self.clean_inputs,
            "detections": [_row(d) for d in self.detections],
            "alarms": [f.to_json() for f in (*self.clean, *(f for d in self.detections for f in d.false))],
        }

    @property
    def holds(self) -> bool:
        """Whether everything was found, rightly blamed, and nothing else."""
        said = self.to_json()
        return said["seeded"] == said["found"] == said["right_blame"] and not said["false_alarms"]


def _row(detection: Detection) -> dict[str, Any]:
    found = detection.finding
    return {
        "defect": detection.defect.name, "oracle": str(detection.defect.oracle), "inputs": detection.inputs,
        "found_after_s": round(found.found_after_s, 1) if found else None,
        "status": str(found.status) if found else "not found",
        "input": str(found.item.id) if found and found.item else None, "right_blame": detection.right_blame,
    }  # fmt: skip


def selftest(
    folder: Path,
    chosen: Sequence[Defect] | None = None,
    *,
    clean_budget_s: float = CLEAN_BUDGET_S,
    told: Callable[[str], None] = lambda line: None,
) -> SelfTest:
    """Seek each defect, then go through the same cells and random inputs on the clean broker."""
    result = SelfTest()
    for defect in defects() if chosen is None else chosen:
        result.detections.append(seek(defect, folder / defect.name.replace("@", "-")))
        told(result.detections[-1].line)
    if clean_budget_s:
        with SeededBroker("none", folder / "clean") as broker:
            order = Order(broker.subject(), folder / "clean", clean_budget_s, patterns=CELLS)
            campaign = Campaign(order).run()
        result.clean, result.clean_inputs = campaign.findings, campaign.tally.inputs
        told(f"clean broker: {len(result.clean)} findings in {result.clean_inputs} inputs")
    return result


def seek(defect: Defect, folder: Path, cells: Sequence[str] = CELLS, budget_s: float = BUDGET_S) -> Detection:
    """A campaign that stops with the first finding of the defect's oracle."""
    with SeededBroker(defect.name, folder) as broker:
        order = Order(
            broker.subject(), folder, budget_s, patterns=tuple(cells), mutate=False, smaller=False,
            stop_when=lambda finding: finding.suspicion.oracle is defect.oracle,
        )  # fmt: skip
        campaign = Campaign(order).run()
    right = [f for f in campaign.findings if f.suspicion.oracle is defect.oracle]
    false = tuple(f for f in campaign.findings if not _strikes(defect, f))
    return Detection(defect, right[0] if right else None, campaign.tally.inputs, false)


def _strikes(defect: Defect, finding: Finding) -> bool:
    return finding.item is not None and defect.is_in(finding.item.octets)
