"""All rollups of a lake.

Knows: their names. Must not know: how they are computed.
"""

from __future__ import annotations

from amqpspec.reports.pipeline.rollups import case_days, crash_days, edge_days, reaction_days
from amqpspec.reports.pipeline.rollups.rollup import Rollup

ROLLUPS: tuple[Rollup, ...] = (case_days.ROLLUP, crash_days.ROLLUP, edge_days.ROLLUP, reaction_days.ROLLUP)
