"""The facts about a target before a campaign begins: which deviations of its baseline count, and which answers it
owes.

Knows: baselines, announcements of targets, which states need a link. Must not know: how a campaign works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from amqpspec.fuzz.campaign.schedule import chosen_cells
from amqpspec.fuzz.executor.announced import announced
from amqpspec.fuzz.executor.part import executor_part
from amqpspec.fuzz.executor.subject import Subject
from amqpspec.fuzz.states.ways import states
from amqpspec.run.baseline import Baseline, read_baseline
from amqpspec.run.case import load_suite


def attaches(dialect: str, patterns: Sequence[str], *, random: bool) -> bool:
    """Whether a campaign over these cells uses a state that needs a link; random inputs may."""
    answer = executor_part(dialect).attached_by
    known = states(dialect).items()
    links = {name for name, state in known if any(answer in step.wait_for for step in state.steps)}
    return bool(links) and (random or any(cell.state in links for cell in chosen_cells(dialect, patterns)))


def with_known(subject: Subject, path: Path | None) -> tuple[Subject, str]:
    """Add the baseline's deviations for the version that the target announces; if the version is not covered, a note
    says so.

    Raises BaselineError.
    """
    if path is None:
        return subject, ""
    baseline, (_, version) = read_baseline(path), announced(subject)
    if not baseline.applies_to(version):
        return subject, f"baseline {path} is for versions {baseline.versions}, not for {version!r}"
    return replace(subject, known=_requirements(baseline)), ""


def _requirements(baseline: Baseline) -> frozenset[str]:
    """The requirements of deviating cases; the cases are those of the dialect's suite."""
    suite = load_suite(baseline.dialect)
    cases = [suite[entry.case] for entry in baseline.entries if entry.case in suite]
    return frozenset(row for case in cases for row in case.covers)
