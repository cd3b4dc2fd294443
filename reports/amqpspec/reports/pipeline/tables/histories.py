"""The basis of verdicts, regressions and flakiness: all runs of a case under one pair of versions, as one row.

Knows: runs of cases in order. Must not know: marts, how one pair of versions compares with another.
"""

from __future__ import annotations

from datetime import date

from pyspark.sql import DataFrame

from amqpspec.reports.pipeline.expressions import grouped
from amqpspec.reports.pipeline.tables.mart import HISTORIES, Inputs, case_runs, with_names

_CASE = ("case_key", "pair")
_OF_THE_LAST = ("run_key", "attempts", "green", "known", "unexpected", "worst", "last_us")


def histories(inputs: Inputs, as_of: date) -> DataFrame:
    """One row for each target, pair of versions, dialect and case: its last run, and totals of all its runs.

    ``run_key`` to ``last_us`` belong to the last run; ``flips`` counts runs whose verdict differs from that of the
    previous run, and ``mixed_runs`` those with attempts of different verdicts.
    """
    if HISTORIES in inputs:
        # Few rows, however many facts there are: one task needs no shuffle for the windows of the marts.
        return inputs[HISTORIES].coalesce(1)
    order = f"OVER (PARTITION BY {', '.join(_CASE)} ORDER BY last_us, run_key)"
    placed = case_runs(inputs, as_of).selectExpr(
        "*",
        f"coalesce(lag(worst) {order} != worst, false) AS is_flip",
        f"lead(run_key) {order} IS NULL AS is_last",
    )
    return with_names(_as_one(placed), inputs)


def _as_one(placed: DataFrame) -> DataFrame:
    """Only numbers, which are aggregated in place, in the partition that the window has made."""
    return grouped(
        placed,
        _CASE,
        *(f"max(CASE WHEN is_last THEN {name} END) AS {name}" for name in _OF_THE_LAST),
        "count(*) AS runs",
        "count_if(is_flip) AS flips",
        "max(CASE WHEN is_flip THEN last_us END) AS flip_us",
        "count_if(worst != best) AS mixed_runs",
        "sum(attempts) AS all_attempts",
        "sum(green) AS all_green",
        "min(best) AS all_best",
        "max(worst) AS all_worst",
        "min(first_us) AS first_us",
    )
