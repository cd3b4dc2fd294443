"""Mart: verdicts that changed from one version to the next, of the target and of the suite, kept separate.

Knows: the last verdict under each pair of versions. Must not know: changes within one pair; that is flakiness.

Two neighbours are compared at a time: the next version of the target under the same suite, and the next version of
the suite on the same target. If a pair has neither neighbour, because both changed at once, it is compared with the
previous pair, and the row says ``both``, because the cause cannot be determined.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.marts.rows import Regression
from amqpspec.reports.pipeline.rollups.rollup import IS_GREEN
from amqpspec.reports.pipeline.tables.histories import histories
from amqpspec.reports.pipeline.tables.mart import (
    EVIDENCE,
    HISTORIES,
    Inputs,
    Mart,
    at,
    verdict_word,
    version_order,
)

_CASE = ("target", "dialect", "`case`")
_CARRIED = ("target_version", "suite_version", "worst", "run", "mixed")
_NEIGHBOURS = """array(
    struct('target-version' AS change, by_target AS old),
    struct('suite-version' AS change, by_suite AS old),
    struct('both' AS change, CASE WHEN by_target IS NULL AND by_suite IS NULL THEN by_time END AS old))"""
"""The pairs with which each pair is compared, and the kind of change; null if there is none."""
_DIRECTION = f"""CASE
    WHEN old.worst {IS_GREEN} AND worst NOT {IS_GREEN} AND worst > old.worst THEN 'regressed'
    WHEN old.worst NOT {IS_GREEN} AND worst {IS_GREEN} AND old.worst > worst THEN 'fixed'
    ELSE 'changed' END"""


def table(inputs: Inputs, as_of: date) -> DataFrame:
    """``direction``: regressed from green, fixed to green, otherwise changed.

    ``flaky``: a side also had other verdicts.
    """
    pairs = histories(inputs, as_of).selectExpr(
        *_CASE, *_CARRIED[:-1], "suite", "level", "folder", "first_us",
        "all_best != all_worst AS mixed",
        f"{version_order('target_version')} AS target_order",
        f"{version_order('suite_version')} AS suite_order",
    )  # fmt: skip
    placed = pairs.selectExpr(
        "*",
        f"{_before('suite_version', 'target_order, target_version')} AS by_target",
        f"{_before('target_version', 'suite_order, suite_version')} AS by_suite",
        f"{_before('', 'first_us, target_order, suite_order')} AS by_time",
    )
    return _compared(placed.selectExpr("*", f"inline({_NEIGHBOURS})"))


def _before(same: str, order: str) -> str:
    """The previous pair of a case with the same value in this column, as a struct."""
    keys = ", ".join(filter(None, (*_CASE, same)))
    return f"lag(struct({', '.join(_CARRIED)})) OVER (PARTITION BY {keys} ORDER BY {order})"


def _compared(placed: DataFrame) -> DataFrame:
    """Each pair next to a previous one with a different verdict."""
    return placed.where("old IS NOT NULL AND old.worst != worst").selectExpr(
        *_CASE, "suite", "level", "change",
        "target_version AS to_target_version",
        "suite_version AS to_suite_version",
        "old.target_version AS from_target_version",
        "old.suite_version AS from_suite_version",
        f"{verdict_word('old.worst')} AS from_verdict",
        f"{verdict_word('worst')} AS to_verdict",
        f"{_DIRECTION} AS direction",
        "old.mixed OR mixed AS flaky",
        "old.run AS from_run",
        "run AS to_run",
        f"{at('first_us')} AS at",
        f"{EVIDENCE} AS evidence",
    )  # fmt: skip


MART = Mart(Regression, ("case_days", "runs", "cases"), table, shares=(HISTORIES,))
