"""How well planted defects are found: each by a short campaign, and none on a broker without defects.

Knows: defects, campaigns. Must not know: how either is done.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from amqpspec.fuzz.campaign.campaign import INTERRUPTED, Campaign
from amqpspec.fuzz.campaign.order import CampaignOrder
from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.oracles.suspicion import Oracle
from amqpspec.fuzz.parts import fuzzed_dialects
from amqpspec.fuzz.selftest.beside import side_by_side
from amqpspec.fuzz.selftest.defects import Defect, defects
from amqpspec.fuzz.selftest.process import SeededBroker
from amqpspec.fuzz.triage.findings import Finding
from amqpspec.run.exits import Exit

CELLS = ("C09/*",)
"""Cells in which each planted defect is struck at least once; the clean broker goes through them, too."""
BUDGET_S, CLEAN_BUDGET_S = 300.0, 60.0
_REPLAY_S = 120.0
_MOST_S = 1.2 * BUDGET_S + 2 * _REPLAY_S
"""Of one defect; a campaign and a replay end by themselves before that."""
SENSITIVE = frozenset({Oracle.LATE, Oracle.CPU})
"""What a busy machine can bring about or hide: defects that only these oracles see have a quiet one."""
_SLOWEST = (Oracle.OBEDIENCE, Oracle.HANG)
"""Defects of these oracles take longest and are sought first, so that none is left when the others are done."""
_PROCESSORS = os.cpu_count() or 1
AT_ONCE, ALONE = 5 * _PROCESSORS, 2 * _PROCESSORS
"""How many defects are sought in parallel: most of the time, all of them wait. So few leave processors idle."""
Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Detection:
    """The result for one defect: the finding of its oracle, and findings that are not due to it.

    ``replayed`` says whether the one line that the finding offers made it happen again.
    """

    defect: Defect
    finding: Finding | None
    inputs: int
    false: tuple[Finding, ...] = ()
    replayed: bool = False

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
        when = f"found after {self.finding.found_after_s:.1f} s"
        again = "replayed" if self.replayed else "not replayed"
        return f"{self.defect.name}: {self.finding.status}, {when}, {again}, blames {blamed}: {named}"


@dataclass(frozen=True, slots=True)
class Clean:
    """What a campaign reported of a clean broker, and what it saw once and could not repeat."""

    dialect: str
    inputs: int
    unconfirmed: int
    findings: tuple[Finding, ...]

    @property
    def line(self) -> str:
        """One line for people."""
        return (
            f"{self.dialect}, clean broker: {len(self.findings)} findings in {self.inputs} inputs, "
            f"{self.unconfirmed} suspicions not confirmed"
        )


@dataclass(slots=True)
class SelfTest:
    """All detections, and what was reported of the clean brokers."""

    detections: list[Detection] = field(default_factory=list)
    clean: list[Clean] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """``seeded``, ``found``, ``right_blame``, ``replayed``, ``false_alarms``; then one row for each defect."""
        alarms = [f for d in self.detections for f in d.false] + [f for c in self.clean for f in c.findings]
        return {
            "seeded": len(self.detections),
            "found": sum(d.finding is not None for d in self.detections),
            "right_blame": sum(d.right_blame for d in self.detections),
            "replayed": sum(d.replayed for d in self.detections),
            "false_alarms": len(alarms),
            "clean_inputs": sum(c.inputs for c in self.clean),
            "detections": [_row(d) for d in self.detections],
            "alarms": [f.to_json() for f in alarms],
        }

    @property
    def holds(self) -> bool:
        """Whether everything was found, rightly blamed and replayed, and nothing else."""
        said = self.to_json()
        proven = all(said[what] == said["seeded"] for what in ("found", "right_blame", "replayed"))
        return proven and not said["false_alarms"]

    @property
    def table(self) -> list[str]:
        """Defects by dialects: the time to the first detection in seconds."""
        return table([(d.defect.dialect, _label(d.defect), _cell(d)) for d in self.detections])


def table(cells: Sequence[tuple[str, str, str]]) -> list[str]:
    """Lines of a table of (column, row, text)."""
    columns, rows = list(dict.fromkeys(c for c, _, _ in cells)), list(dict.fromkeys(r for _, r, _ in cells))
    at = {(column, row): text for column, row, text in cells}
    body = [["", *columns], *([row, *(at.get((column, row), "") for column in columns)] for row in rows)]
    widths = [max(len(line[n]) for line in body) for n in range(len(columns) + 1)]
    return [
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in body
    ]


def _label(defect: Defect) -> str:
    return f"{defect.kind}@{defect.place} ({defect.oracle})"


def _cell(detection: Detection) -> str:
    if detection.finding is None:
        return "not found"
    doubts = ("" if detection.right_blame else ", wrong blame") + (
        "" if detection.replayed else ", not replayed"
    )
    return f"{detection.finding.found_after_s:.1f} s{doubts}"


def _row(detection: Detection) -> dict[str, Any]:
    found = detection.finding
    return {
        "defect": detection.defect.name, "dialect": detection.defect.dialect,
        "oracle": str(detection.defect.oracle), "spot": detection.defect.condition.words, "inputs": detection.inputs,
        "found_after_s": round(found.found_after_s, 1) if found else None,
        "status": str(found.status) if found else "not found",
        "input": str(found.item.id) if found and found.item else None, "right_blame": detection.right_blame,
        "replayed": detection.replayed,
    }  # fmt: skip


def selftest(
    folder: Path,
    chosen: Sequence[Defect] | None = None,
    *,
    dialects: Sequence[str] = (),
    clean_budget_s: float = CLEAN_BUDGET_S,
    notify: Notify = lambda line: None,
) -> SelfTest:
    """Seek each defect, then go through the same cells and random inputs on a clean broker of each dialect.

    ``clean_budget_s`` is for all clean brokers together; without ``dialects``, all are meant.
    """
    dialects = dialects or fuzzed_dialects()
    result, wanted = SelfTest(), list(defects(dialects) if chosen is None else chosen)
    _make_inputs(wanted)
    for sensitive, at_once in ((False, AT_ONCE), (True, ALONE)):
        group = sorted((d for d in wanted if (d.oracle in SENSITIVE) is sensitive), key=_turn)
        for found in side_by_side([partial(_sought, d, folder) for d in group], at_once, _MOST_S):
            result.detections.append(found)
            notify(found.line)
    result.detections.sort(key=lambda found: wanted.index(found.defect))
    if clean_budget_s:
        for dialect in dialects:
            result.clean.append(clean(dialect, folder / f"clean-{dialect}", clean_budget_s / len(dialects)))
            notify(result.clean[-1].line)
    return result


def _turn(defect: Defect) -> int:
    return _SLOWEST.index(defect.oracle) if defect.oracle in _SLOWEST else len(_SLOWEST)


def _make_inputs(wanted: Sequence[Defect]) -> None:
    """Processes that are split off from this one do not have to make them again."""
    for dialect in dict.fromkeys(defect.dialect for defect in wanted):
        for cell in chosen_cells(dialect, CELLS):
            assert cell.inputs


def _sought(defect: Defect, folder: Path) -> Detection:
    """One defect, and whether what was found of it happens again."""
    place = folder / defect.name.replace("/", "-").replace("@", "-")
    found = seek(defect, place)
    return replace(found, replayed=_happens_again(found, place))


def clean(dialect: str, folder: Path, budget_s: float) -> Clean:
    """A campaign against a broker without defects."""
    with SeededBroker(None, folder, dialect) as broker:
        campaign = _whole(CampaignOrder(broker.subject(), folder, budget_s, patterns=CELLS, blame_share=1.0))
    tally = campaign.progress.tally
    return Clean(dialect, tally.inputs, tally.unconfirmed, tuple(campaign.progress.findings))


def seek(defect: Defect, folder: Path, cells: Sequence[str] = CELLS, budget_s: float = BUDGET_S) -> Detection:
    """A campaign that stops with the first finding of the defect's oracle."""
    with SeededBroker(defect, folder) as broker:
        order = CampaignOrder(
            broker.subject(), folder, budget_s, patterns=tuple(cells), mutate=False, smaller=False,
            blame_share=1.0,
            stop_when=lambda finding: finding.suspicion.oracle is defect.oracle,
        )  # fmt: skip
        campaign = _whole(order)
    right = [f for f in campaign.progress.findings if f.suspicion.oracle is defect.oracle]
    false = tuple(f for f in campaign.progress.findings if not _strikes(defect, f))
    return Detection(defect, right[0] if right else None, campaign.progress.tally.inputs, false)


def _whole(order: CampaignOrder) -> Campaign:
    """A campaign that no one stopped, or KeyboardInterrupt: what a stopped one did not find means nothing."""
    campaign = Campaign(order).run()
    if campaign.ended == INTERRUPTED:
        raise KeyboardInterrupt
    return campaign


def _happens_again(found: Detection, folder: Path) -> bool:
    """Whether the one line that a finding offers makes it happen again; it restarts the broker with its defect."""
    if found.finding is None:
        return False
    line = (folder / "findings" / found.finding.name / "REPLAY").read_text(encoding="utf-8")
    command = [sys.executable, "-m", "amqpspec.cli.main", *shlex.split(line)[1:]]
    with (folder / "replay.txt").open("wb") as said:
        try:
            done = subprocess.run(
                command, stdout=said, stderr=subprocess.STDOUT, timeout=_REPLAY_S, check=False
            )
        except subprocess.TimeoutExpired:
            said.write(f"expected an end within {_REPLAY_S:.0f} s, actual: none\n".encode())
            return False
        said.write(f"exit code {done.returncode}\n".encode())
    return done.returncode == Exit.DEVIATIONS


def _strikes(defect: Defect, finding: Finding) -> bool:
    return finding.item is not None and defect.is_in(finding.item.octets)
