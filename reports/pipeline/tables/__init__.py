"""Marts: what people ask for, each a pure function of rollups and dimensions, one module each."""

from __future__ import annotations

from reports.pipeline.tables import (
    differential,
    exploration,
    findings,
    flakiness,
    regressions,
    requirement_coverage,
    scores,
    verdicts,
)
from reports.pipeline.tables.mart import Mart

MARTS: tuple[Mart, ...] = (
    verdicts.MART,
    requirement_coverage.MART,
    regressions.MART,
    flakiness.MART,
    findings.MART,
    differential.MART,
    exploration.MART,
    scores.MART,
)
